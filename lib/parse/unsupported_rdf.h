// RDF syntaxes that an import does not support, and would otherwise read as blank-separated text. Other programs
// convert them to N-Triples or N-Quads.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace octavo {

// And other formats of graphs and tables. Turtle and TriG (W3C recommendations of 2014), RDF/XML (2014), JSON-LD
// (2020), and XML that is not RDF.
enum class OtherSyntax {
  kTurtle,
  kTrig,
  kRdfXml,
  kJsonLd,
  kXml,
  kGraphMl,
  kGml,
  kJson,
  kJsonLines,
  kNpz,
  kParquet,
  kExcel,
  kHdf5,
  kArrow,
  kDot,
  kPickle
};

// Returns the syntax for the extension of `path`, ignoring .gz and .zst.
std::optional<OtherSyntax> OtherSyntaxOfExtension(std::string_view path);

// Returns the syntax of the first line of `text` that is neither blank nor a comment: a directive of Turtle, a Turtle
// statement that continues on the next line, an XML declaration or element, or a JSON-LD object or array.
std::optional<OtherSyntax> GuessOtherSyntax(std::string_view text);

// Returns an input error, with the command that converts the file to N-Triples, if the file has one of these syntaxes:
// judged by its extension or, if `text` is given, by its first lines. N-Triples in a file named as Turtle, of which
// they are a subset, are accepted.
absl::Status RefuseOtherSyntax(const std::string& path, std::optional<std::string_view> text);

}  // namespace octavo
