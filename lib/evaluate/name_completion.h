// Names that begin as what was typed, for completion at a prompt.
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
  std::vector<std::string> names;  // the first by their bytes, ascending
  std::uint64_t matches = 0;       // all that were found
  std::string common;              // what they all begin with, up to the end of a character of UTF-8
  bool whole = true;               // all names were looked at
};

// By what a name is completed: its beginning, or that of its part behind the last / or # (near_names.h: ShortName).
enum class CompletedPart { kName, kShortName };

// Returns the names that begin with `prefix`, or whose short names do, up to `count` of them in NameCompletion::names.
// Looks at the names in turn until `time` is over, at 1,024 of them at least.
NameCompletion CompleteName(std::string_view prefix, std::uint64_t size,
                            const std::function<std::string_view(std::uint64_t)>& name, std::size_t count,
                            std::chrono::milliseconds time, CompletedPart part = CompletedPart::kName);

// Takes the names of `other`, a list of another kind, into `completion`.
void Merge(NameCompletion other, std::size_t count, NameCompletion& completion);

}  // namespace octavo
