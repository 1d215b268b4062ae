// The tables of one run together, and the commit that moves all of them from one generation to the next.
//
// A commit is an exact cut between two batches. Its steps, each a failpoint "commit.C<n>":
//   C1  the caller stops at a batch boundary
//   C2  each changed partition is written to its other slot (embeddings and optimizer state together)
//   C3  every file that got data since the last commit is synced
//   C4  relations and their optimizer state are written to their other slot and synced; the caller seals the
//       progress, e.g. appends an event to metrics.jsonl and syncs it
//   C5  the manifest of generation g + 1 is written into its slot of STATE        (checkpoint/state_file.cc)
//   C6  STATE is synced: the commit point; only now may success be reported
//   C7  what g + 1 no longer names may be overwritten
// A restart, each step but the lazy one a failpoint "restart.R<n>":
//   R1  the run's lock is taken                                                 (checkpoint/run_lock.h)
//   R2  both manifests are read, and the newest that is whole is taken
//   R3  configuration, graph, headers and sizes are checked: a refused run is unchanged
//   R4  rows are checked against their checksums when they are loaded, or, mapped, before anything is written
//   R5  the manifest's identical bytes are written into its own slot and synced (checkpoint/state_file.cc)
//   R6  what it does not name is free: missing second files are made again
// Invariants: a slot that the newest durable manifest names is never written; a manifest is written only after the
// sync of all it newly names; after any error the run is poisoned and every further commit fails.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/commit_peers.h"
#include "checkpoint/new_tables.h"
#include "checkpoint/run_shape.h"
#include "checkpoint/state_file.h"
#include "format/manifest.h"
#include "format/paths.h"
#include "tables/mmap_manager.h"
#include "tables/relation_table.h"

namespace octavo {

// Completes the progress of a commit after all data is written and before a manifest names it. An error ends the
// commit.
using Seal = std::function<absl::Status(Progress&)>;

// What a new run begins with in addition to the initializers' values; all may be empty.
struct RunBeginning {
  RowOverlay embeddings = {};
  RowOverlay optimizer = {};               // on zeros
  RowInitializer relation_optimizer = {};  // the same
  // Called after all rows are written, before the folder is synced and the first manifest is written.
  Seal seal = {};
};

// One writer, one thread at a time; for access to rows see tables/mmap_manager.h.
class RunTables {
 public:
  // Makes the tables of a new run in a folder that has no STATE yet, fills them, and commits generation 1. Reserves all
  // space first, so a full disk is an error now; the folder is then as before, except for files of this run.
  static absl::StatusOr<std::unique_ptr<RunTables>> Create(const RunPaths& paths, const RunShape& shape,
                                                           const RowInitializer& embeddings,
                                                           const RowInitializer& relations, bool sync,
                                                           const RunBeginning& beginning = {},
                                                           CommitPeers* peers = nullptr);
  // Opens the tables at the newest commit, after checking them against `shape`. With `peers`, which must outlive this,
  // the processes of a run on several machines make and open its tables together; then nothing is held at first.
  static absl::StatusOr<std::unique_ptr<RunTables>> Open(const RunPaths& paths, const RunShape& shape, bool sync,
                                                         CommitPeers* peers = nullptr);

  MmapManager& embeddings() { return *embeddings_; }
  MmapManager& optimizer() { return *optimizer_; }
  RelationTable& relations() { return relations_; }
  RelationTable& relation_optimizer() { return relation_optimizer_; }
  // The relations of each lane in turn, [lanes * relation rows]; empty without lanes. A commit writes them while a
  // round is open, in the same slot as those that the round began with.
  RelationTable& lane_relations() { return lane_relations_; }
  RelationTable& lane_relation_optimizer() { return lane_relation_optimizer_; }
  // The round of the newest commit, and the lanes' batches in it.
  const LanesHeader& round() const { return manifest_.round; }
  const std::vector<LaneRecord>& lanes() const { return manifest_.lanes; }
  // The round of further commits, and what each lane has trained in it. REQUIRES: as many records as lanes
  void SetRound(const LanesHeader& round, std::span<const LaneRecord> lanes);
  // The records of the commit under way, of all processes: for its seal.
  const std::vector<LaneRecord>& next_lanes() const { return next_lanes_; }
  const Progress& progress() const { return manifest_.header.progress; }
  const ValidationProgress& validation() const { return manifest_.header.validation; }
  std::uint64_t generation() const { return manifest_.header.generation; }

  // How partitions are loaded from now on; at first kDirect. REQUIRES: as MmapManager::LoadPartition
  void LoadBy(Loading loading) { loading_ = loading; }
  // Loads the partition of both tables, embeddings and optimizer state, and verifies its checksums. Loads the newest
  // rows, even if they were evicted since the last commit. Mapped rows are verified in the background, and before
  // anything is written.
  absl::Status LoadPartition(PartitionId partition);
  // The first error so far of verifying rows in the background.
  absl::Status CheckLoaded() const;
  // If the partition changed, writes its rows in both tables to the other slot, which the next commit will name. Then
  // frees its memory. An error poisons the run. Evict partitions only by this, never by the tables.
  absl::Status EvictPartition(PartitionId partition);

