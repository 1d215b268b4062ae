#include "parse/header_line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "parse/field_splitter.h"

namespace octavo {
namespace {

// The same as GuessFormat: more lines add no certainty.
constexpr std::size_t kLines = 20;
// One number after a name is not evidence of a header: lists of names and numbers may begin so.
constexpr std::size_t kLeastNumbers = 2;
// For HasNumericTails: a time in seconds is above the first, and a rating is one of a few numbers.
constexpr std::size_t kTailLines = 200;
constexpr double kLeastTime = 1e8;
constexpr std::size_t kMostRatings = 10;
constexpr std::size_t kLeastRatings = 50;

// In the form of Bare (below), in either order. Without single letters: small graphs have nodes with such names.
constexpr std::array<std::pair<std::string_view, std::string_view>, 26> kPairs = {
    {{"head", "tail"},         {"source", "target"},     {"source", "destination"},
     {"source", "dest"},       {"src", "dst"},           {"src", "dest"},
     {"src", "tgt"},           {"from", "to"},           {"start", "end"},
     {"subject", "object"},    {"parent", "child"},      {"citing", "cited"},
     {"follower", "followee"}, {"follower", "followed"}, {"id1", "id2"},
     {"ida", "idb"},           {"node1", "node2"},       {"nodea", "nodeb"},
     {"vertex1", "vertex2"},   {"entity1", "entity2"},   {"user1", "user2"},
     {"user", "item"},         {"user", "movie"},        {"user", "film"},
     {"user", "product"},      {"customer", "product"}}};

// Also weights and times: 0.25, -3, 1e6. Words that a parser accepts as numbers do not count: inf, nan.
std::optional<double> NumberOf(std::string_view name) {
  double number = 0;
  const char* const end = name.data() + name.size();
  const std::from_chars_result read = std::from_chars(name.data(), end, number);
  const bool whole = read.ec == std::errc() && read.ptr == end;
  return whole && !absl::ascii_isalpha(static_cast<unsigned char>(name.back())) ? std::optional(number) : std::nullopt;
}

bool IsNumber(std::string_view name) { return NumberOf(name).has_value(); }

std::string WithPoint(std::string_view number, char separator) {
  std::string text(number);
  if (separator != ',') std::ranges::replace(text, ',', '.');
  return text;
}

// A title without additions to its word: "from" for "FromNodeId", "start" for ":START_ID".
std::string Bare(std::string_view title) {
  std::string word;
  for (const char c : title) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) word += absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  std::string_view bare = word;
  for (const std::string_view ending : {"id", "name", "node", "entity", "vertex"}) {
    if (bare.size() > ending.size() && bare.ends_with(ending)) bare.remove_suffix(ending.size());
  }
  return std::string(bare);
}

std::string WithoutDigits(std::string word) {
  std::erase_if(word, absl::ascii_isdigit);
  return word;
}

struct Ends {
  std::string_view head;
  std::string_view tail;
  std::string_view weight = {};  // empty without such a column
};

// lines[0] may be a header, the others are data. With a `separator` other than a comma, numbers may have decimal
// commas.
bool AreTitles(const std::vector<Ends>& lines, char separator) {
  const std::string_view head = lines[0].head;
  const std::string_view tail = lines[0].tail;
  const auto is_number = [&](std::string_view name) { return IsNumber(WithPoint(name, separator)); };
  if (is_number(head) || is_number(tail)) return false;
  const auto rest = std::span(lines).subspan(1);
  const auto numbers = [&](std::string_view Ends::*end) {
    return rest.size() >= kLeastNumbers && std::ranges::all_of(rest, is_number, end);
  };
  if (numbers(&Ends::head) || numbers(&Ends::tail)) return true;
  if (!lines[0].weight.empty() && !is_number(lines[0].weight) && numbers(&Ends::weight)) return true;
  const std::string one = Bare(head);
  const std::string other = Bare(tail);
  const bool is_pair = std::ranges::any_of(kPairs, [&](const auto& pair) {
    return (pair.first == one && pair.second == other) || (pair.first == other && pair.second == one);
  });
  // In a list of names such as "node1 node2" every line looks like titles: compares without digits.
  const auto is_like = [like = std::array{WithoutDigits(one), WithoutDigits(other)}](std::string_view name) {
    return std::ranges::find(like, WithoutDigits(Bare(name))) != like.end();
  };
  return is_pair && std::ranges::none_of(rest, [&](const Ends& e) { return is_like(e.head) || is_like(e.tail); });
}

// Calls `fits` for the fields of the first lines, but not for the first one, which may be titles. Returns the number of
// lines, or 0 as soon as one does not fit.
template <typename Fits>
std::size_t CheckLines(std::string_view text, InputFormat format, const Columns& columns, char separator,
                       const Fits& fits) {
  Fields fields;
  std::deque<std::string> unescaped;
  std::size_t lines = 0;
  while (lines < kTailLines && !text.empty()) {
    const std::string_view line = TakeLine(text);
    if (KindOfLine(line) != LineKind::kData) continue;
    SplitFields(line, format, fields, unescaped, separator);
    if (!fields.complaint.empty() || fields.count != columns.count || ++lines == 1) continue;
    if (!fits(fields)) return 0;
  }
  return lines;
}

}  // namespace

