// --split: assigns an edge to a split by the hashes of its names.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "cells/edge_record.h"

namespace octavo {

// A pure function of the names and the seed: independent of the order of the lines, and the same for copies of an edge.
class SplitRule {
 public:
  // Parses "0.9,0.05,0.05": the fractions of train, valid and test, which must sum to 1; train must be above 0.
  // Anything else is a usage error.
  static absl::StatusOr<SplitRule> Parse(std::string_view text, std::uint64_t seed);

  // The arguments are HashName(name, 0); relation is 0 without a relation column.
  EdgeSplit SplitOf(std::uint64_t head, std::uint64_t relation, std::uint64_t tail) const;

 private:
  SplitRule(double valid_from, double test_from, std::uint64_t seed)
      : valid_from_(valid_from), test_from_(test_from), seed_(seed) {}

  double valid_from_;
  double test_from_;
  std::uint64_t seed_;
};

}  // namespace octavo
