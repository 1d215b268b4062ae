// All short texts that people write: sizes, numbers, columns, splits, failpoints, and names in messages. The first byte
// says which; the rest is the text.
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/byte_size.h"
#include "base/escape.h"
#include "base/number.h"
#include "import/split_rule.h"
#include "io/failpoint.h"
#include "parse/input_format.h"
#include "tests/fuzz/fuzz.h"

namespace octavo {
namespace {

// An independent reader of sizes: digits with a fraction, a unit by its first letter.
std::optional<long double> NaiveByteSize(std::string text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string unit = text.substr(digits);
  const std::string number = text.substr(0, digits);
  if (number.find_first_of("0123456789") == std::string::npos || number.find('.') != number.rfind('.')) return {};
  if (unit.starts_with(' ')) unit.erase(0, 1);
  for (char& c : unit) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  const std::size_t power = unit.empty() ? std::string::npos : std::string("kmgt").find(unit[0]);
  if (power == std::string::npos) return unit.empty() || unit == "b" ? std::optional(std::stold(number)) : std::nullopt;
  const std::string ending = unit.substr(1);
  if (ending != "" && ending != "b" && ending != "ib") return std::nullopt;
  return std::stold(number) * std::pow(ending == "b" ? 1000.0L : 1024.0L, static_cast<long double>(power + 1));
}

void CheckByteSize(std::string_view text) {
  const absl::StatusOr<std::uint64_t> size = ParseByteSize(text);
  const std::optional<long double> expected = NaiveByteSize(std::string(text));
  if (!size.ok()) {
    CheckError(size.status(), {ErrorKind::kUsage});
    MUST(!expected || *expected > 8.99e18L);
    return;
  }
  MUST(expected && *size <= 9'000'000'000'000'000'000U);
  MUST(std::abs(static_cast<long double>(*size) - *expected) <= 1 + *expected * 1e-15L);
  CheckMessage(FormatByteSize(*size));
  MUST(ParseByteSize(FormatByteSize(*size)).ok());
}

void CheckNumbers(std::string_view text) {
  // Twenty digits fit 128 bits, and numbers that fit 64 bits have no more, except leading zeros.
  unsigned __int128 value = 0;
  bool fits = !text.empty();
  for (const char c : text) {
    fits = fits && c >= '0' && c <= '9';
    if (fits) value = value * 10 + static_cast<unsigned>(c - '0');
    fits = fits && value <= UINT64_MAX;
  }
  const std::optional<std::uint64_t> whole = ParseWholeNumber(text);
  MUST(whole.has_value() == fits);
  if (whole) MUST(*whole == static_cast<std::uint64_t>(value));
  const std::optional<double> real = ParseRealNumber(text);
  if (whole) MUST(real && *real == static_cast<double>(*whole));
  if (!real) return;
  const std::string copy(text);
  char* end = nullptr;
  MUST(std::strtod(copy.c_str(), &end) == *real && end == copy.c_str() + copy.size());
  MUST(std::isfinite(*real) && text.find_first_not_of("0123456789.eE+-") == std::string_view::npos && text[0] != '+');
}

void CheckColumns(std::string_view text) {
  const absl::StatusOr<Columns> columns = ParseColumns(text);
  if (!columns.ok()) return CheckError(columns.status(), {ErrorKind::kUsage});
  MUST(ColumnsText(*columns) == text);
  MUST(columns->count >= 2 && columns->count <= kMaxColumns && columns->head != columns->tail);
  for (const int place : {columns->head, columns->tail, columns->relation, columns->weight}) {
    MUST(place >= -1 && place < static_cast<int>(columns->count));
  }
}

void CheckSplit(std::string_view text) {
  const absl::StatusOr<SplitRule> rule = SplitRule::Parse(text, 7);
  if (!rule.ok()) return CheckError(rule.status(), {ErrorKind::kUsage});
  const std::size_t comma = text.find(',');
  const bool no_valid = *ParseRealNumber(text.substr(comma + 1, text.rfind(',') - comma - 1)) == 0;
  const bool no_test = *ParseRealNumber(text.substr(text.rfind(',') + 1)) == 0;
  for (std::uint64_t edge = 0; edge < 64; ++edge) {
    const EdgeSplit split = rule->SplitOf(edge, 0, ~edge);
    MUST(split == rule->SplitOf(edge, 0, ~edge));
    MUST(split == EdgeSplit::kTrain || (split == EdgeSplit::kValid && !no_valid) ||
         (split == EdgeSplit::kTest && !no_test));
  }
}

void CheckFailpoints(std::string_view text) {
  const absl::Status status = SetFailpoints(text);
  if (!status.ok()) CheckError(status, {ErrorKind::kUsage});
  MUST(SetFailpoints("").ok());
}

int HexDigit(char c) { return c >= 'A' ? c - 'A' + 10 : c - '0'; }

// Undoes Escape; anything that is not an escape stands for itself.
std::string Unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    MUST(++i < text.size());
    if (text[i] == 'x') {
      MUST(i + 2 < text.size());
      out += static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
      i += 2;
    } else {
      out += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i] == 'r' ? '\r' : text[i];
    }
  }
  return out;
}

void CheckEscape(std::string_view text) {
  const std::string whole = Escape(text, text.size());
  MUST(IsPrintable(whole) && Unescape(whole) == text);
  for (const std::size_t most : {std::size_t{0}, std::size_t{1}, text.size() / 2}) {
    const std::string cut = Escape(text, most);
    MUST(IsPrintable(cut) && cut.size() <= 4 * (most + 3) + 3);
    if (most >= text.size()) continue;
    // A character of several bytes is not split, so it can be the whole text.
    const bool shortened = cut.ends_with("...") && cut != whole;
    MUST(cut == whole || (shortened && text.starts_with(Unescape(cut.substr(0, cut.size() - 3)))));
  }
}

}  // namespace
}  // namespace octavo

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  octavo::FuzzInput input(data, size);
  const char kind = input.Value<char>();
  if (kind == 'b') octavo::CheckByteSize(input.rest());
  if (kind == 'n') octavo::CheckNumbers(input.rest());
  if (kind == 'c') octavo::CheckColumns(input.rest());
  if (kind == 's') octavo::CheckSplit(input.rest());
  if (kind == 'f') octavo::CheckFailpoints(input.rest());
  if (kind == 'e') octavo::CheckEscape(input.rest());
  return 0;
}
