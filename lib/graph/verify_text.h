// The part of VerifyGraph that checks a file of lines against the arrays of their offsets and hashes: names, labels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "absl/status/status.h"
#include "graph/check_options.h"
#include "io/check_report.h"

namespace octavo {

struct TextFiles {
  std::filesystem::path text;     // line i is [offset i, offset i + 1), with its line end
  std::filesystem::path offsets;  // an array of count + 1
  std::filesystem::path hashes;   // an array of `count`
  std::uint64_t seed = 0;         // of the hashes
  std::uint64_t count = 0;        // of lines
  std::string_view unit;          // of a line: "name"
};

// Checks the length of the text and each line. Parallel. REQUIRES: the arrays are undamaged; otherwise as VerifyGraph
absl::Status VerifyText(const TextFiles& files, const GraphCheckOptions& options, CheckReport& report);

}  // namespace octavo
