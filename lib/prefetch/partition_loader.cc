#include "prefetch/partition_loader.h"

#include "base/status.h"

namespace octavo {

PartitionLoader::PartitionLoader(Move load, Move evict)
    : load_(std::move(load)),
      evict_(std::move(evict)),
      exchanges_([this](std::uint64_t state) { return MoveTo(plan_->states[state].resident); }) {}

absl::Status PartitionLoader::MoveTo(std::span<const PartitionId> target) {
  while (!leaving_.empty()) {
    RETURN_IF_ERROR(evict_(leaving_.back()));
    std::erase(resident_, leaving_.back());
    leaving_.pop_back();
  }
  for (const PartitionId partition : Without(target, resident_)) {
    RETURN_IF_ERROR(load_(partition));
    resident_.insert(std::upper_bound(resident_.begin(), resident_.end(), partition), partition);
  }
  return absl::OkStatus();
}

absl::Status PartitionLoader::StartNext() {
  if (state_ + 1 >= plan_->states.size() || !plan_->states[state_ + 1].ahead) return absl::OkStatus();
  asked_ = true;
  return exchanges_.Start(state_ + 1);
}

absl::Status PartitionLoader::Begin(const EpochPlan& plan, std::size_t state) {
  exchanges_.Discard();
  asked_ = false;
  plan_ = &plan;
  state_ = state;
  const std::span<const PartitionId> target = plan.states[state].resident;
  leaving_ = Without(resident_, target);
  // If nothing has to be loaded now, as after an epoch that left these partitions in memory, eviction waits for the
  // next exchange, where there is room for it.
  first_loads_ = Without(target, resident_);
  const bool room = state + 1 < plan.states.size() && plan.states[state + 1].ahead;
  if (!first_loads_.empty() || (!leaving_.empty() && !room)) RETURN_IF_ERROR(exchanges_.Run(state));
  return StartNext();
}

absl::Status PartitionLoader::Leave(std::span<const PartitionId> kept) {
  const absl::Status before = exchanges_.Wait();
  exchanges_.Discard();
  asked_ = false;
  RETURN_IF_ERROR(before);
  leaving_ = Without(resident_, kept);
  return MoveTo({});
}

absl::Status PartitionLoader::Advance() {
  const std::size_t next = state_ + 1;
  if (asked_) {
    asked_ = false;
    RETURN_IF_ERROR(exchanges_.Take());
  } else {
    // All that leaves goes before anything enters.
    if (!plan_->states[next].ahead) leaving_ = Without(resident_, plan_->states[next].resident);
    RETURN_IF_ERROR(exchanges_.Run(next));
  }
  state_ = next;
  leaving_ = Without(resident_, plan_->states[next].resident);
  return StartNext();
}

}  // namespace octavo
