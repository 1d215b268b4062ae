#include "parse/unsupported_rdf.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "parse/format_guess.h"

namespace octavo {
namespace {

constexpr std::size_t kHeadBytes = 64 << 10;  // the part of a document that is examined

constexpr std::pair<std::string_view, OtherSyntax> kExtensions[] = {
    {".ttl", OtherSyntax::kTurtle},    {".turtle", OtherSyntax::kTurtle},   {".trig", OtherSyntax::kTrig},
    {".rdf", OtherSyntax::kRdfXml},    {".owl", OtherSyntax::kRdfXml},      {".jsonld", OtherSyntax::kJsonLd},
    {".xml", OtherSyntax::kXml},       {".graphml", OtherSyntax::kGraphMl}, {".gml", OtherSyntax::kGml},
    {".json", OtherSyntax::kJson},     {".jsonl", OtherSyntax::kJsonLines}, {".ndjson", OtherSyntax::kJsonLines},
    {".npz", OtherSyntax::kNpz},       {".parquet", OtherSyntax::kParquet}, {".xlsx", OtherSyntax::kExcel},
    {".h5", OtherSyntax::kHdf5},       {".hdf5", OtherSyntax::kHdf5},       {".arrow", OtherSyntax::kArrow},
    {".feather", OtherSyntax::kArrow}, {".dot", OtherSyntax::kDot},         {".gv", OtherSyntax::kDot},
    {".pkl", OtherSyntax::kPickle},    {".pickle", OtherSyntax::kPickle}};

// The path without a compression extension.
std::string_view Plain(std::string_view path) {
  for (const std::string_view compression : {".gz", ".zst"}) {
    if (path.ends_with(compression)) path.remove_suffix(compression.size());
  }
  return path;
}

std::string_view Title(OtherSyntax syntax) {
  switch (syntax) {
    case OtherSyntax::kTurtle:
      return "Turtle";
    case OtherSyntax::kTrig:
      return "TriG";
    case OtherSyntax::kRdfXml:
      return "RDF/XML";
    case OtherSyntax::kJsonLd:
      return "JSON-LD";
    case OtherSyntax::kXml:
      return "XML";
    case OtherSyntax::kGraphMl:
      return "GraphML";
    case OtherSyntax::kGml:
      return "GML";
    case OtherSyntax::kJson:
      return "JSON";
    case OtherSyntax::kJsonLines:
      return "JSON lines";
    case OtherSyntax::kNpz:
      return "an archive of NumPy arrays";
    case OtherSyntax::kParquet:
      return "Parquet";
    case OtherSyntax::kExcel:
      return "an Excel sheet";
    case OtherSyntax::kHdf5:
      return "HDF5";
    case OtherSyntax::kArrow:
      return "Arrow";
    case OtherSyntax::kDot:
      return "a graph of Graphviz";
    case OtherSyntax::kPickle:
      return "a pickle of Python";
  }
  return "";
}

// Returns how to make tab-separated text of a format that is not RDF; empty for RDF.
std::string_view Advice(OtherSyntax syntax) {
  switch (syntax) {
    case OtherSyntax::kGraphMl:
      return "networkx.write_edgelist(networkx.read_graphml(FILE), \"edges.txt\", data=False) writes one";
    case OtherSyntax::kGml:
      return "networkx.write_edgelist(networkx.read_gml(FILE), \"edges.txt\", data=False) writes one";
    case OtherSyntax::kJson:
    case OtherSyntax::kJsonLines:
      return "jq -r '[.source, .target] | @tsv' FILE >edges.tsv writes one of objects with these keys";
    case OtherSyntax::kNpz:
      return "numpy.save(\"edges.npy\", numpy.load(FILE)[NAME]) writes an array that is read; for a sparse matrix of "
             "scipy, scipy.io.mmwrite(\"edges.mtx\", scipy.sparse.load_npz(FILE))";
    case OtherSyntax::kParquet:
      return "pandas.read_parquet(FILE).to_csv(\"edges.csv\", index=False) writes one";
    case OtherSyntax::kExcel:
      return "a spreadsheet saves it as CSV";
    case OtherSyntax::kHdf5:
      return "numpy.save(\"edges.npy\", h5py.File(FILE)[NAME][:]) writes an array that is read";
    case OtherSyntax::kArrow:
      return "pandas.read_feather(FILE).to_csv(\"edges.csv\", index=False) writes one";
    case OtherSyntax::kDot:
      return "networkx.write_edgelist(networkx.nx_pydot.read_dot(FILE), \"edges.txt\", data=False) writes one";
    case OtherSyntax::kPickle:
      return "networkx.write_edgelist(pickle.load(open(FILE, \"rb\")), \"edges.txt\", data=False) writes one of a "
             "graph of networkx";
    default:
      return "";
  }
}

// Returns a command that converts the file to N-Triples, or TriG to N-Quads.
std::string Conversion(OtherSyntax syntax, const std::string& path) {
  const std::string_view plain = Plain(path);
  const bool piped = path == "-" || plain.size() < path.size();
  std::string_view stem = path == "-" ? std::string_view("edges") : plain;
  for (const auto& [extension, known] : kExtensions) {
    if (stem.ends_with(extension)) stem.remove_suffix(extension.size());
  }
  const std::string input = piped ? "-" : ShellWord(path);
  const std::string output = ShellWord(fmt::format("{}.{}", stem, syntax == OtherSyntax::kTrig ? "nq" : "nt"));
  std::string command;
  // The tools cannot decompress, so they read a pipe.
  if (piped && path != "-")
    command = fmt::format("{} {} | ", path.ends_with(".gz") ? "zcat" : "zstdcat", ShellWord(path));
  switch (syntax) {
    case OtherSyntax::kTurtle:
      return command + fmt::format("serdi -i turtle -o ntriples {} >{}", input, output);
    case OtherSyntax::kTrig:
      return command + fmt::format("serdi -i trig -o nquads {} >{}", input, output);
    case OtherSyntax::kRdfXml:
      return command +
             // rapper needs a base IRI, which it cannot derive from a pipe.
             fmt::format("rapper -i rdfxml -o ntriples {}{} >{}", input, piped ? " http://base/" : "", output);
    case OtherSyntax::kJsonLd:
      return command + fmt::format("rdfpipe -i json-ld -o nt {} >{}", input, output);
    default:
      break;
  }
  return "";
}

absl::Status Refuse(OtherSyntax syntax, std::string_view reason, const std::string& path) {
  if (const std::string_view advice = Advice(syntax); !advice.empty()) {
    return InputError(fmt::format("{}: found {} ({}), expected an edge list; {}; --format reads it as another format",
                                  path == "-" ? "<stdin>" : path, Title(syntax), reason, advice));
  }
  const std::string command = Conversion(syntax, path);
  return InputError(
      fmt::format("{}: found {} ({}), expected an edge list or triples{}; --format reads it as another format",
                  path == "-" ? "<stdin>" : path, Title(syntax), reason,
                  command.empty() ? "" : fmt::format(", to which this command converts it: {}", command)));
}

// Whether the line is a directive: @prefix NAME: <IRI>, @base <IRI>, or the same as in SPARQL, without @ and
// case-insensitive.
bool IsDirective(std::string_view line) {
  const auto take_blanks = [&] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
  if (line.starts_with('@')) line.remove_prefix(1);
  std::string word(line.substr(0, line.find_first_of(" \t")));
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  line.remove_prefix(word.size());
  if (line.empty() || (word != "prefix" && word != "base")) return false;
  take_blanks();
  if (word == "prefix") {
    const std::size_t colon = line.find_first_of(": \t");
    if (colon == std::string_view::npos || line[colon] != ':') return false;
    line.remove_prefix(colon + 1);
    take_blanks();
  }
  return line.starts_with('<');
}

}  // namespace

std::optional<OtherSyntax> OtherSyntaxOfExtension(std::string_view path) {
  for (const auto& [extension, syntax] : kExtensions) {
    if (Plain(path).ends_with(extension)) return syntax;
  }
  return std::nullopt;
}

std::optional<OtherSyntax> GuessOtherSyntax(std::string_view text) {
  const std::string_view head = text.substr(0, kHeadBytes);
  const auto has = [&](std::string_view part) { return head.find(part) != std::string_view::npos; };
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty() || line[0] == '#') continue;
    if (IsDirective(line)) return OtherSyntax::kTurtle;
    if (line.starts_with("<?xml") || line.starts_with("<!DOCTYPE") || line.starts_with("<rdf:RDF") ||
        line.starts_with("<graphml")) {
      if (has("<graphml")) return OtherSyntax::kGraphMl;
      return has("rdf:RDF") ? OtherSyntax::kRdfXml : OtherSyntax::kXml;
    }
    if ((line[0] == '{' || line[0] == '[') && (has("\"@context\"") || has("\"@id\""))) return OtherSyntax::kJsonLd;
    // A name may begin with a brace, but objects have quoted keys.
    if (line.starts_with("{\"") && line.find("\":") != std::string_view::npos) {
      return line.ends_with('}') ? OtherSyntax::kJsonLines : OtherSyntax::kJson;
    }
    const char last = line[line.find_last_not_of(" \t")];
    if (line[0] == '<' && (last == ';' || last == ',')) return OtherSyntax::kTurtle;
    return std::nullopt;
  }
  return std::nullopt;
}

absl::Status RefuseOtherSyntax(const std::string& path, std::optional<std::string_view> text) {
  const std::optional<OtherSyntax> promised = OtherSyntaxOfExtension(path);
  const bool may_be_triples = promised == OtherSyntax::kTurtle || promised == OtherSyntax::kTrig;
  // Before the text is read only the extension decides. Files named as Turtle or TriG may contain N-Triples, so they
  // wait for their first lines.
  if (!text) return promised && !may_be_triples ? Refuse(*promised, "by extension", path) : absl::OkStatus();
  if (may_be_triples) {
    const std::optional<InputFormat> guess = GuessFormat(*text);
    return guess && IsTriples(*guess) ? absl::OkStatus() : Refuse(*promised, "by extension", path);
  }
  const std::optional<OtherSyntax> guess = GuessOtherSyntax(*text);
  return guess ? Refuse(*guess, "by its first lines", path) : absl::OkStatus();
}

}  // namespace octavo
