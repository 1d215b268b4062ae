#include "serve/target.h"

#include <algorithm>
#include <optional>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

std::optional<unsigned> HexDigit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

// The part before the first `end`, or all.
std::string_view Before(std::string_view text, char end) {
  const auto at = std::ranges::find(text, end);
  return text.substr(0, static_cast<std::size_t>(at - text.begin()));
}

// The part after the first `mark`, or nothing.
std::string_view After(std::string_view text, char mark) {
  const std::size_t before = Before(text, mark).size();
  return text.substr(std::min(before + 1, text.size()));
}

absl::StatusOr<std::string> Decode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      const std::optional<unsigned> high = i + 2 < text.size() ? HexDigit(text[i + 1]) : std::nullopt;
      const std::optional<unsigned> low = i + 2 < text.size() ? HexDigit(text[i + 2]) : std::nullopt;
      if (!high || !low) {
        return InputError(fmt::format("found \"{}\"; expected two hexadecimal digits after each %, and %25 for itself",
                                      Escape(text.substr(i, 3))));
      }
      decoded += static_cast<char>(*high * 16 + *low);
      i += 2;
    }
  }
  return decoded;
}

}  // namespace

absl::StatusOr<Target> ParseTarget(std::string_view text) {
  if (!text.starts_with('/')) {
    return InputError(fmt::format("found the target \"{}\"; expected a path that begins with /", Escape(text)));
  }
  text = Before(text, '#');
  Target target{std::string(Before(text, '?')), {}};
  std::string_view rest = After(text, '?');
  while (!rest.empty()) {
    const std::string_view pair = Before(rest, '&');
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    if (pair.empty()) continue;
    if (target.values.size() == kMostValues) {
      return InputError(fmt::format("found more than {} values; expected fewer", kMostValues));
    }
    ASSIGN_OR_RETURN(std::string name, Decode(Before(pair, '=')));
    ASSIGN_OR_RETURN(std::string value, Decode(After(pair, '=')));
    target.values.emplace_back(std::move(name), std::move(value));
  }
  return target;
}

std::string PercentEncode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

}  // namespace octavo
