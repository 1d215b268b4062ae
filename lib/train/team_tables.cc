#include "train/team_tables.h"

#include <algorithm>

#include "base/status.h"

namespace octavo {

TeamTables::TeamTables(Team& team, RunTables& tables)
    : team_(team), tables_(tables), partitions_(tables.embeddings().partition_count()), mover_(team.ranks(), tables) {
  // Until a round begins, for commits of a process that has no batch left.
  owners_.assign(partitions_, kNoLane);
  HoldStored();
}

void TeamTables::BeginEpoch(const EpochPlan& whole, const EpochPlan* next, const EpochCourse& course) {
  whole_ = &whole;
  next_ = next;
  course_ = &course;
  planned_received_ = between_epochs_;
  between_epochs_ = 0;
}

void TeamTables::BeginRound(std::uint32_t round) {
  const bool last = round + 1 == course_->rounds();
  if (!last) {
    next_owners_ = LanesOfPartitions(*whole_, round + 1, partitions_);
  } else if (next_ != nullptr) {
    next_owners_ = LanesOfPartitions(*next_, 0, partitions_);
  } else {
    next_owners_.assign(partitions_, kNoLane);
  }
  // What no lane uses any more in this round, by an earlier process, is where the next round will need it.
  owners_ = course_->UsersLeft(*whole_, round, partitions_);
  for (std::size_t p = 0; p < partitions_; ++p) {
    if (owners_[p] == kNoLane) owners_[p] = next_owners_[p];
  }
  last_uses_.assign(partitions_, 0);
  for (std::size_t s = 0; s < course_->states().size(); ++s) {
    if (course_->states()[s].round != round) continue;
    for (const PartitionId partition : course_->plan().states[s].resident) last_uses_[Value(partition)] = s + 1;
  }
  for (std::size_t p = 0; p < partitions_; ++p) {
    const bool comes = team_.RankOf(next_owners_[p]) == team_.rank() && team_.RankOf(owners_[p]) != team_.rank();
    // What an epoch ends with in memory moves when the next one begins.
    if (comes) (last ? between_epochs_ : planned_received_) += tables_.PartitionBytes(static_cast<PartitionId>(p));
  }
  if (!begun_) HoldStored();
  begun_ = true;
  SendStored();
}

// Before the first round all rows are in the folders.
void TeamTables::HoldStored() {
  for (std::uint32_t p = 0; p < partitions_; ++p) {
    const auto partition = static_cast<PartitionId>(p);
    if (team_.HolderOf(tables_.FolderOf(partition), owners_[p]) == team_.rank()) {
      tables_.Hold(partition);
    } else if (tables_.Holds(partition)) {
      tables_.GiveUp(partition);
    }
  }
}

void TeamTables::SendStored() {
  for (std::uint32_t p = 0; p < partitions_; ++p) {
    const auto partition = static_cast<PartitionId>(p);
    const std::optional<int> owner = team_.RankOf(owners_[p]);
    if (!owner || *owner == team_.rank() || !tables_.Holds(partition)) continue;
    mover_.Send(partition, *owner);
  }
}

absl::Status TeamTables::Load(PartitionId partition) {
  RETURN_IF_ERROR(mover_.Await(partition));
  return tables_.LoadPartition(partition);
}

absl::Status TeamTables::Evict(PartitionId partition) {
  RETURN_IF_ERROR(tables_.EvictPartition(partition));
  if (last_uses_[Value(partition)] > state_.load(std::memory_order_relaxed)) return absl::OkStatus();
  const std::optional<int> next = team_.RankOf(next_owners_[Value(partition)]);
  if (next && *next != team_.rank()) mover_.Send(partition, *next);
  return absl::OkStatus();
}

absl::Status TeamTables::Settle() {
  RETURN_IF_ERROR(mover_.Drain());
  RETURN_IF_ERROR(team_.Meet());
  mover_.TakeOverArrived();
  return absl::OkStatus();
}

absl::Status TeamTables::BringHome() {
  if (team_.folders() == 1) return absl::OkStatus();
  if (!team_.first()) {
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      const auto partition = static_cast<PartitionId>(p);
      if (tables_.Holds(partition)) mover_.Send(partition, 0);
    }
  }
  return Settle();
}

}  // namespace octavo
