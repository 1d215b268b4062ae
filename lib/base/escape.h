// Node names and file contents in messages. They reach terminals, so control bytes must be escaped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace octavo {

// Whether `text` begins with a character that changes the direction of what follows, U+202A to U+202E or U+2066 to
// U+2069: one in a name would reorder the rest of a line. All of them are kBidiBytes long in UTF-8.
bool BeginsWithBidiControl(std::string_view text);
inline constexpr std::size_t kBidiBytes = 3;

// Returns `text` with control bytes, those of bidirectional controls, backslashes, quotes and invalid UTF-8 written as
// \n, \t, \\, \" or \xNN. Text longer than `max_bytes` is cut there, and "..." is appended.
std::string Escape(std::string_view text, std::size_t max_bytes = 80);

// Returns a name escaped as by Escape. If it is longer than `max_bytes`, its middle is replaced by "...". Two thirds of
// what is kept come from the end: the end of a path or an IRI says more than its beginning.
std::string EscapeName(std::string_view name, std::size_t max_bytes = 80);

// Returns a name for a table, where it stands without quotes: as EscapeName, but unchanged apart from the cut if it has
// no other characters to escape than quotes, so that it can be copied.
std::string EscapeCell(std::string_view name, std::size_t max_bytes = 80);

// Returns `text` as one word of a POSIX shell, in single quotes where it needs them.
std::string ShellWord(std::string_view text);

// Reverses Escape; a backslash before any other character stands for itself.
std::string Unescape(std::string_view text);

// Returns `text` with control bytes except line ends, and bidirectional controls, written as \xNN, and the rest
// unchanged. For whole messages, which may contain paths as the user gave them.
std::string EscapeControls(std::string_view text);

// Returns `text` for display: each control byte, bidirectional control and byte that is not UTF-8 becomes U+FFFD. If
// the text is longer than `max_bytes`, its middle is replaced by an ellipsis, as in EscapeName.
std::string ReadableText(std::string_view text, std::size_t max_bytes = SIZE_MAX);

}  // namespace octavo
