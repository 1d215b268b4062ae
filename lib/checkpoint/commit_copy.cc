#include "checkpoint/commit_copy.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status.h"
#include "checkpoint/run_lock.h"
#include "checkpoint/state_file.h"
#include "fmt/format.h"
#include "format/known_rows.h"
#include "format/manifest.h"
#include "format/sealed_lines.h"
#include "io/checksum.h"
#include "io/failpoint.h"
#include "io/file.h"
#include "io/write_behind.h"
#include "tables/table_file.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPieceBytes = std::uint64_t{4} << 20;

// Copies one table into the first file of another run. Reads each partition from the file that the commit names.
class TableCopy {
 public:
  TableCopy(const RunPaths& from, const RunPaths& to, TableName table, const NpyShape& shape)
      : from_(from), to_(to), table_(table), shape_(shape) {}

  absl::Status Open() {
    ASSIGN_OR_RETURN(out_, CreateTableFile(to_.Table(table_, 0), shape_));
    return absl::OkStatus();
  }

  // Copies rows [first, last) from file `slot` and compares them with their checksum.
  absl::Status Copy(int slot, std::uint64_t first, std::uint64_t last, std::uint64_t expected_checksum) {
    File& in = in_[static_cast<std::size_t>(slot)];
    if (!in.is_open()) {
      ASSIGN_OR_RETURN(in, OpenTableFile(from_.Table(table_, slot), shape_, /*writable=*/false));
    }
    StreamingChecksum64 checksum;
    const std::uint64_t end = RowOffset(shape_, last);
    for (std::uint64_t at = RowOffset(shape_, first); at < end;) {
      const std::uint64_t bytes = std::min(kPieceBytes, end - at);
      piece_.resize(bytes);
      RETURN_IF_ERROR(in.ReadAt(at, piece_));
      checksum.Update(piece_);
      RETURN_IF_ERROR(out_.WriteAt(at, piece_));
      in.DropBehind(at, bytes);
      at += bytes;
      RETURN_IF_ERROR(cache_.Advance(out_, at));
    }
    if (checksum.Digest() == expected_checksum) return absl::OkStatus();
    return CorruptError(fmt::format("{}: rows {} to {}: checksum {:016x}; expected {:016x}",
                                    from_.Table(table_, slot).string(), first, last - 1, checksum.Digest(),
                                    expected_checksum));
  }

  absl::Status Finish(bool sync) {
    RETURN_IF_ERROR(cache_.Finish(out_, RowOffset(shape_, shape_.rows)));
    if (sync) RETURN_IF_ERROR(out_.Sync());
    return out_.Close();
  }

 private:
  const RunPaths& from_;
  const RunPaths& to_;
  const TableName table_;
  const NpyShape shape_;
  File in_[2];
  File out_;
  WriteBehind cache_;
  std::vector<std::byte> piece_;
};

// A commit's rows may be in both files of a table, in any pattern; the copy has all of them in its first.
absl::Status CopyRows(const RunPaths& from, const RunPaths& to, const Manifest& manifest, bool sync) {
  const ManifestHeader& header = manifest.header;
  TableCopy embeddings(from, to, TableName::kEmbeddings, {header.rows, header.dim, header.element()});
  TableCopy states(from, to, TableName::kOptimizer, {header.rows, header.state_width});
  RETURN_IF_ERROR(embeddings.Open());
  RETURN_IF_ERROR(states.Open());
  for (std::size_t p = 0; p < manifest.partitions.size(); ++p) {
    const PartitionRecord& record = manifest.partitions[p];
    const std::uint64_t first = p * header.partition_rows;
    const std::uint64_t last = std::min(first + header.partition_rows, header.rows);
    const int slot = static_cast<int>(record.slot);
    RETURN_IF_ERROR(embeddings.Copy(slot, first, last, record.embedding_checksum));
    RETURN_IF_ERROR(states.Copy(slot, first, last, record.state_checksum));
  }
  RETURN_IF_ERROR(embeddings.Finish(sync));
  return states.Finish(sync);
}

absl::Status CopyRelations(const RunPaths& from, const RunPaths& to, const ManifestHeader& header, bool sync) {
  const int slot = static_cast<int>(header.relation_slot);
  TableCopy relations(from, to, TableName::kRelations, {header.relation_rows, header.relation_width});
  TableCopy states(from, to, TableName::kRelationOptimizer, {header.relation_rows, header.relation_state_width});
  RETURN_IF_ERROR(relations.Open());
  RETURN_IF_ERROR(states.Open());
  RETURN_IF_ERROR(relations.Copy(slot, 0, header.relation_rows, header.relation_checksum));
  RETURN_IF_ERROR(states.Copy(slot, 0, header.relation_rows, header.relation_state_checksum));
  RETURN_IF_ERROR(relations.Finish(sync));
  return states.Finish(sync);
}

