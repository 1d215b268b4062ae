#include "format/sealed_json.h"

#include <xxhash.h>

#include <algorithm>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

// Returns the place of the digits; npos if there are none.
std::size_t DigitsOf(std::string_view text) {
  const std::string key = fmt::format("\"{}\":", kSealKey);
  const std::size_t found = text.rfind(key);
  if (found == std::string_view::npos) return found;
  std::size_t at = found + key.size();
  if (at < text.size() && text[at] == ' ') ++at;
  const bool quoted = at < text.size() && text[at] == '"';
  const std::size_t end = at + 1 + kNoSeal.size();
  return quoted && end < text.size() && text[end] == '"' ? at + 1 : std::string_view::npos;
}

std::string SealOf(const std::string& text, std::uint64_t seed) {
  return fmt::format("{:016x}", XXH3_64bits_withSeed(text.data(), text.size(), seed));
}

}  // namespace

std::string SealJson(std::string text, std::uint64_t seed) {
  const std::string seal = SealOf(text, seed);
  return text.replace(DigitsOf(text), seal.size(), seal);
}

absl::Status CheckSeal(std::string_view text, bool has_key, std::string_view file_name, std::uint64_t seed) {
  if (!has_key) return absl::OkStatus();
  const std::size_t at = DigitsOf(text);
  if (at == std::string_view::npos) {
    return CorruptError(
        fmt::format("{}: \"{}\" is not 16 hexadecimal digits; expected as it was written", file_name, kSealKey));
  }
  std::string blank(text);
  const std::string found = blank.substr(at, kNoSeal.size());
  blank.replace(at, kNoSeal.size(), kNoSeal);
  const std::string expected = SealOf(blank, seed);
  if (found == expected) return absl::OkStatus();
  return CorruptError(fmt::format("{}: checksum {}; expected {}: the file is damaged, or was changed by hand",
                                  file_name, Escape(found), expected));
}

std::size_t EndOfSealed(std::string_view text) {
  const std::size_t at = DigitsOf(text);
  return at == std::string_view::npos ? at : std::min(text.size(), at + kNoSeal.size() + 2);  // a quote and a brace
}

}  // namespace octavo
