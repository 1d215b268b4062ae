// The processes that train one run together: which rank trains which lanes, which folder it writes, and when all of
// them commit or stop.
//
// Rank 0 decides on commits within a round and tells the others; each joins at its next batch boundary, or while it
// waits for the end of the round. Lanes do not talk within a round, so a cut through them at any batches is consistent.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "checkpoint/commit_peers.h"
#include "plan/epoch_plan.h"
#include "plan/lane_ranks.h"
#include "ranks/ranks.h"

namespace octavo {

// What all ranks do next.
enum class TeamOrder { kGoOn, kCommit, kCommitAndStop };

// One owner, one thread.
class Team : public CommitPeers {
 public:
  // `folders` has for each rank the number of its folder; the first rank with a number writes that folder. `ranks` must
  // outlive this. REQUIRES: lanes >= ranks
  Team(Ranks& ranks, std::uint32_t lanes, std::vector<std::uint32_t> folders);

  Ranks& ranks() { return ranks_; }
  int rank() const { return ranks_.rank(); }
  bool first() const { return ranks_.first(); }
  LaneRange lanes() const;
  // The rank that trains a lane; nullopt for kNoLane.
  std::optional<int> RankOf(std::uint32_t lane) const;
  // The rank that has a partition of folder `folder` at the start of a process, if lane `lane` will use it: that of the
  // lane if it has this folder, otherwise the folder's first.
  int HolderOf(std::uint32_t folder, std::uint32_t lane) const;

  // Before the first commit of a new run: its partitions begin where the lanes of the first round are.
  void SetFirstPlan(const EpochPlan& plan, std::size_t partitions);

  // Between two batches. `commit` is whether a commit is due, which counts at rank 0 only; `stop` is whether this rank
  // was asked to stop. Rank 0 decides, the others follow.
  absl::StatusOr<TeamOrder> NextOrder(bool commit, bool stop);
  // What rank 0 says while others wait for the end of a round: an order, or the bytes of the round's result.
  struct Said {
    TeamOrder order = TeamOrder::kGoOn;
    std::optional<Message> result;
  };
  // The next word of rank 0, or nothing within a moment. REQUIRES: not rank 0
  absl::StatusOr<std::optional<Said>> WaitForFirst(bool stop);
  // Rank 0 ends the round with this result.
  void TellResult(const Message& result);

  // CommitPeers.
  std::uint32_t number() const override { return static_cast<std::uint32_t>(rank()); }
  bool WritesFolder() const override;
  std::uint32_t folder() const override { return folders_[static_cast<std::size_t>(rank())]; }
  std::uint32_t folders() const override { return folder_count_; }
  std::uint32_t FirstFolderOf(PartitionId partition) const override;
  absl::Status Adopt(Manifest& manifest) override;
  absl::Status Gather(const std::vector<bool>& held, Manifest& next, RelationTable& lane_relations,
                      RelationTable& lane_relation_optimizer) override;
  absl::Status Meet() override { return ranks_.Meet(); }

 private:
  void Order(TeamOrder order);
  static TeamOrder OrderOf(const Message& message);
  absl::Status Merge(std::span<const Message> all, Manifest& next, RelationTable& lane_relations,
                     RelationTable& lane_relation_optimizer) const;

  Ranks& ranks_;
  const std::uint32_t lane_count_;
  const std::vector<std::uint32_t> folders_;
  std::uint32_t folder_count_ = 1;
  std::vector<std::uint32_t> first_lanes_;  // of the partitions of a new run
  bool stop_told_ = false;
};

// Finds out which ranks see the same folder `path`, which need not exist. Returns a number for each rank, ascending
// from 0 in the order of their first ranks.
absl::StatusOr<std::vector<std::uint32_t>> FindFolders(Ranks& ranks, const std::filesystem::path& path);

// The first rank of a folder, where `folders` has the number of each rank's.
// REQUIRES: a rank has it
int FirstRankOf(std::span<const std::uint32_t> folders, std::uint32_t folder);

}  // namespace octavo
