// Names that were probably meant by one that is not there, for messages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo {

// Returns the part of a name behind its last / or #, as IRIs and paths have it; empty where there is none.
std::string_view ShortName(std::string_view name);

// Names that end with what was typed, behind a / or #.
struct SameEnd {
  std::vector<std::string> names;  // the first that were found, at most 3
  std::uint64_t matches = 0;
  bool whole = true;  // all names were looked at
};

// Looks for them in turn, until `time` is over, at 1,024 of them at least.
SameEnd FindNamesEnding(std::string_view wanted, std::uint64_t size,
                        const std::function<std::string_view(std::uint64_t)>& name, std::chrono::milliseconds time);

// Returns how many single-byte insertions, deletions, replacements and swaps of neighbours turn `a` into `b`, or
// `limit` + 1 if that is more than `limit`. Costs at most |a| * (2 * limit + 1) steps.
std::size_t SpellingDistance(std::string_view a, std::string_view b, std::size_t limit);

// Returns up to `count` of the names nearest to `wanted`, best first: first those that differ in letter case only, then
// by spelling distance (up to 2, and less for short names), then those that begin with `wanted`. Ties by bytes. Looks
// at the first 2 million of the `size` names at most: about a quarter of a second.
std::vector<std::string> NearNames(std::string_view wanted, std::uint64_t size,
                                   const std::function<std::string_view(std::uint64_t)>& name, std::size_t count = 3);

}  // namespace octavo
