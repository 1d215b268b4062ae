// Node names and file contents in messages: they reach terminals, so control bytes must not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace octavo {

// Returns `text` with control bytes, backslashes, quotes and invalid UTF-8 written as \n, \t, \\, \" or \xNN, cut to
// `max_bytes` of input with "..." behind it.
std::string Escape(std::string_view text, std::size_t max_bytes = 80);

// Returns a name as Escape has it. Of one longer than `max_bytes` the middle is left out, with "..." in its place: two
// thirds of what is left are its end, as that of a path or an IRI tells more than its beginning.
std::string EscapeName(std::string_view name, std::size_t max_bytes = 80);

// Returns `text` as one word of a POSIX shell: as it is, or in single quotes.
std::string ShellWord(std::string_view text);

// Returns the bytes that Escape wrote so; a backslash before anything else stands for itself.
std::string Unescape(std::string_view text);

// Returns `text` with control bytes other than line ends written as \xNN and all else as it is: for a whole message, in
// which paths may stand as they were given.
std::string EscapeControls(std::string_view text);

// Returns `text` as people read it: each control byte, and each byte that is not UTF-8, is U+FFFD. Of one longer than
// `max_bytes` the middle is left out, as EscapeName does, with an ellipsis in its place.
std::string ReadableText(std::string_view text, std::size_t max_bytes = SIZE_MAX);

}  // namespace octavo