  // ---- With peers: partitions move between processes. Without, this process holds all of them.

  // Whether this process has the newest rows of the partition.
  bool Holds(PartitionId partition) const { return held_.empty() || held_[Value(partition)]; }
  // Takes over a partition whose newest rows are in this process's folder since the last commit.
  void Hold(PartitionId partition) { held_[Value(partition)] = true; }
  // Gives up a partition that is not resident, and returns the record of its newest rows.
  PartitionRecord GiveUp(PartitionId partition);
  // Takes over a partition whose rows were written here by WriteMoving.
  void TakeOver(PartitionId partition, const PartitionRecord& record);
  // The folder that has the partition's rows at the last commit.
  std::uint32_t FolderOf(PartitionId partition) const { return manifest_.partitions[Value(partition)].folder; }
  // Bytes of the newest rows of a partition that is not resident, embeddings first, then optimizer state, from `offset`
  // on; a piece must not cross from one to the other. Any thread.
  absl::Status ReadMoving(PartitionId partition, std::uint64_t offset, std::span<std::byte> bytes) const;
  absl::Status WriteMoving(PartitionId partition, std::uint64_t offset, std::span<const std::byte> bytes);
  // How many of these bytes are embeddings.
  std::uint64_t EmbeddingBytes(PartitionId partition) const { return embeddings_->BytesOfPartition(partition); }

  // Commits the tables with `progress`, which `seal` may still complete.
  absl::Status Commit(const Progress& progress, const Seal& seal = {});
  // The same with the outcome of a validation of the last commit, and its progress.
  absl::Status CommitValidation(const ValidationProgress& validation, const Seal& seal);

  // Moves rows that the last commit left in second files to the first files, commits that, and removes the second
  // files. Every table is then complete in its first file. Partitions that are not resident are loaded one at a time.
  // Rows that changed since the last commit are an error, as is a poisoned run. The tables must not be used afterwards.
  absl::Status Finish();

  // Bytes of the partition in both tables, one slot of each. REQUIRES: the partition exists
  std::uint64_t PartitionBytes(PartitionId partition) const;
  // Bytes of the relations and their optimizer state, one slot of each: what each commit writes.
  std::uint64_t relation_bytes() const;
  // Bytes read from and written to the tables' files since the run was opened.
  std::uint64_t bytes_read() const;
  std::uint64_t bytes_written() const;

 private:
  RunTables(const RunPaths& paths, const RunShape& shape, bool sync, CommitPeers* peers);

  bool InSeveralFolders() const { return peers_ != nullptr && peers_->folders() > 1; }
  bool WritesFolder() const { return peers_ == nullptr || peers_->WritesFolder(); }
  // Whether the partition's rows of the last commit are in this folder.
  bool IsHere(const PartitionRecord& record) const { return peers_ == nullptr || record.folder == peers_->folder(); }

  absl::Status OpenTables();
  absl::Status AdoptManifest();
  absl::Status PrepareSpareTables();
  // Creates the files of the lanes' relations that are missing.
  absl::Status PrepareLanes();
  absl::Status WriteLanes(int slot, Manifest& next);
  // Creates the relations' spare slots if they are missing, so that no commit has to.
  absl::Status PrepareSpareRelations();
  absl::Status CheckPoison() const;
  absl::Status CheckUnchanged() const;
  absl::Status MoveToFirstSlot(PartitionId partition);
  bool IsChanged(PartitionId partition) const;
  absl::Status WriteChanged(PartitionId partition);
  absl::Status WritePartitions(Manifest& next);
  absl::Status WriteRelations(Manifest& next);
  absl::Status CommitSteps(const Progress& progress, const ValidationProgress& validation, const Seal& seal);
  // The first commit of a new run, in this process's folder.
  absl::Status MakeFirst(const RunShape& shape, const RowInitializer& embeddings, const RowInitializer& relations,
                         const RunBeginning& beginning);
  void FollowOthers(const Manifest& next);

  const RunPaths paths_;
  const bool sync_;
  CommitPeers* const peers_;  // or null
  std::vector<bool> held_;    // with peers
  Loading loading_ = Loading::kDirect;
  std::optional<StateFile> state_;
  Manifest manifest_;                    // the committed one
  std::vector<PartitionRecord> newest_;  // of what was written last, committed or not
  std::unique_ptr<MmapManager> embeddings_;
  std::unique_ptr<MmapManager> optimizer_;
  RelationTable relations_;
  RelationTable relation_optimizer_;
  RelationTable lane_relations_;
  RelationTable lane_relation_optimizer_;
  LanesHeader next_round_;  // of the next commit, with
  std::vector<LaneRecord> next_lanes_;
  std::uint64_t relation_bytes_written_ = 0;
  absl::Status poison_;  // the first error of a write
};

}  // namespace octavo
