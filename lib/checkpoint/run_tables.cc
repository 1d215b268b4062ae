#include "checkpoint/run_tables.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/status.h"
#include "fmt/format.h"
#include "io/failpoint.h"
#include "tables/table_file.h"

namespace octavo {
namespace {

std::array<std::filesystem::path, 2> SlotsOf(const RunPaths& paths, TableName table) {
  return {paths.Table(table, 0), paths.Table(table, 1)};
}

// Checks header and size of each file that has rows of the commit.
absl::Status CheckNamedFiles(const RunPaths& paths, const Manifest& manifest) {
  for (const std::uint64_t slot : {0U, 1U}) {
    const auto named = [&](const PartitionRecord& record) {
      return record.slot == slot && record.folder == manifest.round.folder;
    };
    if (std::ranges::none_of(manifest.partitions, named)) continue;
    const ManifestHeader& header = manifest.header;
    for (const auto& [table, shape] :
         {std::pair(TableName::kEmbeddings, NpyShape{header.rows, header.dim, header.element()}),
          std::pair(TableName::kOptimizer, NpyShape{header.rows, header.state_width})}) {
      RETURN_IF_ERROR(OpenTableFile(paths.Table(table, static_cast<int>(slot)), shape, /*writable=*/false).status());
    }
  }
  return absl::OkStatus();
}

}  // namespace

RunTables::RunTables(const RunPaths& paths, const RunShape& shape, bool sync, CommitPeers* peers)
    : paths_(paths),
      sync_(sync),
      peers_(peers),
      relations_(SlotsOf(paths, TableName::kRelations), {shape.relation_rows, shape.relation_width}),
      relation_optimizer_(SlotsOf(paths, TableName::kRelationOptimizer),
                          {shape.relation_rows, shape.relation_state_width}),
      lane_relations_(SlotsOf(paths, TableName::kLaneRelations), {shape.LaneRelationRows(), shape.relation_width}),
      lane_relation_optimizer_(SlotsOf(paths, TableName::kLaneRelationOptimizer),
                               {shape.LaneRelationRows(), shape.relation_state_width}) {}

absl::Status RunTables::MakeFirst(const RunShape& shape, const RowInitializer& embeddings,
                                  const RowInitializer& relations, const RunBeginning& beginning) {
  // A full disk is found here, and not by a later write to a mapped page or an eviction.
  RETURN_IF_ERROR(AllocateTables(paths_, shape, InSeveralFolders()));
  manifest_.header = HeaderOf(shape);
  manifest_.lanes = next_lanes_ = LanesOf(shape);
  const ssize_t drawn = ::getrandom(manifest_.header.run_id.data(), sizeof(manifest_.header.run_id), 0);
  if (drawn != static_cast<ssize_t>(sizeof(manifest_.header.run_id))) return ErrnoError("getrandom", errno);
  ASSIGN_OR_RETURN(const auto row_checksums,
                   FillTable(paths_, TableName::kEmbeddings, {shape.rows, shape.dim, shape.element},
                             shape.partition_rows, embeddings, beginning.embeddings, sync_, peers_));
  ASSIGN_OR_RETURN(const auto state_checksums,
                   FillTable(paths_, TableName::kOptimizer, {shape.rows, shape.state_width}, shape.partition_rows,
                             nullptr, beginning.optimizer, sync_, peers_));
  std::vector<bool> here;
  for (std::uint32_t p = 0; p < row_checksums.size(); ++p) {
    const std::uint32_t folder = InSeveralFolders() ? peers_->FirstFolderOf(static_cast<PartitionId>(p)) : 0;
    here.push_back(peers_ == nullptr || folder == peers_->folder());
    manifest_.partitions.push_back({.slot = 0,
                                    .folder = folder,
                                    .generation = 1,
                                    .embedding_checksum = row_checksums[p],
                                    .state_checksum = state_checksums[p]});
  }
  for (std::uint64_t row = 0; row < shape.relation_rows; ++row) {
    relations(row, relations_.Row(row));
    if (beginning.relation_optimizer) beginning.relation_optimizer(row, relation_optimizer_.Row(row));
  }
  ASSIGN_OR_RETURN(manifest_.header.relation_checksum, relations_.Write(0, sync_));
  ASSIGN_OR_RETURN(manifest_.header.relation_state_checksum, relation_optimizer_.Write(0, sync_));
  manifest_.header.generation = 1;
  if (peers_ != nullptr) {
    RETURN_IF_ERROR(peers_->Gather(here, manifest_, lane_relations_, lane_relation_optimizer_));
  }
  RETURN_IF_ERROR(OpenTables());
  if (beginning.seal) RETURN_IF_ERROR(beginning.seal(manifest_.header.progress));
  // Every file name that the manifest refers to is durable before the manifest.
  if (sync_) RETURN_IF_ERROR(SyncFolder(paths_.folder()));
  newest_ = manifest_.partitions;
  // The first folder's STATE last: if it exists, all folders have the run; if not, all can begin it again.
  const bool last = peers_ != nullptr && peers_->folder() == 0;
  if (last) RETURN_IF_ERROR(peers_->Meet());
  ASSIGN_OR_RETURN(state_, StateFile::Create(paths_.State(), manifest_));
  if (peers_ == nullptr) return absl::OkStatus();
  if (!last) RETURN_IF_ERROR(peers_->Meet());
  RETURN_IF_ERROR(peers_->Meet());
  return AdoptManifest();  // as the processes that only open the folder
}

// Folders of several processes may have other numbers now. The first process of each makes the files that are missing,
// before others open them: two that made the same file would each write to its own.
absl::Status RunTables::AdoptManifest() {
  RETURN_IF_ERROR(peers_->Adopt(manifest_));
  if (WritesFolder()) RETURN_IF_ERROR(PrepareSpareTables());
  return peers_->Meet();
}

absl::Status RunTables::PrepareSpareTables() {
  const ManifestHeader& header = manifest_.header;
  for (const int slot : {0, 1}) {
    const auto named = [&](const PartitionRecord& record) {
      return static_cast<int>(record.slot) == slot && IsHere(record);
    };
    if (std::ranges::any_of(manifest_.partitions, named)) continue;
    for (const auto& [table, shape] :
         {std::pair(TableName::kEmbeddings, NpyShape{header.rows, header.dim, header.element()}),
          std::pair(TableName::kOptimizer, NpyShape{header.rows, header.state_width})}) {
      ASSIGN_OR_RETURN(File file, OpenSpareTableFile(paths_.Table(table, slot), shape, InSeveralFolders()));
      RETURN_IF_ERROR(file.Close());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<RunTables>> RunTables::Create(const RunPaths& paths, const RunShape& shape,
                                                             const RowInitializer& embeddings,
                                                             const RowInitializer& relations, bool sync,
                                                             const RunBeginning& beginning, CommitPeers* peers) {
  auto tables = std::unique_ptr<RunTables>(new RunTables(paths, shape, sync, peers));
  if (!tables->WritesFolder()) {
    // The folder's first process makes the files; this one opens them afterwards.
    Manifest made;
    made.lanes = LanesOf(shape);
    RETURN_IF_ERROR(peers->Gather({}, made, tables->lane_relations_, tables->lane_relation_optimizer_));
    RETURN_IF_ERROR(peers->Meet());
    RETURN_IF_ERROR(peers->Meet());  // as in MakeFirst
    return Open(paths, shape, sync, peers);
  }
  if (absl::Status status = tables->MakeFirst(shape, embeddings, relations, beginning); !status.ok()) {
    // With STATE there is a run, which resumes if the others' folders have it too.
    if (tables->state_.has_value()) return status;
    // Without it there is none: the files are useless and may take the space of a full disk.
    for (const std::filesystem::path& path : paths.All()) {
      if (path != paths.Lock() && path != paths.Configuration()) static_cast<void>(RemoveFile(path));
    }
    return status;
  }
  return tables;
}

absl::StatusOr<std::unique_ptr<RunTables>> RunTables::Open(const RunPaths& paths, const RunShape& shape, bool sync,
                                                           CommitPeers* peers) {
  auto tables = std::unique_ptr<RunTables>(new RunTables(paths, shape, sync, peers));
  RETURN_IF_ERROR(Failpoint("restart.R2"));
  // Everything is compared before STATE is opened for writing: a run with other options stays as it is.
  ASSIGN_OR_RETURN(const Manifest found, ReadNewestManifest(paths.State()));
  if (peers == nullptr) RETURN_IF_ERROR(CheckWholeRun(found, paths.State().string()));
  RETURN_IF_ERROR(Failpoint("restart.R3"));
  RETURN_IF_ERROR(CheckShape(paths, found.header, HeaderOf(shape)));
  if (found.lanes.size() != LanesOf(shape).size()) {
    return CorruptError(fmt::format("{}: {} lanes; expected {} as run.json says", paths.State().string(),
                                    std::max<std::size_t>(1, found.lanes.size()), shape.lanes));
  }
  RETURN_IF_ERROR(CheckNamedFiles(paths, found));
  RETURN_IF_ERROR(Failpoint("restart.R5"));
  if (tables->WritesFolder()) {
    ASSIGN_OR_RETURN(tables->state_, StateFile::Open(paths.State(), sync, tables->manifest_));
  } else {
    tables->manifest_ = found;
  }
  if (peers != nullptr) RETURN_IF_ERROR(tables->AdoptManifest());
  RETURN_IF_ERROR(Failpoint("restart.R6"));
  // newest_ runs ahead of the manifest: it has the slots and checksums of evicted rows that are not committed yet.
  tables->newest_ = tables->manifest_.partitions;
  const ManifestHeader& header = tables->manifest_.header;
  const int slot = static_cast<int>(header.relation_slot);
  RETURN_IF_ERROR(tables->relations_.Load(slot, header.relation_checksum));
  RETURN_IF_ERROR(tables->relation_optimizer_.Load(slot, header.relation_state_checksum));
  RETURN_IF_ERROR(tables->OpenTables());
  if (tables->WritesFolder()) RETURN_IF_ERROR(tables->PrepareSpareRelations());
  RETURN_IF_ERROR(tables->PrepareLanes());
  // A finished run has no second files, so they have just been created again. Their names must be durable before a
  // manifest refers to them.
  if (sync) RETURN_IF_ERROR(SyncFolder(paths.folder()));
  return tables;
}

absl::Status RunTables::OpenTables() {
  std::vector<std::uint8_t> slots;
  std::vector<bool> here;
  for (const PartitionRecord& record : manifest_.partitions) {
    slots.push_back(static_cast<std::uint8_t>(record.slot));
    if (InSeveralFolders()) here.push_back(IsHere(record));
  }
  if (peers_ != nullptr) held_.assign(slots.size(), false);
  const ManifestHeader& header = manifest_.header;
  const auto open = [&](TableName table, const NpyShape& shape) {
    return MmapManager::Open({.slots = SlotsOf(paths_, table),
                              .shape = shape,
                              .partition_rows = header.partition_rows,
                              .own_locks = table == TableName::kEmbeddings,
                              .here = here},
                             slots);
  };
  ASSIGN_OR_RETURN(embeddings_, open(TableName::kEmbeddings, {header.rows, header.dim, header.element()}));
  ASSIGN_OR_RETURN(optimizer_, open(TableName::kOptimizer, {header.rows, header.state_width}));
  return absl::OkStatus();
}

absl::Status RunTables::PrepareSpareRelations() {
  const ManifestHeader& header = manifest_.header;
  const int spare = 1 - static_cast<int>(header.relation_slot);
  for (const auto& [table, columns] : {std::pair(TableName::kRelations, header.relation_width),
                                       std::pair(TableName::kRelationOptimizer, header.relation_state_width)}) {
    ASSIGN_OR_RETURN(
        File file, OpenSpareTableFile(paths_.Table(table, spare), {.rows = header.relation_rows, .columns = columns}));
    RETURN_IF_ERROR(file.Close());
  }
  return absl::OkStatus();
}

// Reads the lanes' relations if a round is open, and creates files that are missing: a finished run has none.
absl::Status RunTables::PrepareLanes() {
  next_round_ = manifest_.round;
  next_lanes_ = manifest_.lanes;
  if (manifest_.lanes.empty()) return absl::OkStatus();
  const int slot = static_cast<int>(manifest_.header.relation_slot);
  if (manifest_.round.open == 1) {
    std::vector<std::uint64_t> relations;
    std::vector<std::uint64_t> states;
    for (const LaneRecord& lane : manifest_.lanes) {
      relations.push_back(lane.relation_checksum);
      states.push_back(lane.relation_state_checksum);
    }
    RETURN_IF_ERROR(lane_relations_.Load(slot, relations));
    RETURN_IF_ERROR(lane_relation_optimizer_.Load(slot, states));
  }
  const std::uint64_t rows = lane_relations_.rows();
  for (const int each : {slot, 1 - slot}) {
    if (!WritesFolder() || (each == slot && manifest_.round.open == 1)) continue;
    for (const auto& [table, columns] :
         {std::pair(TableName::kLaneRelations, manifest_.header.relation_width),
          std::pair(TableName::kLaneRelationOptimizer, manifest_.header.relation_state_width)}) {
      ASSIGN_OR_RETURN(File file, OpenSpareTableFile(paths_.Table(table, each), {.rows = rows, .columns = columns}));
      RETURN_IF_ERROR(file.Close());
    }
  }
  return absl::OkStatus();
}

void RunTables::SetRound(const LanesHeader& round, std::span<const LaneRecord> lanes) {
  next_round_ = round;
  next_lanes_.assign(lanes.begin(), lanes.end());
}

PartitionRecord RunTables::GiveUp(PartitionId partition) {
  held_[Value(partition)] = false;
  return newest_[Value(partition)];
}

void RunTables::TakeOver(PartitionId partition, const PartitionRecord& record) {
  PartitionRecord& own = newest_[Value(partition)];
  own = record;
  own.folder = InSeveralFolders() ? peers_->folder() : 0;
  // Written to the slot that the manifest does not name, as an eviction would have.
  own.slot = 1 - manifest_.partitions[Value(partition)].slot;
  embeddings_->Follow(partition, static_cast<std::uint8_t>(own.slot), /*here=*/true);
  optimizer_->Follow(partition, static_cast<std::uint8_t>(own.slot), /*here=*/true);
  held_[Value(partition)] = true;
}

absl::Status RunTables::ReadMoving(PartitionId partition, std::uint64_t offset, std::span<std::byte> bytes) const {
  const std::uint64_t embeddings = EmbeddingBytes(partition);
  return offset < embeddings ? embeddings_->ReadStored(partition, offset, bytes)
                             : optimizer_->ReadStored(partition, offset - embeddings, bytes);
}

absl::Status RunTables::WriteMoving(PartitionId partition, std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::uint64_t embeddings = EmbeddingBytes(partition);
  return offset < embeddings ? embeddings_->WriteStored(partition, offset, bytes)
                             : optimizer_->WriteStored(partition, offset - embeddings, bytes);
}

absl::Status RunTables::CheckPoison() const {
  if (poison_.ok()) return absl::OkStatus();
  return RuntimeError(fmt::format("{}: an earlier write failed ({}); the run stands at generation {}",
                                  paths_.folder().string(), MessageOf(poison_), generation()));
}

absl::Status RunTables::LoadPartition(PartitionId partition) {
  if (Value(partition) >= newest_.size()) return embeddings_->LoadPartition(partition);  // its error
  const PartitionRecord& record = newest_[Value(partition)];
  RETURN_IF_ERROR(embeddings_->LoadPartition(partition, record.embedding_checksum, loading_));
  return optimizer_->LoadPartition(partition, record.state_checksum, loading_);
}

absl::Status RunTables::CheckLoaded() const {
  RETURN_IF_ERROR(embeddings_->CheckLoaded());
  return optimizer_->CheckLoaded();
}

bool RunTables::IsChanged(PartitionId partition) const {
  return embeddings_->IsChanged(partition) || optimizer_->IsChanged(partition);
}

// Writes a changed partition to the slot that the manifest does not name. Both tables of a partition are always in the
// same slot.
absl::Status RunTables::WriteChanged(PartitionId partition) {
  PartitionRecord& record = newest_[Value(partition)];
  if (!Holds(partition)) return absl::OkStatus();
  if (IsChanged(partition)) {
    ASSIGN_OR_RETURN(record.embedding_checksum, embeddings_->WritePartition(partition));
    ASSIGN_OR_RETURN(record.state_checksum, optimizer_->WritePartition(partition));
    record.slot = embeddings_->NewestSlot(partition);
    record.generation = generation() + 1;
  }
  if (record.slot != embeddings_->NewestSlot(partition) || record.slot != optimizer_->NewestSlot(partition)) {
    return absl::InternalError("a partition was written past RunTables, so its checksums are not known");
  }
  return absl::OkStatus();
}

// After a failed write nobody knows what is on the disk, so nothing may be committed any more: that is the poison.
absl::Status RunTables::EvictPartition(PartitionId partition) {
  if (Value(partition) >= newest_.size()) return embeddings_->EvictPartition(partition);  // its error
  RETURN_IF_ERROR(CheckPoison());
  if (absl::Status status = WriteChanged(partition); !status.ok()) {
    poison_ = status;
    return status;
  }
  RETURN_IF_ERROR(embeddings_->EvictPartition(partition));
  return optimizer_->EvictPartition(partition);
}

// Steps C2 and C3: evicted partitions were written at their eviction; here the resident ones are, then both files are
// synced.
absl::Status RunTables::WritePartitions(Manifest& next) {
  RETURN_IF_ERROR(Failpoint("commit.C2"));
  for (std::uint32_t p = 0; p < newest_.size(); ++p) RETURN_IF_ERROR(WriteChanged(static_cast<PartitionId>(p)));
  next.partitions = newest_;
  next.round = next_round_;
  next.lanes = next_lanes_;
  RETURN_IF_ERROR(Failpoint("commit.C3"));
  if (!sync_) return absl::OkStatus();
  RETURN_IF_ERROR(embeddings_->Sync());
  return optimizer_->Sync();
}

// Step C4. Relations are few and change with every batch, so each commit writes them whole.
absl::Status RunTables::WriteRelations(Manifest& next) {
  RETURN_IF_ERROR(Failpoint("commit.C4"));
  const int slot = 1 - static_cast<int>(next.header.relation_slot);
  next.header.relation_slot = static_cast<std::uint64_t>(slot);
  if (!WritesFolder()) return absl::OkStatus();
  ASSIGN_OR_RETURN(next.header.relation_checksum, relations_.Write(slot, sync_));
  ASSIGN_OR_RETURN(next.header.relation_state_checksum, relation_optimizer_.Write(slot, sync_));
  RETURN_IF_ERROR(WriteLanes(slot, next));
  relation_bytes_written_ += relation_bytes();
  return absl::OkStatus();
}

// Part of step C4: within a round each lane has its own relations.
absl::Status RunTables::WriteLanes(int slot, Manifest& next) {
  if (next.lanes.empty() || next.round.open == 0) return absl::OkStatus();
  RETURN_IF_ERROR(Failpoint("commit.lanes"));
  RETURN_IF_ERROR(lane_relations_.Write(slot, sync_).status());
  RETURN_IF_ERROR(lane_relation_optimizer_.Write(slot, sync_).status());
  const std::vector<std::uint64_t> relations = lane_relations_.Checksums(next.lanes.size());
  const std::vector<std::uint64_t> states = lane_relation_optimizer_.Checksums(next.lanes.size());
  for (std::size_t lane = 0; lane < next.lanes.size(); ++lane) {
    next.lanes[lane].relation_checksum = relations[lane];
    next.lanes[lane].relation_state_checksum = states[lane];
  }
  relation_bytes_written_ += lane_relations_.values().size_bytes() + lane_relation_optimizer_.values().size_bytes();
  return absl::OkStatus();
}

// All steps of a commit in their order. What comes before state_->Write is not visible to a reader; after it the new
// generation stands.
absl::Status RunTables::CommitSteps(const Progress& progress, const ValidationProgress& validation, const Seal& seal) {
  RETURN_IF_ERROR(Failpoint("commit.C1"));
  Manifest next = manifest_;
  ++next.header.generation;
  next.header.progress = progress;
  next.header.validation = validation;
  RETURN_IF_ERROR(WritePartitions(next));
  if (peers_ != nullptr) {
    RETURN_IF_ERROR(peers_->Gather(held_, next, lane_relations_, lane_relation_optimizer_));
    next_lanes_ = next.lanes;
  }
  RETURN_IF_ERROR(WriteRelations(next));
  if (seal) RETURN_IF_ERROR(seal(next.header.progress));
  if (WritesFolder()) RETURN_IF_ERROR(state_->Write(next, sync_));
  RETURN_IF_ERROR(Failpoint("commit.C7"));
  if (peers_ != nullptr) {
    RETURN_IF_ERROR(peers_->Meet());
    FollowOthers(next);
  }
  embeddings_->MarkCommitted();
  optimizer_->MarkCommitted();
  manifest_ = std::move(next);
  // Rows that others send from now on go to the slots that are free after this commit.
  return peers_ == nullptr ? absl::OkStatus() : peers_->Meet();
}

// After a commit of all processes: partitions of others are in the slots that the manifest names. What is no longer in
// this folder is freed, since no process goes back to an older generation any more.
void RunTables::FollowOthers(const Manifest& next) {
  newest_ = next.partitions;
  for (std::uint32_t p = 0; p < newest_.size(); ++p) {
    const auto partition = static_cast<PartitionId>(p);
    if (Holds(partition)) continue;
    const auto slot = static_cast<std::uint8_t>(newest_[p].slot);
    // Also what only passed through since the last commit.
    const bool elsewhere = WritesFolder() && InSeveralFolders() && !IsHere(newest_[p]);
    for (MmapManager* const table : {embeddings_.get(), optimizer_.get()}) {
      table->Follow(partition, slot, /*here=*/false);
      if (elsewhere) table->FreeStored(partition);
    }
  }
}

absl::Status RunTables::Commit(const Progress& progress, const Seal& seal) {
  RETURN_IF_ERROR(CheckPoison());
  poison_ = CommitSteps(progress, validation(), seal);
  return poison_;
}

absl::Status RunTables::CommitValidation(const ValidationProgress& validation, const Seal& seal) {
  RETURN_IF_ERROR(CheckPoison());
  const Progress same = progress();
  poison_ = CommitSteps(same, validation, seal);
  return poison_;
}

absl::Status RunTables::CheckUnchanged() const {
  for (std::uint32_t p = 0; p < newest_.size(); ++p) {
    if (!Holds(static_cast<PartitionId>(p))) continue;
    if (IsChanged(static_cast<PartitionId>(p)) || newest_[p].slot != manifest_.partitions[p].slot) {
      return absl::FailedPreconditionError(
          "rows changed since the last commit: commit them before the run is finished");
    }
  }
  return absl::OkStatus();
}

// Marked as changed, an unchanged partition is written again, to its other slot.
absl::Status RunTables::MoveToFirstSlot(PartitionId partition) {
  if (!Holds(partition)) return absl::OkStatus();
  if (manifest_.partitions[Value(partition)].slot != 0) {
    RETURN_IF_ERROR(LoadPartition(partition));
    embeddings_->MarkChanged(partition);
  }
  return EvictPartition(partition);
}

absl::Status RunTables::Finish() {
  // After a failed commit STATE can hold a manifest that names second files.
  RETURN_IF_ERROR(CheckPoison());
  RETURN_IF_ERROR(CheckUnchanged());
  // Resident partitions come first: after them only one partition at a time is loaded.
  std::vector<PartitionId> partitions;
  for (std::uint32_t p = 0; p < manifest_.partitions.size(); ++p) partitions.push_back(static_cast<PartitionId>(p));
  std::stable_partition(partitions.begin(), partitions.end(),
                        [this](PartitionId p) { return embeddings_->IsResident(p); });
  for (const PartitionId partition : partitions) RETURN_IF_ERROR(MoveToFirstSlot(partition));
  const bool moved = std::ranges::any_of(manifest_.partitions, [](const PartitionRecord& r) { return r.slot != 0; });
  if (moved) RETURN_IF_ERROR(Commit(progress()));
  // Each commit swaps the slots of the relations.
  if (manifest_.header.relation_slot != 0) RETURN_IF_ERROR(Commit(progress()));
  // Others may still open the second files, which would make them again.
  if (peers_ != nullptr) RETURN_IF_ERROR(peers_->Meet());
  RETURN_IF_ERROR(Failpoint("finish.remove"));
  if (!WritesFolder()) return absl::OkStatus();
  for (const TableName table :
       {TableName::kEmbeddings, TableName::kOptimizer, TableName::kRelations, TableName::kRelationOptimizer}) {
    RETURN_IF_ERROR(RemoveFile(paths_.Table(table, 1)));
  }
  for (const std::filesystem::path& scratch :
       {paths_.Gradients(), paths_.TrainedEdges(), paths_.Ranks(), paths_.Table(TableName::kLaneRelations, 0),
        paths_.Table(TableName::kLaneRelations, 1), paths_.Table(TableName::kLaneRelationOptimizer, 0),
        paths_.Table(TableName::kLaneRelationOptimizer, 1)}) {
    RETURN_IF_ERROR(RemoveFile(scratch));
  }
  return sync_ ? SyncFolder(paths_.folder()) : absl::OkStatus();
}

std::uint64_t RunTables::PartitionBytes(PartitionId partition) const {
  const ManifestHeader& header = manifest_.header;
  const std::uint64_t begin = Value(partition) * header.partition_rows;
  const std::uint64_t rows = std::min(header.partition_rows, header.rows - begin);
  return rows * (header.dim * ElementBytes(header.element()) + header.state_width * sizeof(float));
}

std::uint64_t RunTables::relation_bytes() const {
  return relations_.values().size_bytes() + relation_optimizer_.values().size_bytes();
}

std::uint64_t RunTables::bytes_read() const { return embeddings_->bytes_read() + optimizer_->bytes_read(); }

std::uint64_t RunTables::bytes_written() const {
  return embeddings_->bytes_written() + optimizer_->bytes_written() + relation_bytes_written_;
}

}  // namespace octavo
