#include "export/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// Linux transfers at most 2,147,479,552 bytes a call; stay below with a round number.
constexpr std::size_t kMaxTransferBytes = std::size_t{1} << 30;

}  // namespace

absl::StatusOr<OutputFile> OutputFile::Open(const std::string& path) {
  if (path == "-") {
    OutputFile output("standard output");
    output.stream_ = STDOUT_FILENO;
    return output;
  }
  OutputFile output(path);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return UsageError(fmt::format("{}: is a folder; expected the name of a file", path));
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    output.stream_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (output.stream_ < 0) return ErrnoError(fmt::format("{}: open", path), errno);
    output.owns_stream_ = true;
    return output;
  }
  // Through a link, the file that it points to is replaced, not the link.
  output.final_ = fs::exists(status) ? fs::canonical(path, error) : fs::path(path);
  const fs::path folder = output.final_.parent_path();
  if (!folder.empty() && !fs::is_directory(folder, error)) {
    return UsageError(fmt::format("{}: no folder {} to write it in", path, folder.string()));
  }
  // A name of this process's own: a file that somebody has beside the output, or another export to it, stays untouched.
  const fs::path partial = folder / fmt::format(".{}.partial-{}", output.final_.filename().string(), ::getpid());
  ::unlink(partial.c_str());  // of a dead process that had the same number
  ASSIGN_OR_RETURN(output.file_, File::CreateNew(partial));
  output.partial_ = partial;
  return output;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : name_(std::move(other.name_)),
      final_(std::move(other.final_)),
      partial_(std::exchange(other.partial_, {})),
      file_(std::move(other.file_)),
      stream_(std::exchange(other.stream_, -1)),
      owns_stream_(std::exchange(other.owns_stream_, false)),
      bytes_(other.bytes_),
      behind_(other.behind_) {}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (!partial_.empty()) fs::remove(partial_, ignored);
  if (owns_stream_) ::close(stream_);
}

absl::Status OutputFile::Append(std::span<const std::byte> bytes) {
  RETURN_IF_ERROR(file_.is_open() ? file_.WriteAt(bytes_, bytes) : AppendToStream(bytes));
  bytes_ += bytes.size();
  if (behind_ && file_.is_open()) return behind_->Advance(file_, bytes_);
  return absl::OkStatus();
}

absl::Status OutputFile::AppendToStream(std::span<const std::byte> bytes) {
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

absl::Status OutputFile::Commit() {
  if (!file_.is_open()) {
    if (!owns_stream_) return absl::OkStatus();
    owns_stream_ = false;
    if (::close(std::exchange(stream_, -1)) != 0) return ErrnoError(fmt::format("{}: close", name_), errno);
    return absl::OkStatus();
  }
  if (behind_) RETURN_IF_ERROR(behind_->Finish(file_, bytes_));
  RETURN_IF_ERROR(file_.Sync());
  RETURN_IF_ERROR(file_.Close());
  std::error_code error;
  fs::rename(partial_, final_, error);
  if (error) return ErrnoError(fmt::format("{}: rename to {}", partial_.string(), final_.string()), error.value());
  partial_.clear();
  return SyncFolder(final_.parent_path());
}

}  // namespace octavo
