// Syntaxes of RDF that an import does not read, and would take for text that blanks separate, but that other programs
// make N-Triples or N-Quads of.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace octavo {

// Turtle and TriG (W3C recommendations of 2014), RDF/XML (2014), JSON-LD (2020), and XML that is no RDF.
enum class OtherSyntax { kTurtle, kTrig, kRdfXml, kJsonLd, kXml };

// Returns what the extension of `path` promises, .gz and .zst taken off.
std::optional<OtherSyntax> OtherSyntaxOfExtension(std::string_view path);

// Returns what the first line of `text` that is neither blank nor a comment begins: a directive of Turtle, a statement
// of it that goes on on the next line, an XML declaration or element, or a JSON-LD object or array.
std::optional<OtherSyntax> GuessOtherSyntax(std::string_view text);

// Returns an input error with the command that makes N-Triples of the file where it is one of these: by the extension,
// or, once they are at hand, by the first lines. Files of N-Triples that are called Turtle, of which they are a part,
// are none.
absl::Status RefuseOtherSyntax(const std::string& path, std::optional<std::string_view> text);

}  // namespace octavo
