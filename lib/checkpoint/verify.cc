#include "checkpoint/verify.h"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "base/count_text.h"
#include "base/mutex.h"
#include "base/parallel.h"
#include "base/status.h"
#include "checkpoint/state_file.h"
#include "checkpoint/verify_state.h"
#include "fmt/format.h"
#include "format/npy_header.h"
#include "io/checksum.h"
#include "tables/table_file.h"

namespace octavo {
namespace {

using State = ManifestSlot::State;

constexpr TableName kNodeTables[] = {TableName::kEmbeddings, TableName::kOptimizer};
constexpr TableName kRelationTables[] = {TableName::kRelations, TableName::kRelationOptimizer};
constexpr TableName kLaneTables[] = {TableName::kLaneRelations, TableName::kLaneRelationOptimizer};
// How many times to read rows again that a running training overwrites.
constexpr int kTries = 20;

NpyShape ShapeOf(const Manifest& manifest, TableName table) {
  const ManifestHeader& header = manifest.header;
  switch (table) {
    case TableName::kEmbeddings:
      return {header.rows, header.dim, header.element()};
    case TableName::kOptimizer:
      return {header.rows, header.state_width};
    case TableName::kRelations:
      return {header.relation_rows, header.relation_width};
    case TableName::kRelationOptimizer:
      return {header.relation_rows, header.relation_state_width};
    case TableName::kLaneRelations:
      return {manifest.lanes.size() * header.relation_rows, header.relation_width};
    case TableName::kLaneRelationOptimizer:
      return {manifest.lanes.size() * header.relation_rows, header.relation_state_width};
  }
  return {};
}

// An unchanged record means that no commit has written the partition since: its slot has not been touched.
bool SameRecord(const PartitionRecord& a, const PartitionRecord& b) {
  return a.slot == b.slot && a.generation == b.generation && a.embedding_checksum == b.embedding_checksum &&
         a.state_checksum == b.state_checksum;
}

// The newest manifest read so far. Thread-safe.
class NewestCommit {
 public:
  NewestCommit(const RunPaths& paths, Manifest manifest) : path_(paths.State()), manifest_(std::move(manifest)) {}

  std::uint64_t generation() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    return manifest_.header.generation;
  }
  PartitionRecord Record(std::size_t partition) const ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    return manifest_.partitions[partition];
  }
  bool IsHere(const PartitionRecord& record) const ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    return manifest_.IsHere(record);
  }
  Manifest Copy() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    return manifest_;
  }

  // Reads STATE again. Returns an error if it belongs to another run now.
  absl::Status Refresh() ABSL_LOCKS_EXCLUDED(mutex_) {
    // Without holding the mutex: this waits while a slot is being written.
    ASSIGN_OR_RETURN(const auto slots, ReadSettledSlots(path_));
    const MutexLock lock(mutex_);
    bool another_run = false;
    bool same_run = false;
    for (const ManifestSlot& slot : slots) {
      if (slot.state != State::kValid) continue;
      const bool same = IsSameRun(slot.manifest.header, manifest_.header);
      (same ? same_run : another_run) = true;
      if (same && slot.manifest.header.generation > manifest_.header.generation) manifest_ = slot.manifest;
    }
    if (another_run && !same_run) {
      return RuntimeError(fmt::format("{}: another run is there now; check it again", path_.string()));
    }
    return absl::OkStatus();
  }

 private:
  const std::filesystem::path path_;
  mutable Mutex mutex_;
  Manifest manifest_ ABSL_GUARDED_BY(mutex_);
};

class TablesCheck {
 public:
  TablesCheck(const RunPaths& paths, const CommitCheckOptions& options, const Manifest& manifest, CheckReport& report)
      : paths_(paths),
        options_(options),
        report_(report),
        newest_(paths, manifest),
        checked_(2 * manifest.partitions.size()) {}

