#include "train/relation_gradients.h"

#include <limits>

#include "base/float_rows.h"
#include "base/parallel.h"
#include "tables/mmap_manager.h"

namespace octavo {
namespace {

constexpr std::uint32_t kUntouched = std::numeric_limits<std::uint32_t>::max();

// Columns summed by one task: a few relations may have all the contributions, so the work is split by columns too.
constexpr std::size_t kColumnsPerTask = 64;
// Gradients lie anywhere in memory, so those of the next few contributions are prefetched while one is added.
constexpr std::size_t kAhead = 8;

}  // namespace

RelationGradients::RelationGradients(std::uint64_t rows, std::size_t columns)
    : columns_(columns), slot_of_row_(rows, kUntouched) {}

void RelationGradients::Accumulate(std::span<const RelationContribution> contributions) {
  if (columns_ == 0) return;
  // Lists the gradients of each row, rows in the order in which they are first seen.
  for (const RelationContribution& contribution : contributions) {
    std::uint32_t& slot = slot_of_row_[contribution.row];
    if (slot == kUntouched) {
      slot = static_cast<std::uint32_t>(touched_.size());
      touched_.push_back(contribution.row);
      if (gradients_of_slot_.size() < touched_.size()) gradients_of_slot_.emplace_back();
    }
    gradients_of_slot_[slot].push_back(contribution.gradient);
  }
  sums_.resize(touched_.size() * columns_);  // new rows are zeros: ApplyAndZero leaves the vector empty
  // One task adds some columns of one row, in the order of the list, whatever the number of threads.
  const std::size_t pieces = (columns_ + kColumnsPerTask - 1) / kColumnsPerTask;
  ParallelRanges(0, touched_.size() * pieces, 4, [&](std::size_t first, std::size_t last) {
    for (std::size_t task = first; task < last; ++task) {
      const std::size_t slot = task / pieces;
      const std::size_t begin = task % pieces * kColumnsPerTask;
      const std::size_t end = std::min(begin + kColumnsPerTask, columns_);
      float* sum = sums_.data() + slot * columns_;
      const std::vector<const float*>& gradients = gradients_of_slot_[slot];
      for (std::size_t i = 0; i < gradients.size(); ++i) {
        if (i + kAhead < gradients.size()) PrefetchFloats(gradients[i + kAhead] + begin, end - begin);
        AddFloats(end - begin, gradients[i] + begin, sum + begin);
      }
    }
  });
  for (std::size_t slot = 0; slot < touched_.size(); ++slot) gradients_of_slot_[slot].clear();
}

void RelationGradients::ApplyAndZero(const OptimizerSpec& optimizer, float learning_rate, std::uint64_t step,
                                     RelationTable& relations, RelationTable& state) {
  // Each row is updated by one task, so no locks are needed.
  ParallelRanges(0, touched_.size(), 16, [&](std::size_t first, std::size_t last) {
    for (std::size_t slot = first; slot < last; ++slot) {
      const std::span<const float> gradient(sums_.data() + slot * columns_, columns_);
      UpdateRow(optimizer, learning_rate, step, gradient, relations.Row(touched_[slot]), state.Row(touched_[slot]));
    }
  });
  for (const std::uint64_t row : touched_) slot_of_row_[row] = kUntouched;
  touched_.clear();
  sums_.clear();
}

}  // namespace octavo
