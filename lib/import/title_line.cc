#include "import/title_line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "import/field_splitter.h"

namespace octavo {
namespace {

// As GuessFormat: more lines make no surer.
constexpr std::size_t kLines = 20;
// One number behind a name is no sign: in a list of names and numbers it comes by chance.
constexpr std::size_t kLeastNumbers = 2;

// Bare (below), in either order. Single letters are left out: small graphs have nodes of such names.
constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kPairs = {
    {{"head", "tail"},         {"source", "target"},     {"source", "destination"},
     {"source", "dest"},       {"src", "dst"},           {"src", "dest"},
     {"src", "tgt"},           {"from", "to"},           {"start", "end"},
     {"subject", "object"},    {"parent", "child"},      {"citing", "cited"},
     {"follower", "followee"}, {"follower", "followed"}, {"id1", "id2"},
     {"ida", "idb"},           {"node1", "node2"},       {"nodea", "nodeb"},
     {"vertex1", "vertex2"},   {"entity1", "entity2"},   {"user1", "user2"}}};

// Weights and times are numbers, too: 0.25, -3, 1e6. Words that a parser takes for numbers are not: inf, nan.
bool IsNumber(std::string_view name) {
  double ignored = 0;
  const char* const end = name.data() + name.size();
  const std::from_chars_result read = std::from_chars(name.data(), end, ignored);
  return read.ec == std::errc() && read.ptr == end && !absl::ascii_isalpha(static_cast<unsigned char>(name.back()));
}

// A title without what is around its word: "from" of "FromNodeId", "start" of ":START_ID".
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
};

bool AreTitles(const std::vector<Ends>& lines) {
  const auto [head, tail] = lines[0];
  if (IsNumber(head) || IsNumber(tail)) return false;
  const auto behind = std::span(lines).subspan(1);
  const auto numbers = [&](std::string_view Ends::*end) {
    return behind.size() >= kLeastNumbers && std::ranges::all_of(behind, IsNumber, end);
  };
  if (numbers(&Ends::head) || numbers(&Ends::tail)) return true;
  const std::string one = Bare(head);
  const std::string other = Bare(tail);
  const bool is_pair = std::ranges::any_of(kPairs, [&](const auto& pair) {
    return (pair.first == one && pair.second == other) || (pair.first == other && pair.second == one);
  });
  const auto is_like = [like = std::array{WithoutDigits(one), WithoutDigits(other)}](std::string_view name) {
    return std::ranges::find(like, WithoutDigits(Bare(name))) != like.end();
  };
  return is_pair && std::ranges::none_of(behind, [&](const Ends& e) { return is_like(e.head) || is_like(e.tail); });
}

}  // namespace

std::optional<TitleLine> FindTitleLine(std::string_view text, InputFormat format, const Columns& columns) {
  Fields fields;
  std::deque<std::string> unescaped;
  std::vector<Ends> lines;
  TitleLine first;
  for (std::uint64_t number = 1; lines.size() < kLines && !text.empty(); ++number) {
    const std::string_view line = TakeLine(text);
    if (KindOfLine(line) != LineKind::kData) continue;
    SplitFields(line, format, fields, unescaped);
    if (!fields.complaint.empty() || fields.count != columns.count) {
      if (lines.empty()) return std::nullopt;  // a title line has as many fields as the others
      continue;
    }
    if (lines.empty()) first = {number, std::string(line)};
    lines.push_back(
        {fields.values[static_cast<std::size_t>(columns.head)], fields.values[static_cast<std::size_t>(columns.tail)]});
  }
  if (lines.empty() || !AreTitles(lines)) return std::nullopt;
  return first;
}

}  // namespace octavo
