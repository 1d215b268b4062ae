// Which update of an epoch a batch ends: a function of the batch's place, so that lanes can be trained in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace octavo {

// An update follows each `accumulate` batches, counted in the epoch, and the last batch of each state.
class StepCount {
 public:
  StepCount() = default;
  // `first_batches` has the first batch of each state, and the number of batches.
  StepCount(std::vector<std::uint64_t> first_batches, std::uint64_t accumulate);

  // Updates after the batches before `batch` of the epoch.
  std::uint64_t Before(std::uint64_t batch) const;

 private:
  std::uint64_t InState(std::size_t state, std::uint64_t batch) const;

  std::vector<std::uint64_t> first_batches_;
  std::vector<std::uint64_t> before_;  // each state
  std::uint64_t accumulate_ = 1;
};

}  // namespace octavo
