#include "parse/matrix_market.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "parse/field_splitter.h"

namespace octavo {
namespace {

constexpr std::string_view kBanner = "%%MatrixMarket";

bool Same(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase({a.data(), a.size()}, {b.data(), b.size()});
}

Fields SplitAtBlanks(std::string_view line) {
  Fields fields;
  std::deque<std::string> unescaped;
  SplitFields(line, InputFormat::kBlank, fields, unescaped);
  return fields;
}

// The words of a banner are case-insensitive.
std::optional<MatrixMarketHead> ParseBanner(std::string_view line) {
  const Fields words = SplitAtBlanks(line);
  const auto is = [&](std::size_t word, std::string_view text) { return Same(words.values[word], text); };
  if (words.count != 5 || !is(0, kBanner) || !is(1, "matrix") || !is(2, "coordinate")) return std::nullopt;
  MatrixMarketHead head;
  head.banner = line;
  if (is(3, "real") || is(3, "integer")) {
    head.fields = 3;
    // The mirror image of an entry in a skew-symmetric matrix is negative, and a weight cannot be.
    head.weights = !is(4, "skew-symmetric");
  } else if (is(3, "complex")) {
    head.fields = 4;
  } else if (!is(3, "pattern")) {
    return std::nullopt;
  }
  // Only matrices with values can be skew-symmetric, only complex ones hermitian.
  head.one_triangle =
      is(4, "symmetric") || (head.fields > 2 && is(4, "skew-symmetric")) || (head.fields == 4 && is(4, "hermitian"));
  if (!head.one_triangle && !is(4, "general")) return std::nullopt;
  return head;
}

bool ParseCount(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

bool HasMatrixMarketBanner(std::string_view text) { return Same(text.substr(0, kBanner.size()), kBanner); }

absl::StatusOr<MatrixMarketHead> ParseMatrixMarketHead(std::string_view text, std::string_view name) {
  const std::string_view banner = text.empty() ? text : TakeLine(text);
  std::optional<MatrixMarketHead> head = ParseBanner(banner);
  if (!head) {
    return InputError(
        fmt::format("{}:1: found \"{}\", expected \"{} matrix coordinate\", then pattern, real, integer or complex, "
                    "then general, symmetric, skew-symmetric or hermitian",
                    name, Escape(banner), kBanner));
  }
  // The size line is the first data line; comments and blank lines may precede it.
  for (head->lines = 1; !text.empty();) {
    const std::string_view line = TakeLine(text);
    ++head->lines;
    if (KindOfLine(line) != LineKind::kData) continue;
    const Fields sizes = SplitAtBlanks(line);
    std::uint64_t columns = 0;
    if (sizes.count != 3 || !ParseCount(sizes.values[0], head->rows) || !ParseCount(sizes.values[1], columns) ||
        !ParseCount(sizes.values[2], head->entries)) {
      return InputError(fmt::format("{}:{}: found \"{}\", expected the numbers of rows, columns and entries", name,
                                    head->lines, Escape(line)));
    }
    if (head->rows == columns) return *head;
    return InputError(
        fmt::format("{0}:{1}: found {2} rows and {3} columns, expected the same number of both: row and column i are "
                    "the same node; of "
                    "a bipartite matrix this makes an edge list: grep -v '^%' {4} | tail -n +2 | awk '{{ print \"r\" "
                    "$1 \"\\tc\" $2 "
                    "}}' >edges.tsv",
                    name, head->lines, head->rows, columns, ShellWord(name)));
  }
  return InputError(fmt::format("{}:{}: found no data line so far, expected the numbers of rows, columns and entries",
                                name, head->lines));
}

absl::StatusOr<Columns> MatrixMarketColumns(const MatrixMarketHead& head, const Columns& wanted,
                                            std::string_view name) {
  const auto refuse = [&](std::string_view found, std::string_view expected) {
    return UsageError(fmt::format("{}: found {} for entries of \"{}\", expected --columns {}", name, found,
                                  Escape(head.banner), expected));
  };
  const std::string_view skipped = head.fields == 2 ? "head,tail" : head.fields == 3 ? "head,tail,-" : "head,tail,-,-";
  Columns columns = wanted;
  // Without --columns the single value of an entry is the weight.
  if (columns.count == 0) columns = {.head = 0, .tail = 1, .weight = head.fields == 3 ? 2 : -1, .count = head.fields};
  if (columns.count != head.fields || columns.relation >= 0) {
    return refuse(fmt::format("the columns {}", ColumnsText(columns)), skipped);
  }
  if (head.fields > 2 && !head.weights && (columns.weight >= 0 || wanted.count == 0)) {
    return refuse("values that are not weights", skipped);
  }
  return columns;
}

}  // namespace octavo
