#include "evaluate/name_completion.h"

#include <algorithm>
#include <utility>

#include "evaluate/near_names.h"

namespace octavo {
namespace {

constexpr std::uint64_t kNamesBetweenLooks = 1024;  // between two looks at the clock, which take as long as a few names

// Shortens `common` to its common prefix with `name`.
void Shorten(std::string_view name, std::string& common) {
  const auto end = std::mismatch(common.begin(), common.end(), name.begin(), name.end()).first;
  common.erase(end, common.end());
}

// Removes an incomplete UTF-8 character from the end of `common`; `name` shows the bytes that follow.
void CutWithinCharacter(std::string_view name, std::string& common) {
  const auto continues = [&](std::size_t i) { return (static_cast<unsigned char>(name[i]) & 0xC0U) == 0x80; };
  while (!common.empty() && common.size() < name.size() && continues(common.size())) common.pop_back();
}

void Keep(std::string name, std::size_t count, std::vector<std::string>& names) {
  if (names.size() == count && (count == 0 || name >= names.back())) return;
  names.insert(std::upper_bound(names.begin(), names.end(), name), std::move(name));
  if (names.size() > count) names.pop_back();
}

}  // namespace

NameCompletion CompleteName(std::string_view prefix, std::uint64_t size,
                            const std::function<std::string_view(std::uint64_t)>& name, std::size_t count,
                            std::chrono::milliseconds time, CompletedPart part) {
  const auto end = std::chrono::steady_clock::now() + time;
  NameCompletion completion;
  std::string first;
  for (std::uint64_t i = 0; i < size; ++i) {
    if (i > 0 && i % kNamesBetweenLooks == 0 && std::chrono::steady_clock::now() >= end) {
      completion.whole = false;
      break;
    }
    const std::string_view candidate = name(i);
    if (!(part == CompletedPart::kName ? candidate : ShortName(candidate)).starts_with(prefix)) continue;
    if (completion.matches++ == 0) completion.common = first = candidate;
    Shorten(candidate, completion.common);
    Keep(std::string(candidate), count, completion.names);
  }
  CutWithinCharacter(first, completion.common);
  return completion;
}

void Merge(NameCompletion other, std::size_t count, NameCompletion& completion) {
  completion.whole = completion.whole && other.whole;
  if (other.matches == 0) return;
  if (completion.matches == 0) {
    completion.common = other.common;
  } else {
    Shorten(other.common, completion.common);
    CutWithinCharacter(other.common, completion.common);
  }
  completion.matches += other.matches;
  for (std::string& name : other.names) Keep(std::move(name), count, completion.names);
}

}  // namespace octavo
