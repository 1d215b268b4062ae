#include "base/escape.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "fmt/format.h"

namespace octavo {
namespace {

// Returns the length of the well-formed UTF-8 sequence at the head of `text` that is longer than one byte and neither a
// C1 nor a bidirectional control character, or 0.
std::size_t MultiByteLength(std::string_view text) {
  if (BeginsWithBidiControl(text)) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  std::size_t length = 0;
  unsigned lower = 0x80;
  unsigned upper = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
    if (first == 0xC2) lower = 0xA0;  // U+0080 to U+009F are control characters
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) lower = 0xA0;  // overlong below
    if (first == 0xED) upper = 0x9F;  // surrogates above
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) lower = 0x90;
    if (first == 0xF4) upper = 0x8F;
  }
  if (length == 0 || text.size() < length || byte(1) < lower || byte(1) > upper) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return length;
}

// The two ends of a text whose middle is left out.
struct Ends {
  std::string_view head;
  std::string_view tail;
  bool cut = false;
};

// Leaves at most `max_bytes`. Cuts between characters where the text is UTF-8.
Ends EndsOf(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return {text, ""};
  std::size_t head = max_bytes / 3;
  std::size_t tail = text.size() - (max_bytes - head);
  const auto continues = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80; };
  for (int i = 0; i < 3 && head > 0 && continues(head); ++i) --head;
  for (int i = 0; i < 3 && tail < text.size() && continues(tail); ++i) ++tail;
  return {text.substr(0, head), text.substr(tail), true};
}

void AppendReadable(std::string_view text, std::string& out) {
  std::size_t i = 0;
  while (i < text.size()) {
    if (BeginsWithBidiControl(text.substr(i))) {
      out += "\xEF\xBF\xBD";
      i += kBidiBytes;
      continue;
    }
    const std::size_t length = MultiByteLength(text.substr(i));
    const char c = text[i];
    if (length > 0) {
      out.append(text, i, length);
    } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) {
      out += "\xEF\xBF\xBD";
    } else {
      out += c;
    }
    i += std::max<std::size_t>(1, length);
  }
}

}  // namespace

bool BeginsWithBidiControl(std::string_view text) {
  if (text.size() < kBidiBytes || text[0] != '\xE2') return false;
  return (text[1] == '\x80' && text[2] >= '\xAA' && text[2] <= '\xAE') ||
         (text[1] == '\x81' && text[2] >= '\xA6' && text[2] <= '\xA9');
}

std::string EscapeCell(std::string_view name, std::size_t max_bytes) {
  std::string without_quotes(name);
  std::erase(without_quotes, '"');
  if (Escape(without_quotes, SIZE_MAX) != without_quotes) return EscapeName(name, max_bytes);
  const Ends ends = EndsOf(name, max_bytes);
  return fmt::format("{}{}{}", ends.head, ends.cut ? "..." : "", ends.tail);
}

std::string EscapeName(std::string_view name, std::size_t max_bytes) {
  const Ends ends = EndsOf(name, max_bytes);
  return Escape(ends.head, SIZE_MAX) + (ends.cut ? "..." : "") + Escape(ends.tail, SIZE_MAX);
}

std::string Escape(std::string_view text, std::size_t max_bytes) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size() && i < max_bytes) {
    const char c = text[i];
    if (const std::size_t length = MultiByteLength(text.substr(i)); length > 0) {
      out.append(text, i, length);
      i += length;
      continue;
    }
    ++i;
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\\' || c == '"') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) {
      out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  if (i < text.size()) out += "...";
  return out;
}

std::string ReadableText(std::string_view text, std::size_t max_bytes) {
  const Ends ends = EndsOf(text, max_bytes);
  std::string out;
  AppendReadable(ends.head, out);
  if (ends.cut) out += "\xE2\x80\xA6";
  AppendReadable(ends.tail, out);
  return out;
}

std::string ShellWord(std::string_view text) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:@%+=,";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string Unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    unsigned byte = 0;
    if (rest.size() >= 4 && rest.starts_with("\\x") &&
        std::from_chars(&rest[2], &rest[2] + 2, byte, 16).ptr == &rest[2] + 2) {
      out += static_cast<char>(byte);
      i += 3;
      continue;
    }
    constexpr std::string_view kLetters = "ntr\\\"";
    constexpr std::string_view kMeanings = "\n\t\r\\\"";
    const std::size_t letter = rest[0] == '\\' && rest.size() > 1 ? kLetters.find(rest[1]) : std::string_view::npos;
    out += letter == std::string_view::npos ? rest[0] : kMeanings[letter];
    if (letter != std::string_view::npos) ++i;
  }
  return out;
}

std::string EscapeControls(std::string_view text) {
  std::string out;
  std::size_t bidi_end = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (BeginsWithBidiControl(text.substr(i))) bidi_end = i + kBidiBytes;
    // U+0080 to U+009F are two bytes in UTF-8.
    const bool second = byte >= 0x80 && byte <= 0x9F && i > 0 && text[i - 1] == '\xC2';
    if ((byte < 0x20 && byte != '\n') || byte == 0x7F || second || i < bidi_end) {
      out += fmt::format("\\x{:02X}", byte);
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace octavo