// Copies the first `bytes` bytes and appends `event`.
absl::Status CopyBytes(const fs::path& from, const fs::path& to, std::uint64_t bytes, std::string_view event,
                       bool sync) {
  ASSIGN_OR_RETURN(const File in, File::OpenRead(from));
  ASSIGN_OR_RETURN(File out, File::Create(to));
  std::vector<std::byte> piece;
  for (std::uint64_t at = 0; at < bytes; at += piece.size()) {
    piece.resize(std::min(kPieceBytes, bytes - at));
    RETURN_IF_ERROR(in.ReadAt(at, piece));
    RETURN_IF_ERROR(out.WriteAt(at, piece));
  }
  RETURN_IF_ERROR(out.WriteAt(bytes, std::as_bytes(std::span<const char>(event))));
  if (sync) RETURN_IF_ERROR(out.Sync());
  return out.Close();
}

absl::Status MakeCopy(const RunPaths& from, const RunPaths& to, const CopyAddition& addition, bool sync) {
  constexpr std::uint64_t kMostConfigurationBytes = std::uint64_t{1} << 20;
  ASSIGN_OR_RETURN(Manifest manifest, ReadNewestManifest(from.State()));
  RETURN_IF_ERROR(Failpoint("copy.rows"));
  RETURN_IF_ERROR(CopyRows(from, to, manifest, sync));
  RETURN_IF_ERROR(CopyRelations(from, to, manifest.header, sync));
  ASSIGN_OR_RETURN(const std::string configuration, ReadWholeFile(from.Configuration(), kMostConfigurationBytes));
  RETURN_IF_ERROR(WriteWholeFileAtomically(to.Configuration(), configuration));
  ASSIGN_OR_RETURN(const bool has_known_rows, FileExists(from.KnownRows()));
  if (has_known_rows) {
    const std::uint64_t bytes = KnownRows::FileBytes(manifest.header.rows, manifest.header.relation_rows);
    RETURN_IF_ERROR(CopyBytes(from.KnownRows(), to.KnownRows(), bytes, "", sync));
  }
  // Only committed events: later ones belong to work that may be repeated.
  std::uint64_t& events = manifest.header.progress.metrics_bytes;
  const std::string event = SealLine(addition.event, events);
  RETURN_IF_ERROR(CopyBytes(from.Metrics(), to.Metrics(), events, event, sync));
  events += event.size();
  manifest.header.validation = addition.validation;
  // In the copy all rows are in the first file of each table.
  for (PartitionRecord& record : manifest.partitions) record.slot = 0;
  manifest.header.relation_slot = 0;
  RETURN_IF_ERROR(Failpoint("copy.state"));
  // Writes both slots, as in any other run. The older manifest names the same rows.
  const std::uint64_t generation = manifest.header.generation;
  manifest.header.generation = std::max<std::uint64_t>(1, generation - 1);
  ASSIGN_OR_RETURN(StateFile state, StateFile::Create(to.State(), manifest));
  manifest.header.generation = generation;
  if (generation > 1) RETURN_IF_ERROR(state.Write(manifest, sync));
  return sync ? SyncFolder(to.folder()) : absl::OkStatus();
}

absl::Status RemoveFilesOf(const RunPaths& paths) {
  for (const fs::path& path : paths.All()) RETURN_IF_ERROR(RemoveFile(path));
  for (const fs::path& path : paths.WrittenWhole()) RETURN_IF_ERROR(RemoveFile(PartialPath(path)));
  return absl::OkStatus();
}

// Moves the files of a run to the folder `to`, which has no run, STATE last: without it the others are not a run.
absl::Status MoveFilesOf(const RunPaths& from, const RunPaths& to, bool sync) {
  for (const fs::path& path : from.All()) {
    ASSIGN_OR_RETURN(const bool there, FileExists(path));
    if (there && path != from.State()) RETURN_IF_ERROR(RenameFile(path, to.folder() / path.filename()));
  }
  if (sync) RETURN_IF_ERROR(SyncFolder(to.folder()));
  RETURN_IF_ERROR(RenameFile(from.State(), to.State()));
  return sync ? SyncFolder(to.folder()) : absl::OkStatus();
}

