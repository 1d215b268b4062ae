// Suggests names that are similar to one that does not exist, for messages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo {

// Returns the part of a name after its last / or #, as in IRIs and paths; empty if there is none.
std::string_view ShortName(std::string_view name);

// Names that end with / or # and the wanted text.
struct SameEnd {
  std::vector<std::string> names;  // the first ones found, at most 3
  std::uint64_t matches = 0;
  bool whole = true;  // all names were checked
};

// Checks the names in order until `time` is over, at least 1,024 of them.
SameEnd FindNamesEnding(std::string_view wanted, std::uint64_t size,
                        const std::function<std::string_view(std::uint64_t)>& name, std::chrono::milliseconds time);

// Returns how many single-byte insertions, deletions, replacements and swaps of neighbours turn `a` into `b`; `limit` +
// 1 if more than `limit`. Takes at most |a| * (2 * limit + 1) steps.
std::size_t SpellingDistance(std::string_view a, std::string_view b, std::size_t limit);

// Returns up to `count` names that are nearest to `wanted`, best first: names that differ only in letter case, then by
// spelling distance (up to 2, less for short names), then names that begin with `wanted`, then names in which a word
// begins with it, then those in which words begin with each of its words, all in any letter case (ASCII). Ties are
// ordered by bytes. Checks at most the first 2 million of the `size` names: about a quarter of a second.
std::vector<std::string> NearNames(std::string_view wanted, std::uint64_t size,
                                   const std::function<std::string_view(std::uint64_t)>& name, std::size_t count = 3);

}  // namespace octavo