  absl::Status Run() {
    const std::uint64_t first = newest_.generation();
    CheckFiles();
    CheckPartitions();
    CheckRelations();
    // Commits in the meantime: checks the partitions that they changed, as they left them.
    for (int round = 0; round < kRounds; ++round) {
      const std::uint64_t before = newest_.generation();
      RETURN_IF_ERROR(Refresh());
      if (newest_.generation() == before) break;
      CheckPartitions();
      CheckRelations();
    }
    RETURN_IF_ERROR(error());
    CountFiles();
    commits_ = newest_.generation() - first;
    return absl::OkStatus();
  }

  std::uint64_t commits() const { return commits_; }
  Manifest manifest() const { return newest_.Copy(); }

 private:
  // How often to check the changes of commits made in the meantime; a training may commit faster than this checks.
  static constexpr int kRounds = 3;

  absl::Status Refresh() {
    absl::Status status = newest_.Refresh();
    if (!status.ok()) {
      const MutexLock lock(mutex_);
      if (error_.ok()) error_ = status;
    }
    return status;
  }
  absl::Status error() const {
    const MutexLock lock(mutex_);
    return error_;
  }

  std::filesystem::path FileOf(TableName table, std::uint64_t slot) const {
    return paths_.Table(table, static_cast<int>(slot));
  }

  bool Names(TableName table, std::uint64_t slot) const {
    const Manifest manifest = newest_.Copy();
    const bool of_lanes = std::ranges::find(kLaneTables, table) != std::end(kLaneTables);
    if (of_lanes || std::ranges::find(kRelationTables, table) != std::end(kRelationTables)) {
      return manifest.header.relation_slot == slot && (!of_lanes || manifest.round.open == 1);
    }
    return std::ranges::any_of(manifest.partitions, [&](const PartitionRecord& record) {
      return record.slot == slot && manifest.IsHere(record);
    });
  }

  // Checks header and size of each file that the newest manifest names.
  void CheckFiles() {
    for (const TableName table :
         // A commit may replace a file while it is checked: a fault counts only if the newest manifest is still the
         // same afterwards.
         {TableName::kEmbeddings, TableName::kOptimizer, TableName::kRelations, TableName::kRelationOptimizer,
          TableName::kLaneRelations, TableName::kLaneRelationOptimizer}) {
      for (const std::uint64_t slot : {0U, 1U}) {
        for (int tries = 0; tries < kTries && Names(table, slot); ++tries) {
          const std::uint64_t generation = newest_.generation();
          const absl::Status status = CheckHeader(FileOf(table, slot), ShapeOf(newest_.Copy(), table));
          if (status.ok() || !Refresh().ok()) break;
          if (newest_.generation() != generation) continue;
          report_.Fault(FileOf(table, slot), "", status);
          break;
        }
      }
    }
  }

  absl::Status CheckHeader(const std::filesystem::path& path, const NpyShape& shape) const {
    ASSIGN_OR_RETURN(PieceReader reader, PieceReader::Open(path, options_.reading));
    ASSIGN_OR_RETURN(const std::uint64_t bytes, NpyFileBytes(shape));
    if (reader.size() != bytes) {
      return CorruptError(fmt::format("{} bytes; expected {} for a shape of ({}, {})", reader.size(), bytes, shape.rows,
                                      shape.columns));
    }
    ASSIGN_OR_RETURN(const auto head, reader.Bytes(0, kNpyHeaderBytes));
    ASSIGN_OR_RETURN(const NpyShape found, DecodeNpyHeader(head, path.string()));
    if (found.element != shape.element) {
      return CorruptError(
          fmt::format("values of {}; expected {}", ElementName(found.element), ElementName(shape.element)));
    }
    if (found != shape) {
      return CorruptError(
          fmt::format("shape ({}, {}); expected ({}, {})", found.rows, found.columns, shape.rows, shape.columns));
    }
    if (!std::ranges::equal(head, EncodeNpyHeader(shape))) {
      return CorruptError("a header that octavo did not write; expected its own, byte for byte");
    }
    return absl::OkStatus();
  }

  void CheckPartitions() {
    const std::size_t partitions = checked_.size() / 2;
    ParallelEach(0, checked_.size(),
                 [&](std::size_t i) { CheckPartition(kNodeTables[i / partitions], i % partitions, i); });
  }

