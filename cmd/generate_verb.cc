// octavo generate: writes the edge list of a synthetic graph.

#include <CLI/App.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/count_text.h"
#include "base/parallel.h"
#include "base/status.h"
#include "cmd/flags.h"
#include "cmd/interrupt.h"
#include "cmd/program.h"
#include "export/output_file.h"
#include "fmt/format.h"
#include "generate/edge_text.h"
#include "generate/make_generator.h"
#include "import/ordered_work.h"
#include "io/compressed_output.h"

namespace octavo {
namespace {

struct GenerateFlags {
  GenerateOptions options;
  std::string kind;
  std::string names = "integer";
  std::string output;
};

// Flags for only some kinds of graph.
struct KindFlag {
  CLI::Option* option;
  std::vector<std::string> kinds;
};

absl::Status CheckKindFlags(const std::vector<KindFlag>& flags, const std::string& kind) {
  for (const KindFlag& flag : flags) {
    if (flag.option->count() == 0) continue;
    if (std::find(flag.kinds.begin(), flag.kinds.end(), kind) != flag.kinds.end()) continue;
    return UsageError(fmt::format("{}: is not for --kind {}; expected --kind {}", flag.option->get_name(), kind,
                                  fmt::join(flag.kinds, " or ")));
  }
  return absl::OkStatus();
}

// Appends all edges to `output`, in the order of their blocks; an interrupt stops it between two blocks.
absl::Status WriteEdges(const GenerateFlags& flags, OutputFile& output, Reporter& reporter) {
  const std::unique_ptr<EdgeGenerator> generator = MakeEdgeGenerator(flags.options);
  const EdgeText lines(flags.options, flags.names == "string" ? NameStyle::kString : NameStyle::kInteger);
  const Compression compression = CompressionOfExtension(flags.output);
  std::uint64_t next = 0;
  const auto take = [&]() -> std::optional<std::uint64_t> {
    if (next == generator->block_count() || Interrupted()) return std::nullopt;
    return next++;
  };
  const auto process = [&](std::uint64_t block) -> absl::StatusOr<std::string> {
    std::vector<GeneratedEdge> edges;
    generator->MakeBlock(block, edges);
    std::string text;
    text.reserve(edges.size() * lines.max_line_bytes());
    lines.Append(edges, text);
    return CompressPiece(compression, std::move(text));
  };
  std::uint64_t written = 0;
  const auto deliver = [&](absl::StatusOr<std::string> text) -> absl::Status {
    RETURN_IF_ERROR(text.status());
    RETURN_IF_ERROR(output.Append(std::string_view(*text)));
    ++written;
    reporter.Show({.phase = "writing",
                   .share = static_cast<double>(written) / static_cast<double>(generator->block_count()),
                   .done = static_cast<double>(output.bytes_written()),
                   .unit = "bytes"});
    return absl::OkStatus();
  };
  const auto workers = static_cast<std::size_t>(MaxConcurrency());
  return ProcessInOrder<std::uint64_t>(workers, take, process, deliver);
}

absl::Status RunGenerate(GenerateFlags& flags, const std::vector<KindFlag>& kind_flags, Program& program) {
  if (flags.kind == "sbm") flags.options.kind = GraphKind::kSbm;
  if (flags.kind == "kg") flags.options.kind = GraphKind::kKg;
  RETURN_IF_ERROR(CheckKindFlags(kind_flags, flags.kind));
  RETURN_IF_ERROR(CheckGenerateOptions(flags.options));
  const auto begin = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(OutputFile output, OutputFile::Open(flags.output));
  CatchInterrupts();
  RETURN_IF_ERROR(WriteEdges(flags, output, program.reporter));
  program.reporter.EndProgress();
  if (Interrupted()) {
    program.reporter.Warning(fmt::format("interrupted; {} was not made", output.name()));
    program.exit_code = InterruptExitCode();
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(output.Commit());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  program.reporter.Info(fmt::format("{}: {} of {}, {}, took {:.1f} s, {:.2f} million edges/s", output.name(),
                                    CountText(flags.options.edges, "edge"), CountText(flags.options.nodes, "node"),
                                    FormatByteSize(output.bytes_written()), seconds,
                                    static_cast<double>(flags.options.edges) / 1e6 / seconds));
  return absl::OkStatus();
}

}  // namespace

void AddGenerateVerb(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<GenerateFlags>();
  GenerateOptions& options = flags->options;
  CLI::App& verb = *app.add_subcommand("generate", "Write the edge list of a synthetic graph");
  verb.add_option("--kind", flags->kind,
                  "rmat: skewed degrees; sbm: communities, similar degrees; kg: typed relations that can be learned")
      ->required()
      ->check(CLI::IsMember({"rmat", "sbm", "kg"}))
      ->type_name("NAME");
  AddWholeNumber(verb, "--nodes", options.nodes, 4, kMaxGeneratedNodes, "Nodes between which edges are drawn")
      ->required()
      ->default_str("");
  AddWholeNumber(verb, "--edges", options.edges, 1, kMaxGeneratedEdges, "Edges to write")->required()->default_str("");
  AddWholeNumber(verb, "--seed", options.seed, 0, UINT64_MAX, "Seed of all draws");
  RefuseEmpty(verb.add_option("--output", flags->output,
                              "File to write, compressed if it ends in .gz or .zst; - for standard output"))
      ->required()
      ->type_name("FILE");
  verb.add_option("--names", flags->names, "integer: 123; string: node_0123 and relation_07")
      ->check(CLI::IsMember({"integer", "string"}))
      ->type_name("NAME")
      ->capture_default_str();
  const std::vector<KindFlag> kind_flags = {
      {verb.add_flag("--every-node", options.every_node, "rmat: give each node an edge, so that none is missing"),
       {"rmat"}},
      {AddWholeNumber(verb, "--relations", options.relations, 1, kMaxGeneratedRelations, "kg: relations"), {"kg"}},
      {AddWholeNumber(verb, "--types", options.types, 1, kMaxGeneratedTypes, "kg: types of nodes"), {"kg"}},
      {AddWholeNumber(verb, "--blocks", options.blocks, 2, kMaxGeneratedNodes / 2, "sbm: communities"), {"sbm"}},
      {AddRealNumber(verb, "--mixing", options.mixing, 0, 1,
                     "sbm: share of edges between communities; kg: share of edges with a random tail"),
       {"sbm", "kg"}}};
  verb.footer(
      "Lines are HEAD TAIL, for kg HEAD RELATION TAIL, separated by tabs. They may repeat; octavo import merges "
      "copies.\n"
      "The bytes are a function of the flags, not of --threads. rmat: Graph500's parameters, loops kept. sbm: node n "
      "is\n"
      "of community n mod --blocks. kg: node n is of type n mod --types; a head's cluster and the relation decide "
      "from\n"
      "which 16 nodes or so the tail is drawn.");
  verb.callback([flags, kind_flags, &program] {
    program.run = [flags, kind_flags](Program& running) { return RunGenerate(*flags, kind_flags, running); };
  });
}

}  // namespace octavo
