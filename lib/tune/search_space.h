// The options that a search may choose from: a TOML file whose keys are the names of TrainOptionFields().
//
//   dim = 200                                               a plain value is fixed
//   regularizer = ["n3", "l2"]                              an array is a choice
//   learning-rate = { min = 0.01, max = 1.0, log = true }   a table is a range, uniform or log-uniform
//   batch = { min = 256, max = 4096, step = 256 }           a range of whole numbers: min, min + step, ... up to max
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "run/options.h"

namespace octavo {

// Includes both ends. `most` of whole numbers is one of the steps.
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
using ValueChoice = std::vector<std::string>;  // in OptionField::format's notation; a single value is fixed
using SpaceValues = std::variant<ValueChoice, WholeRange, RealRange>;

struct SpaceOption {
  const OptionField* field = nullptr;
  SpaceValues values;

  // Whether there are several values.
  bool Varies() const;
};

struct SearchSpace {
  std::filesystem::path path;        // for messages
  std::vector<SpaceOption> options;  // in the order of TrainOptionFields(), each at most once
  std::vector<std::string> notes;    // for the log: ends of ranges that are not on a step
};

// Reads the file, of at most 16 KiB. A usage error names file, line, key, what was found and what is allowed. Errors
// are: unknown keys, values that an option rejects, a reversed range, a key that the search determines itself (epochs,
// validation-sample, patience, keep), and a space of a single point.
absl::StatusOr<SearchSpace> LoadSearchSpace(const std::filesystem::path& path);

// Returns the values in one line: the same text for the same values, however the file writes them.
std::string Describe(const SpaceOption& option);

}  // namespace octavo
