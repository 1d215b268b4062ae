// The target of a request: a path and named values, with percent escapes decoded. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace octavo {

struct Target {
  std::string path;                                         // as sent; begins with /
  std::vector<std::pair<std::string, std::string>> values;  // in order; any bytes
};

// The most values of a target.
inline constexpr std::size_t kMostValues = 2000;

// Parses "/path?name=value&...". A blank is %20 or +. An input error names what is wrong.
absl::StatusOr<Target> ParseTarget(std::string_view text);

// Returns `text` with every byte other than letters, digits and -._~ as %XX.
std::string PercentEncode(std::string_view text);

}  // namespace octavo