  // Checks one partition of one table, unless its newest record has been checked before.
  void CheckPartition(TableName table, std::size_t partition, std::size_t index) {
    for (int tries = 0; tries < kTries; ++tries) {
      const PartitionRecord record = newest_.Record(partition);
      if (!newest_.IsHere(record)) return;
      if (checked_[index] && SameRecord(*checked_[index], record)) return;
      const absl::Status status = CompareRows(table, partition, record);
      if (status.ok()) {
        checked_[index] = record;
        return;
      }
      if (!Refresh().ok()) return;
      if (!SameRecord(newest_.Record(partition), record)) continue;  // a commit came in between
      checked_[index] = record;
      const std::filesystem::path path = FileOf(table, record.slot);
      std::error_code error;
      if (!std::filesystem::exists(path, error)) return;  // CheckFiles has reported the file as a whole
      report_.Fault(path, PlaceOf(table, partition), status);
      return;
    }
    report_.Note(fmt::format("{}: {}: commits came faster than it could be read; check it again",
                             FileOf(table, 0).string(), PlaceOf(table, partition)));
  }

  std::string PlaceOf(TableName table, std::size_t partition) const {
    const Manifest manifest = newest_.Copy();
    const NpyShape shape = ShapeOf(manifest, table);
    const std::uint64_t first = partition * manifest.header.partition_rows;
    return fmt::format("partition {} (rows {} on, byte {} on)", partition, first, RowOffset(shape, first));
  }

  absl::Status CompareRows(TableName table, std::size_t partition, const PartitionRecord& record) const {
    const Manifest manifest = newest_.Copy();
    const ManifestHeader& header = manifest.header;
    const std::uint64_t first = partition * header.partition_rows;
    const std::uint64_t last = std::min(first + header.partition_rows, header.rows);
    return CompareChecksum(FileOf(table, record.slot), ShapeOf(manifest, table), first, last,
                           table == TableName::kEmbeddings ? record.embedding_checksum : record.state_checksum);
  }

  // Compares rows [first, last) with their checksum.
  absl::Status CompareChecksum(const std::filesystem::path& path, const NpyShape& shape, std::uint64_t first,
                               std::uint64_t last, std::uint64_t expected) const {
    ASSIGN_OR_RETURN(PieceReader reader, PieceReader::Open(path, options_.reading));
    StreamingChecksum64 checksum;
    RETURN_IF_ERROR(reader.Read(RowOffset(shape, first), RowOffset(shape, last), [&](std::span<const std::byte> piece) {
      checksum.Update(piece);
      if (options_.progress) options_.progress(piece.size());
      return absl::OkStatus();
    }));
    if (const std::uint64_t found = checksum.Digest(); found != expected) {
      return CorruptError(fmt::format("checksum {:016x}; expected {:016x}", found, expected));
    }
    return absl::OkStatus();
  }

  // Compares the relations in `table` with their checksums: of all rows, or of each lane's.
  absl::Status CompareRelations(const Manifest& manifest, TableName table) const {
    const ManifestHeader& header = manifest.header;
    const auto compare = [&](std::uint64_t part, std::uint64_t expected) {
      return CompareChecksum(FileOf(table, header.relation_slot), ShapeOf(manifest, table), part * header.relation_rows,
                             (part + 1) * header.relation_rows, expected);
    };
    if (table == TableName::kRelations) return compare(0, header.relation_checksum);
    if (table == TableName::kRelationOptimizer) return compare(0, header.relation_state_checksum);
    for (std::size_t lane = 0; lane < manifest.lanes.size(); ++lane) {
      const LaneRecord& record = manifest.lanes[lane];
      RETURN_IF_ERROR(compare(
          lane, table == TableName::kLaneRelations ? record.relation_checksum : record.relation_state_checksum));
    }
    return absl::OkStatus();
  }