std::optional<HeaderLine> FindHeaderLine(std::string_view text, InputFormat format, const Columns& columns,
                                         char separator) {
  Fields fields;
  std::deque<std::string> unescaped;
  std::vector<Ends> lines;
  HeaderLine first;
  for (std::uint64_t number = 1; lines.size() < kLines && !text.empty(); ++number) {
    const std::string_view line = TakeLine(text);
    if (KindOfLine(line) != LineKind::kData) continue;
    SplitFields(line, format, fields, unescaped, separator);
    if (!fields.complaint.empty() || fields.count != columns.count) {
      if (lines.empty()) return std::nullopt;  // a header line has as many fields as the others
      continue;
    }
    if (lines.empty()) first = {number, std::string(line)};
    const auto value = [&](int column) {
      return column < 0 ? std::string_view() : fields.values[static_cast<std::size_t>(column)];
    };
    lines.push_back({value(columns.head), value(columns.tail), value(columns.weight)});
  }
  if (lines.empty() || !AreTitles(lines, separator)) return std::nullopt;
  return first;
}

bool HasNumericTails(std::string_view text, InputFormat format, const Columns& columns, char separator) {
  bool names = false;     // of heads
  bool decimals = false;  // of tails
  double least_tail = std::numeric_limits<double>::max();
  double most_other = 0;
  absl::flat_hash_set<std::string> tails;
  absl::flat_hash_set<std::string> relations;
  const std::size_t lines = CheckLines(text, format, columns, separator, [&](const Fields& fields) {
    const std::string tail = WithPoint(fields.values[static_cast<std::size_t>(columns.tail)], separator);
    const std::optional<double> number = NumberOf(tail);
    if (!number) return false;
    decimals = decimals || tail.find('.') != std::string::npos;
    least_tail = std::min(least_tail, *number);
    for (const int other : {columns.head, columns.relation}) {
      const std::string_view name = fields.values[static_cast<std::size_t>(other)];
      names = names || (other == columns.head && !IsNumber(name));
      most_other = std::max(most_other, NumberOf(name).value_or(0));
    }
    tails.emplace(tail);
    relations.emplace(fields.values[static_cast<std::size_t>(columns.relation)]);
    return true;
  });
  if (lines <= kLeastNumbers) return false;
  const bool times = least_tail >= kLeastTime && least_tail > most_other;
  const bool ratings = lines >= kLeastRatings && tails.size() <= kMostRatings && relations.size() >= 3 * tails.size();
  return names || decimals || times || ratings;
}

bool HasTimesAsWeights(std::string_view text, InputFormat format, const Columns& columns, char separator) {
  const auto is_time = [&](const Fields& fields) {
    const std::optional<double> number = NumberOf(fields.values[static_cast<std::size_t>(columns.weight)]);
    return number && *number >= kLeastTime && *number == std::floor(*number);
  };
  return CheckLines(text, format, columns, separator, is_time) > kLeastNumbers;
}

bool HasNamesAfterBlanks(std::string_view text, InputFormat format, const Columns& columns, char separator) {
  const auto follow_blanks = [&](const Fields& fields) {
    return std::ranges::all_of(std::array{columns.head, columns.relation, columns.tail}, [&](int column) {
      return column <= 0 || fields.values[static_cast<std::size_t>(column)].starts_with(' ');
    });
  };
  return CheckLines(text, format, columns, separator, follow_blanks) > 1;
}

}  // namespace octavo
