// Finds names with a given beginning, for completion at a prompt.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo {

struct NameCompletion {
  std::vector<std::string> names;  // the first ones by their bytes, ascending
  std::uint64_t matches = 0;       // total found
  std::string common;              // the longest common prefix in whole UTF-8 characters
  bool whole = true;               // all names were checked
};

// What is completed: the beginning of the name, or of its part after the last / or # (near_names.h: ShortName).
enum class CompletedPart { kName, kShortName };

// Returns the names that begin with `prefix`, or whose short names do; up to `count` of them in NameCompletion::names.
// Checks the names in order until `time` is over, at least 1,024 of them.
NameCompletion CompleteName(std::string_view prefix, std::uint64_t size,
                            const std::function<std::string_view(std::uint64_t)>& name, std::size_t count,
                            std::chrono::milliseconds time, CompletedPart part = CompletedPart::kName);

// Adds the names of `other`, a list of another kind, to `completion`.
void Merge(NameCompletion other, std::size_t count, NameCompletion& completion);

}  // namespace octavo
