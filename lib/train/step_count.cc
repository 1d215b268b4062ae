#include "train/step_count.h"

#include <algorithm>
#include <utility>

namespace octavo {

StepCount::StepCount(std::vector<std::uint64_t> first_batches, std::uint64_t accumulate)
    : first_batches_(std::move(first_batches)), before_(1), accumulate_(accumulate) {
  before_.reserve(first_batches_.size());
  for (std::size_t state = 0; state + 1 < first_batches_.size(); ++state) {
    before_.push_back(before_.back() + InState(state, first_batches_[state + 1]));
  }
}

// Updates after the state's batches before `batch`.
std::uint64_t StepCount::InState(std::size_t state, std::uint64_t batch) const {
  const std::uint64_t windows = batch / accumulate_ - first_batches_[state] / accumulate_;
  const bool ends_state = batch == first_batches_[state + 1] && batch > first_batches_[state];
  return windows + (ends_state && batch % accumulate_ != 0 ? 1 : 0);
}

std::uint64_t StepCount::Before(std::uint64_t batch) const {
  // The last state that begins at or before it; the end of all belongs to the last state.
  const auto after = std::upper_bound(first_batches_.begin(), first_batches_.end() - 1, batch);
  const auto state = static_cast<std::size_t>(after - first_batches_.begin()) - 1;
  return before_[state] + InState(state, batch);
}

}  // namespace octavo