  // Each commit rewrites all relations, so all of them are compared with the same commit.
  void CheckRelations() {
    for (const TableName table : {TableName::kRelations, TableName::kRelationOptimizer, TableName::kLaneRelations,
                                  TableName::kLaneRelationOptimizer}) {
      bool done = false;
      for (int tries = 0; tries < kTries && !done; ++tries) {
        const Manifest manifest = newest_.Copy();
        const ManifestHeader& header = manifest.header;
        if (!Names(table, header.relation_slot)) break;
        const std::filesystem::path path = FileOf(table, header.relation_slot);
        const absl::Status status = CompareRelations(manifest, table);
        if (status.ok()) break;
        if (!Refresh().ok()) return;
        done = newest_.generation() == header.generation;
        std::error_code error;
        if (done && std::filesystem::exists(path, error)) {
          report_.Fault(path, fmt::format("rows 0 to {}, byte {} on", ShapeOf(manifest, table).rows, kNpyHeaderBytes),
                        status);
        }
      }
    }
  }

  // Reports how much of each file the newest manifest names.
  void CountFiles() {
    const Manifest manifest = newest_.Copy();
    if (const absl::Status whole = CheckWholeRun(manifest, paths_.State().string()); !whole.ok()) {
      report_.Note(std::string(MessageOf(whole)));
    }
    const ManifestHeader& header = manifest.header;
    for (const std::uint64_t slot : {0U, 1U}) {
      std::uint64_t rows = 0;
      std::uint64_t partitions = 0;
      for (std::uint64_t p = 0; p < manifest.partitions.size(); ++p) {
        if (manifest.partitions[p].slot != slot || !manifest.IsHere(manifest.partitions[p])) continue;
        rows += std::min(header.partition_rows, header.rows - p * header.partition_rows);
        ++partitions;
      }
      for (const TableName table : kNodeTables) {
        if (partitions == 0) continue;
        report_.Checked(FileOf(table, slot), RowOffset(ShapeOf(manifest, table), rows),
                        fmt::format("{} of {}", partitions, CountText(manifest.partitions.size(), "partition")));
      }
    }
    for (const TableName table : kRelationTables) {
      const NpyShape shape = ShapeOf(manifest, table);
      report_.Checked(FileOf(table, header.relation_slot), RowOffset(shape, shape.rows),
                      CountText(header.relation_rows, "relation"));
    }
    for (const TableName table : kLaneTables) {
      if (!Names(table, header.relation_slot)) continue;
      const NpyShape shape = ShapeOf(manifest, table);
      report_.Checked(
          FileOf(table, header.relation_slot), RowOffset(shape, shape.rows),
          fmt::format("{} of {} lanes", CountText(header.relation_rows, "relation"), manifest.lanes.size()));
    }
  }

  const RunPaths paths_;
  const CommitCheckOptions& options_;
  CheckReport& report_;
  NewestCommit newest_;
  // The record that each partition was last compared with: embeddings, then optimizer state. One worker per entry.
  std::vector<std::optional<PartitionRecord>> checked_;
  mutable Mutex mutex_;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t commits_ = 0;
};

}  // namespace

absl::StatusOr<CheckedCommit> VerifyCommit(const RunPaths& paths, const CommitCheckOptions& options,
                                           CheckReport& report) {
  CheckedCommit commit = VerifyState(paths, options, report);
  if (!commit.manifest) return commit;
  TablesCheck tables(paths, options, *commit.manifest, report);
  RETURN_IF_ERROR(tables.Run());
  commit.manifest = tables.manifest();
  commit.commits_meanwhile = tables.commits();
  return commit;
}

absl::Status RewriteTornSlot(const RunPaths& paths, const CheckedCommit& commit, const RunLock&) {
  Manifest manifest;
  // Open writes the newest manifest again and syncs it before the next one builds on it.
  ASSIGN_OR_RETURN(StateFile state, StateFile::Open(paths.State(), /*sync=*/true, manifest));
  if (!commit.torn_slot || manifest.header.generation != commit.manifest->header.generation) {
    return RuntimeError(fmt::format("{}: changed since it was checked; check it again", paths.State().string()));
  }
  ++manifest.header.generation;
  return state.Write(manifest, /*sync=*/true);
}

}  // namespace octavo
