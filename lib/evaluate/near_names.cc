#include "evaluate/near_names.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace octavo {
namespace {

constexpr std::uint64_t kMaxNames = 2'000'000;
constexpr std::uint64_t kNamesBetweenLooks = 1024;  // between two looks at the clock
constexpr std::size_t kMaxShown = 3;
constexpr std::size_t kMaxDistance = 2;
constexpr std::size_t kPrefixRank = 10;     // after every distance
constexpr std::size_t kWordRank = 1 << 20;  // after every prefix: names are not that long
constexpr std::size_t kEachWordRank = 1 << 21;
constexpr std::size_t kLeastWordBytes = 3;  // of a text that is looked for within names

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool SameLetter(char a, char b) { return Lower(a) == Lower(b); }

bool EqualButForCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), SameLetter);
}

// Bytes of letters beyond ASCII count as letters.
bool IsLetter(char c) {
  return (c >= '0' && c <= '9') || (Lower(c) >= 'a' && Lower(c) <= 'z') || static_cast<unsigned char>(c) >= 0x80U;
}

// Whether `text` occurs in `name` where a word begins, in any letter case.
bool HasWords(std::string_view name, std::string_view text) {
  auto at = name.begin();
  while (true) {
    at = std::search(at, name.end(), text.begin(), text.end(), SameLetter);
    if (at == name.end()) return false;
    if (at == name.begin() || !IsLetter(*(at - 1))) return true;
    ++at;
  }
}

// Whether every one of several words of `text` begins a word of `name`, in any order.
bool HasEachWord(std::string_view name, std::string_view text) {
  if (text.find(' ') == std::string_view::npos) return false;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (!HasWords(name, word)) return false;
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return true;
}

// Returns a rank of `name` (lower is nearer to `wanted`), or nothing, also for `wanted` itself.
std::optional<std::size_t> Rank(std::string_view wanted, std::string_view name) {
  if (name == wanted) return std::nullopt;
  if (EqualButForCase(wanted, name)) return 0;
  const std::size_t limit = std::min(kMaxDistance, (wanted.size() + 1) / 3);
  const std::size_t distance = SpellingDistance(wanted, name, limit);
  if (distance <= limit) return distance;
  if (wanted.empty() || name.size() < wanted.size()) return std::nullopt;
  if (EqualButForCase(wanted, name.substr(0, wanted.size()))) return kPrefixRank + name.size() - wanted.size();
  if (wanted.size() < kLeastWordBytes) return std::nullopt;
  if (HasWords(name, wanted)) return kWordRank + name.size() - wanted.size();
  if (!HasEachWord(name, wanted)) return std::nullopt;
  return kEachWordRank + name.size() - wanted.size();
}

}  // namespace

std::string_view ShortName(std::string_view name) {
  const std::size_t end = name.find_last_of("/#");
  return end == std::string_view::npos ? std::string_view() : name.substr(end + 1);
}

SameEnd FindNamesEnding(std::string_view wanted, std::uint64_t size,
                        const std::function<std::string_view(std::uint64_t)>& name, std::chrono::milliseconds time) {
  SameEnd same;
  if (wanted.empty()) return same;
  const auto end = std::chrono::steady_clock::now() + time;
  for (std::uint64_t i = 0; i < size; ++i) {
    if (i > 0 && i % kNamesBetweenLooks == 0 && std::chrono::steady_clock::now() >= end) {
      same.whole = false;
      break;
    }
    const std::string_view candidate = name(i);
    if (candidate.size() <= wanted.size() || !candidate.ends_with(wanted)) continue;
    const char before = candidate[candidate.size() - wanted.size() - 1];
    if (before != '/' && before != '#') continue;
    if (++same.matches <= kMaxShown) same.names.emplace_back(candidate);
  }
  return same;
}

std::size_t SpellingDistance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference > limit) return limit + 1;
  // Optimal string alignment with three rows of the table, without the cells farther than `limit` from the diagonal.
  const std::size_t far = limit + 1;
  std::array<std::vector<std::size_t>, 3> rows;
  for (auto& row : rows) row.assign(b.size() + 1, far);
  for (std::size_t j = 0; j <= std::min(b.size(), limit); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const auto& before = rows[(i - 1) % 3];
    const auto& before_last = rows[(i + 1) % 3];
    auto& row = rows[i % 3];
    const std::size_t begin = i > limit ? i - limit : 0;
    const std::size_t end = std::min(b.size(), i + limit);
    if (begin > 0) row[begin - 1] = far;
    if (end < b.size()) row[end + 1] = far;
    std::size_t least = far;
    for (std::size_t j = begin; j <= end; ++j) {
      std::size_t cost = far;
      if (j == 0) {
        cost = i;
      } else {
        cost = std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
          cost = std::min(cost, before_last[j - 2] + 1);
      }
      row[j] = std::min(cost, far);
      least = std::min(least, row[j]);
    }
    if (least == far) return far;
  }
  return rows[a.size() % 3][b.size()];
}

std::vector<std::string> NearNames(std::string_view wanted, std::uint64_t size,
                                   const std::function<std::string_view(std::uint64_t)>& name, std::size_t count) {
  std::vector<std::pair<std::size_t, std::string>> best;  // ascending, at most `count`
  for (std::uint64_t i = 0; i < std::min(size, kMaxNames); ++i) {
    const std::string_view candidate = name(i);
    const std::optional<std::size_t> rank = Rank(wanted, candidate);
    if (!rank) continue;
    std::pair<std::size_t, std::string> entry(*rank, candidate);
    const auto place = std::lower_bound(best.begin(), best.end(), entry);
    if (place != best.end() && *place == entry) continue;
    best.insert(place, std::move(entry));
    if (best.size() > count) best.pop_back();
  }
  std::vector<std::string> names;
  for (auto& [rank, text] : best) names.push_back(std::move(text));
  return names;
}

}  // namespace octavo