// Moves the run `from` to the folder `to`. The previous contents of `to` are afterwards at `from` if the file system
// can exchange names; otherwise they are removed. The folder itself cannot be replaced then: on a network file system
// it still has its removed files, under other names, while some process has them open.
absl::Status TakePlace(const RunPaths& from, const RunPaths& to, bool sync) {
  std::error_code ignored;
  if (!fs::exists(to.folder(), ignored)) return RenameFile(from.folder(), to.folder());
  // Taking the lock fails if another process has the previous copy open; it is then kept.
  ASSIGN_OR_RETURN(const RunLock lock, RunLock::Take(to.Lock()));
  ASSIGN_OR_RETURN(const bool exchanged, ExchangeFiles(from.folder(), to.folder()));
  if (exchanged) return absl::OkStatus();
  RETURN_IF_ERROR(RemoveFilesOf(to));
  return MoveFilesOf(from, to, sync);
}

// Whether both folders have a run, and the same one. A STATE that cannot be read is an error.
absl::StatusOr<bool> AreOneRun(const RunPaths& a, const RunPaths& b) {
  for (const RunPaths& paths : {a, b}) {
    ASSIGN_OR_RETURN(const bool there, FileExists(paths.State()));
    if (!there) return false;
  }
  ASSIGN_OR_RETURN(const Manifest of_a, ReadNewestManifest(a.State()));
  ASSIGN_OR_RETURN(const Manifest of_b, ReadNewestManifest(b.State()));
  return of_a.header.run_id == of_b.header.run_id;
}

absl::Status CheckIsCopy(const RunPaths& from, const RunPaths& place) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(place.folder(), error);
  if (status.type() == fs::file_type::not_found) return absl::OkStatus();
  const std::string folder = place.folder().string();
  if (!fs::is_directory(status)) {
    return UsageError(fmt::format(
        "{}: is not a folder, but the run of the best validation is stored there; move it, or choose another "
        "folder for the run",
        folder));
  }
  ASSIGN_OR_RETURN(const bool there, FileExists(place.State()));
  if (!there) return absl::OkStatus();
  ASSIGN_OR_RETURN(const bool same, AreOneRun(from, place));
  if (same) return absl::OkStatus();
  return UsageError(fmt::format(
      "{}: holds another run, but the run of the best validation is stored there; move it, or choose another "
      "folder for the "
      "run",
      folder));
}

// In this place a STATE that cannot be read is what a power cut has left of a copy. A STATE of `from` that cannot be
// read is an error.
absl::Status CheckIsUnfinishedCopy(const RunPaths& from, const RunPaths& place) {
  absl::Status status = CheckIsCopy(from, place);
  if (status.ok() || KindOf(status) != ErrorKind::kCorrupt) return status;
  RETURN_IF_ERROR(ReadNewestManifest(from.State()).status());
  return absl::OkStatus();
}

}  // namespace

absl::Status RemoveRunFolder(const RunPaths& paths) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(paths.folder(), error))) return absl::OkStatus();
  {
    ASSIGN_OR_RETURN(const RunLock lock, RunLock::Take(paths.Lock()));
    RETURN_IF_ERROR(RemoveFilesOf(paths));
  }
  // On a network file system LOCK stays in the folder, under another name, while it is open.
  return RemoveFolderIfEmpty(paths.folder());
}

absl::Status RemoveUnfinishedCopy(const RunPaths& from, const RunPaths& copy) {
  const RunPaths unfinished = copy.Unfinished();
  if (!CheckIsUnfinishedCopy(from, unfinished).ok()) return absl::OkStatus();
  return RemoveRunFolder(unfinished);
}

absl::Status CheckCopyPlace(const RunPaths& from, const RunPaths& copy) {
  RETURN_IF_ERROR(CheckIsCopy(from, copy));
  return CheckIsUnfinishedCopy(from, copy.Unfinished());
}

absl::Status CopyCommit(const RunPaths& from, const RunPaths& to, const CopyAddition& addition, bool sync) {
  const RunPaths unfinished = to.Unfinished();
  RETURN_IF_ERROR(CheckCopyPlace(from, to));
  RETURN_IF_ERROR(RemoveRunFolder(unfinished));
  RETURN_IF_ERROR(CreateFolders(unfinished.folder()));
  if (absl::Status status = MakeCopy(from, unfinished, addition, sync); !status.ok()) {
    static_cast<void>(RemoveRunFolder(unfinished));  // it may contribute to a full disk
    return status;
  }
  // The copy is complete and, with `sync`, on the disk. Only now is the previous one replaced.
  RETURN_IF_ERROR(Failpoint("copy.rename"));
  RETURN_IF_ERROR(TakePlace(unfinished, to, sync));
  if (sync) RETURN_IF_ERROR(SyncFolder(to.folder().parent_path()));
  RETURN_IF_ERROR(Failpoint("copy.remove"));
  return RemoveRunFolder(unfinished);
}

}  // namespace octavo
