// What a search may choose from: a TOML file whose keys are the names of TrainOptionFields().
//
//   dim = 200                                               a plain value is fixed
//   regularizer = ["n3", "l2"]                              an array is a choice
//   learning-rate = { min = 0.01, max = 1.0, log = true }   a table is a range, uniform, or uniform in its logarithm
//   batch = { min = 256, max = 4096, step = 256 }           of whole numbers: min, min + step, ... up to max
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "train/options.h"

namespace octavo {

// Each end belongs to it; `most` of whole numbers is one of the steps.
struct WholeRange {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::uint64_t step = 1;
  bool log = false;  // then least > 0
};
struct RealRange {
  double least = 0;
  double most = 0;
  bool log = false;  // then least > 0
};
using ValueChoice = std::vector<std::string>;  // as OptionField::format writes them; one is fixed

struct SpaceOption {
  const OptionField* field = nullptr;
  std::variant<ValueChoice, WholeRange, RealRange> values;

  // Whether there is more than one value.
  bool Varies() const;
};

struct SearchSpace {
  std::filesystem::path path;        // for messages
  std::vector<SpaceOption> options;  // in the order of TrainOptionFields(), each at most once
  std::vector<std::string> notes;    // for the log: ends of ranges that are none of their steps
};

// Reads the file, of at most 16 KiB. A usage error names file, line, key, what was found and what is allowed: unknown
// keys, values that an option refuses, a range the wrong way round, a key that the search itself decides (epochs,
// validation-sample, patience, keep), and a space of a single point.
absl::StatusOr<SearchSpace> LoadSearchSpace(const std::filesystem::path& path);

// Returns the values in one line, the same for the same values however the file says them.
std::string Describe(const SpaceOption& option);

}  // namespace octavo
