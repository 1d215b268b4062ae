#include "export/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "base/parallel.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// Linux transfers at most 2,147,479,552 bytes per call; a round number below that.
constexpr std::size_t kMaxTransferBytes = std::size_t{1} << 30;

constexpr std::size_t kPieceBytes = 256 << 10;  // the largest useful window of zstd's default level
constexpr std::size_t kBatchPieces = 8;         // compressed in parallel

// All partial files of this process.
struct {
  Mutex mutex;
  std::set<fs::path> paths ABSL_GUARDED_BY(mutex);
} partial_files;

}  // namespace

absl::StatusOr<OutputFile> OutputFile::Open(const std::string& path, Compression compression) {
  if (path == "-") {
    OutputFile output("standard output");
    output.stream_ = STDOUT_FILENO;
    return output;
  }
  OutputFile output(path);
  output.compression_ = compression;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return UsageError(fmt::format("{}: is a folder; expected the name of a file", path));
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    output.stream_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (output.stream_ < 0) return ErrnoError(fmt::format("{}: open", path), errno);
    output.owns_stream_ = true;
    return output;
  }
  // A link stays; the file that it points to is replaced.
  output.replaces_ = fs::exists(status);
  output.final_ = output.replaces_ ? fs::canonical(path, error) : fs::path(path);
  const fs::path folder = output.final_.parent_path();
  if (!folder.empty() && !fs::is_directory(folder, error)) {
    return UsageError(fmt::format("{}: no folder {} to write it in", path, folder.string()));
  }
  RemoveAbandonedFiles(output.final_);
  // A name that nobody else uses: other files beside it, and other exports to the same path, stay untouched.
  const MutexLock lock(partial_files.mutex);  // so that RemovePartialFiles cannot run in between
  ASSIGN_OR_RETURN(PartialName partial, MakePartial(output.final_, [&](const fs::path& name) -> absl::StatusOr<bool> {
                     const absl::Status made = File::CreateNew(name).status();
                     std::error_code ignored;
                     if (!made.ok() && !fs::exists(fs::symlink_status(name, ignored))) {
                       return UnderFinalName(made, name, output.name_);
                     }
                     return made.ok();
                   }));
  partial_files.paths.insert(partial.path);
  output.partial_ = std::move(partial.path);
  output.lock_.emplace(std::move(partial.lock));
  // Opened by name while the lock prevents its removal: the file may have been made again since the first attempt.
  ASSIGN_OR_RETURN(output.file_, File::OpenReadWrite(output.partial_));
  if (output.replaces_) fs::permissions(output.partial_, status.permissions(), error);  // a private file stays private
  return output;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : name_(std::move(other.name_)),
      final_(std::move(other.final_)),
      partial_(std::exchange(other.partial_, {})),
      lock_(std::move(other.lock_)),
      file_(std::move(other.file_)),
      stream_(std::exchange(other.stream_, -1)),
      owns_stream_(std::exchange(other.owns_stream_, false)),
      replaces_(other.replaces_),
      bytes_(other.bytes_),
      compression_(other.compression_),
      pending_(std::move(other.pending_)),
      behind_(other.behind_) {}

OutputFile::~OutputFile() {
  if (!partial_.empty()) {
    const MutexLock lock(partial_files.mutex);
    ::unlink(partial_.c_str());
    partial_files.paths.erase(partial_);
  }
  if (owns_stream_) ::close(stream_);
}

absl::Status OutputFile::Append(std::span<const std::byte> bytes) {
  if (!compressed()) return Write(bytes);
  while (!bytes.empty()) {
    const std::size_t taken = std::min(bytes.size(), kBatchPieces * kPieceBytes - pending_.size());
    pending_.append(reinterpret_cast<const char*>(bytes.data()), taken);
    bytes = bytes.subspan(taken);
    if (pending_.size() == kBatchPieces * kPieceBytes) RETURN_IF_ERROR(Compress());
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Compress() {
  std::vector<absl::StatusOr<std::string>> pieces(
      std::max<std::size_t>(1, (pending_.size() + kPieceBytes - 1) / kPieceBytes));
  ParallelEach(0, pieces.size(), [&](std::size_t i) {
    pieces[i] = CompressPiece(compression_, pending_.substr(i * kPieceBytes, kPieceBytes));
  });
  pending_.clear();
  for (const absl::StatusOr<std::string>& piece : pieces) {
    RETURN_IF_ERROR(piece.status());
    RETURN_IF_ERROR(Write(std::as_bytes(std::span<const char>(*piece))));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Write(std::span<const std::byte> bytes) {
  RETURN_IF_ERROR(file_.is_open() ? UnderName(file_.WriteAt(bytes_, bytes)) : WriteToStream(bytes));
  bytes_ += bytes.size();
  if (behind_ && file_.is_open()) return UnderName(behind_->Advance(file_, bytes_));
  return absl::OkStatus();
}

absl::Status OutputFile::WriteToStream(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(stream_, bytes.data(), std::min(bytes.size(), kMaxTransferBytes));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EPIPE) {
      return RuntimeError(fmt::format("{}: the reader closed the pipe after {} bytes", name_, bytes_));
    }
    if (put < 0) return ErrnoError(fmt::format("{}: write", name_), errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Finish() {
  // Compressed empty output is one empty frame.
  if (compressed() && (!pending_.empty() || bytes_ == 0)) RETURN_IF_ERROR(Compress());
  if (!file_.is_open()) {
    if (!owns_stream_) return absl::OkStatus();
    owns_stream_ = false;
    if (::close(std::exchange(stream_, -1)) != 0) return ErrnoError(fmt::format("{}: close", name_), errno);
    return absl::OkStatus();
  }
  if (behind_) RETURN_IF_ERROR(UnderName(behind_->Finish(file_, bytes_)));
  RETURN_IF_ERROR(UnderName(file_.Sync()));
  return UnderName(file_.Close());
}

absl::Status OutputFile::Commit() {
  OutputFile* const self = this;
  return CommitAll({&self, 1});
}

absl::Status OutputFile::CommitAll(std::span<OutputFile* const> files) {
  for (OutputFile* const file : files) RETURN_IF_ERROR(file->Finish());
  // Held for all renames: a signal between two of them would leave a new file beside an old one.
  const MutexLock lock(partial_files.mutex);
  // A kill cannot be held off. It must not leave files of two outputs that look like one: the last file, without which
  // the others are useless, is missing meanwhile.
  if (files.size() > 1 && !files.back()->partial_.empty()) {
    const fs::path& last = files.back()->final_;
    RETURN_IF_ERROR(RemoveFile(last));
    RETURN_IF_ERROR(SyncFolder(last.parent_path()));
  }
  for (OutputFile* const file : files) {
    if (file->partial_.empty()) continue;  // a stream has none
    RETURN_IF_ERROR(RenameFile(file->partial_, file->final_));
    partial_files.paths.erase(file->partial_);
    file->partial_.clear();
    RETURN_IF_ERROR(SyncFolder(file->final_.parent_path()));
  }
  return absl::OkStatus();
}

void OutputFile::RemovePartialFiles() {
  const MutexLock lock(partial_files.mutex);
  for (const fs::path& path : partial_files.paths) ::unlink(path.c_str());
}

}  // namespace octavo
