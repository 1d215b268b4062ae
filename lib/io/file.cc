#include "io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/failpoint.h"
#include "io/file_events.h"
#include "io/pinned_folder.h"

namespace octavo {
namespace {

// Linux transfers at most 2,147,479,552 bytes per call; a round number below that.
constexpr std::size_t kMaxTransferBytes = std::size_t{1} << 30;
// The alignment for direct transfers: at least the block size of any disk.
constexpr std::uint64_t kDirectAlignment = 4096;

absl::Status FileError(std::string_view operation, const std::filesystem::path& path, int error_number) {
  return ErrnoError(fmt::format("{}: {}", path.string(), operation), error_number);
}

// fstatat, unlinkat, mkdirat and renameat2 of paths.
int Stat(const std::filesystem::path& path, struct stat& info, int flags) {
  const PathPlace place(path);
  return place.error() != 0 ? place.Fail() : ::fstatat(place.folder(), place.name(), &info, flags);
}

int Remove(const std::filesystem::path& path, int flags) {
  const PathPlace place(path);
  return place.error() != 0 ? place.Fail() : ::unlinkat(place.folder(), place.name(), flags);
}

int MakeFolder(const std::filesystem::path& path) {
  const PathPlace place(path);
  return place.error() != 0 ? place.Fail() : ::mkdirat(place.folder(), place.name(), 0777);
}

int Rename(const std::filesystem::path& from, const std::filesystem::path& to, unsigned int flags) {
  const PathPlace old_place(from);
  const PathPlace new_place(to);
  if (old_place.error() != 0) return old_place.Fail();
  if (new_place.error() != 0) return new_place.Fail();
  // Without flags as renameat: not every file system knows the other call.
  const int result =
      flags == 0 ? ::renameat(old_place.folder(), old_place.name(), new_place.folder(), new_place.name())
                 : ::renameat2(old_place.folder(), old_place.name(), new_place.folder(), new_place.name(), flags);
  if (result == 0) {
    UnpinBelow(from);
    UnpinBelow(to);
  }
  return result;
}

// Reports an event. It is only constructed if there is a listener.
template <typename MakeEvent>
void Tell(const MakeEvent& make) {
  if (HasFileListener()) TellFileEvent(make());
}

absl::Status NotAFile(const std::filesystem::path& path, mode_t mode) {
  const std::string_view what = S_ISDIR(mode) ? "folder" : S_ISFIFO(mode) ? "pipe" : "device";
  return CorruptError(fmt::format("{}: is a {}; expected a file", path.string(), what));
}

}  // namespace

absl::StatusOr<File> File::Open(const std::filesystem::path& path, int flags) {
  RETURN_IF_ERROR(Failpoint("file.open"));
  int descriptor = -1;
  const PathPlace place(path);
  do {
    // O_NONBLOCK: do not wait for the other end of a pipe in place of a file. The flag has no effect on regular files.
    descriptor = place.error() != 0 ? place.Fail()
                                    : ::openat(place.folder(), place.name(), flags | O_CLOEXEC | O_NONBLOCK, 0644);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) {
    const int error_number = errno;
    if (error_number == ENOENT && (flags & O_CREAT) == 0) {
      return UsageError(fmt::format("{}: no such file", path.string()));
    }
    if (error_number == EISDIR) return NotAFile(path, S_IFDIR);
    if (error_number == ELOOP && (flags & O_NOFOLLOW) != 0) {
      return CorruptError(fmt::format("{}: is a symbolic link; expected a file: remove the link", path.string()));
    }
    return FileError("open", path, error_number);
  }
  File file(descriptor, path);
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) return FileError("stat", path, errno);
  if (!S_ISREG(info.st_mode)) return NotAFile(path, info.st_mode);
  if ((flags & O_EXCL) != 0) Tell([&] { return FileEvent{.kind = FileEvent::Kind::kCreate, .path = path}; });
  return file;
}

absl::StatusOr<File> File::OpenRead(const std::filesystem::path& path) { return Open(path, O_RDONLY); }
absl::StatusOr<File> File::OpenReadWrite(const std::filesystem::path& path) { return Open(path, O_RDWR | O_NOFOLLOW); }

absl::StatusOr<File> File::Create(const std::filesystem::path& path) {
  // A file that is there is not truncated: its name may be a link, and a reader may have mapped it.
  struct stat info {};
  if (Stat(path, info, AT_SYMLINK_NOFOLLOW) == 0) {
    if (!S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode)) return NotAFile(path, info.st_mode);
    RETURN_IF_ERROR(RemoveFile(path));
  }
  return CreateNew(path);
}

absl::StatusOr<File> File::OpenOrCreate(const std::filesystem::path& path) {
  return Open(path, O_RDWR | O_CREAT | O_NOFOLLOW);
}

absl::StatusOr<File> File::CreateNew(const std::filesystem::path& path) {
  return Open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      direct_descriptor_(std::exchange(other.direct_descriptor_, -1)),
      path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    CloseDescriptors();
    descriptor_ = std::exchange(other.descriptor_, -1);
    direct_descriptor_ = std::exchange(other.direct_descriptor_, -1);
    path_ = std::move(other.path_);
  }
  return *this;
}

File::~File() { CloseDescriptors(); }

void File::CloseDescriptors() {
  for (int* descriptor : {&descriptor_, &direct_descriptor_}) {
    if (*descriptor >= 0) ::close(std::exchange(*descriptor, -1));
  }
}

void File::UseDirect() {
  if (!is_open() || direct_descriptor_ >= 0) return;
  const int mode = ::fcntl(descriptor_, F_GETFL) & O_ACCMODE;
  // Reopens by descriptor: the path may name another file by now.
  const std::string self = fmt::format("/proc/self/fd/{}", descriptor_);
  direct_descriptor_ = ::open(self.c_str(), mode | O_DIRECT | O_CLOEXEC);
}

std::pair<int, std::size_t> File::Route(const void* memory, std::uint64_t offset, std::size_t bytes) const {
  bytes = std::min(bytes, kMaxTransferBytes);
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::size_t whole = bytes / kDirectAlignment * kDirectAlignment;
  if (direct_descriptor_ < 0 || address % kDirectAlignment != offset % kDirectAlignment) return {descriptor_, bytes};
  // A partial first page goes through the cache; the whole pages after it bypass it.
  const std::uint64_t over = offset % kDirectAlignment;
  if (over != 0) return {descriptor_, std::min<std::uint64_t>(bytes, kDirectAlignment - over)};
  return whole == 0 ? std::pair(descriptor_, bytes) : std::pair(direct_descriptor_, whole);
}

absl::StatusOr<std::uint64_t> File::Size() const {
  struct stat info {};
  if (::fstat(descriptor_, &info) != 0) return FileError("stat", path_, errno);
  return static_cast<std::uint64_t>(info.st_size);
}

absl::Status File::ReadAt(std::uint64_t offset, std::span<std::byte> bytes) const {
  return Read(offset, bytes, /*cached=*/false);
}

absl::Status File::ReadCachedAt(std::uint64_t offset, std::span<std::byte> bytes) const {
  return Read(offset, bytes, /*cached=*/true);
}

absl::Status File::Read(std::uint64_t offset, std::span<std::byte> bytes, bool cached) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    RETURN_IF_ERROR(Failpoint("file.read"));
    const std::size_t left = bytes.size() - done;
    const auto [descriptor, want] = cached ? std::pair(descriptor_, std::min(left, kMaxTransferBytes))
                                           : Route(bytes.data() + done, offset + done, left);
    ssize_t got = ::pread(descriptor, bytes.data() + done, want, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINVAL && descriptor != descriptor_) {  // a disk with larger blocks
      got = ::pread(descriptor_, bytes.data() + done, want, static_cast<off_t>(offset + done));
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError(fmt::format("read at byte {}", offset + done), path_, errno);
    if (got == 0) {
      return CorruptError(fmt::format("{}: ends at byte {}; expected at least {} bytes", path_.string(), offset + done,
                                      offset + bytes.size()));
    }
    done += static_cast<std::size_t>(got);
  }
  return absl::OkStatus();
}

absl::Status File::WriteAt(std::uint64_t offset, std::span<const std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    if (absl::Status injected = Failpoint("file.write"); !injected.ok()) return injected;
    const auto [descriptor, want] = Route(bytes.data() + done, offset + done, bytes.size() - done);
    ssize_t put = ::pwrite(descriptor, bytes.data() + done, want, static_cast<off_t>(offset + done));
    if (put < 0 && errno == EINVAL && descriptor != descriptor_) {
      put = ::pwrite(descriptor_, bytes.data() + done, want, static_cast<off_t>(offset + done));
    }
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return FileError(fmt::format("write of {} bytes at byte {}", want, offset + done), path_, errno);
    if (put == 0) return FileError(fmt::format("write of {} bytes at byte {}", want, offset + done), path_, EIO);
    const auto moved = static_cast<std::size_t>(put);
    Tell([&] {
      return FileEvent{.kind = FileEvent::Kind::kWrite,
                       .path = path_,
                       .offset = offset + done,
                       .size = moved,
                       .bytes = bytes.subspan(done, moved)};
    });
    done += moved;
  }
  return absl::OkStatus();
}

absl::Status File::Allocate(std::uint64_t size) {
  RETURN_IF_ERROR(Failpoint("file.allocate"));
  int error_number = 0;
  do {
    error_number = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(size));
  } while (error_number == EINTR);
  if (error_number != 0) return FileError(fmt::format("allocate {} bytes", size), path_, error_number);
  Tell([&] { return FileEvent{.kind = FileEvent::Kind::kAllocate, .path = path_, .size = size}; });
  return absl::OkStatus();
}

absl::Status File::AllocateRange(std::uint64_t offset, std::uint64_t size) {
  if (size == 0) return absl::OkStatus();
  RETURN_IF_ERROR(Failpoint("file.allocate"));
  int error_number = 0;
  do {
    error_number = ::posix_fallocate(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(size));
  } while (error_number == EINTR);
  if (error_number != 0) return FileError(fmt::format("allocate {} bytes", size), path_, error_number);
  return absl::OkStatus();
}

void File::PunchHole(std::uint64_t offset, std::uint64_t size) {
  static_cast<void>(::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                                static_cast<off_t>(size)));
}

absl::Status File::Truncate(std::uint64_t size) {
  RETURN_IF_ERROR(Failpoint("file.truncate"));
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) return FileError("truncate", path_, errno);
  Tell([&] { return FileEvent{.kind = FileEvent::Kind::kTruncate, .path = path_, .size = size}; });
  return absl::OkStatus();
}

absl::Status File::Sync() {
  RETURN_IF_ERROR(Failpoint("file.sync"));
  if (::fdatasync(descriptor_) != 0) return FileError("fdatasync", path_, errno);
  Tell([&] { return FileEvent{.kind = FileEvent::Kind::kSync, .path = path_}; });
  return absl::OkStatus();
}

absl::Status File::Close() {
  if (!is_open()) return absl::OkStatus();
  if (direct_descriptor_ >= 0) ::close(std::exchange(direct_descriptor_, -1));
  // Linux closes the descriptor whatever close returns, so there is no retry.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) return FileError("close", path_, errno);
  return absl::OkStatus();
}

void File::DropCache(std::uint64_t offset, std::uint64_t size) const {
  ::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(size), POSIX_FADV_DONTNEED);
}

void File::ReadNoFurther() const { ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_RANDOM); }

void File::WillRead(std::uint64_t offset, std::uint64_t size) const {
  if (size == 0) return;  // the kernel takes 0 as "to the end"
  ::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(size), POSIX_FADV_WILLNEED);
}

void File::DropBehind(std::uint64_t offset, std::uint64_t size) const {
  if (size == 0) return;  // the kernel takes 0 as "to the end"
  // The kernel caches folios of up to some megabytes and does not drop one that the range covers only in part. So look
  // back. Measured with reads of 1.5 MB: without it, a table of 218 MB was completely cached at the end.
  constexpr std::uint64_t kLookBack = std::uint64_t{16} << 20;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = (offset - std::min(offset, kLookBack)) / page * page;
  DropCache(begin, RoundUp(offset + size, page) - begin);
}

absl::StatusOr<bool> FileExists(const std::filesystem::path& path) {
  struct stat info {};
  if (Stat(path, info, 0) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG) return false;
  return FileError("stat", path, errno);
}

bool HasName(int descriptor, const std::filesystem::path& path) {
  struct stat open {};
  struct stat named {};
  return ::fstat(descriptor, &open) == 0 && Stat(path, named, AT_SYMLINK_NOFOLLOW) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

absl::Status SyncFolder(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder.empty() ? std::filesystem::path(".") : folder;
  RETURN_IF_ERROR(Failpoint("folder.sync"));
  const PathPlace place(path, PathPlace::Folder::kContents);
  const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (place.folder() == AT_FDCWD ? 0 : O_NOFOLLOW);
  const int descriptor = place.error() != 0 ? place.Fail() : ::openat(place.folder(), place.name(), flags);
  if (descriptor < 0) return FileError("open", path, errno);
  int result = ::fsync(descriptor);
  // Some file systems cannot sync a folder alone.
  if (result != 0 && errno == EINVAL) result = ::syncfs(descriptor);
  const int error_number = errno;
  ::close(descriptor);
  if (result != 0) return FileError("fsync", path, error_number);
  Tell([&] { return FileEvent{.kind = FileEvent::Kind::kSyncFolder, .path = path}; });
  return absl::OkStatus();
}

absl::Status CreateFolders(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> missing;
  struct stat info {};
  for (std::filesystem::path path = folder; !path.empty(); path = path.parent_path()) {
    if (Stat(path, info, 0) == 0) {
      if (S_ISDIR(info.st_mode)) break;
      return UsageError(fmt::format("{}: {} is not a folder", folder.string(), path.string()));
    }
    // E.g. a name that is too long: fail before anything is made.
    if (errno != ENOENT && errno != ENOTDIR) return FileError("create", folder, errno);
    if (path.has_filename()) missing.push_back(path);  // "run/" has no file name
  }
  for (auto path = missing.rbegin(); path != missing.rend(); ++path) {
    if (MakeFolder(*path) == 0 || (errno == EEXIST && Stat(*path, info, 0) == 0 && S_ISDIR(info.st_mode))) {
      RETURN_IF_ERROR(SyncFolder(path->parent_path()));
      continue;
    }
    const int error_number = errno;
    while (path != missing.rbegin()) Remove(*--path, AT_REMOVEDIR);  // a partly made path is useless
    return FileError("create", folder, error_number);
  }
  return absl::OkStatus();
}

absl::Status RenameFile(const std::filesystem::path& from, const std::filesystem::path& to) {
  RETURN_IF_ERROR(Failpoint("file.rename"));
  if (Rename(from, to, 0) != 0) {
    return FileError(fmt::format("rename to {}", to.string()), from, errno);
  }
  Tell([&] { return FileEvent{.kind = FileEvent::Kind::kRename, .path = from, .to = to}; });
  return absl::OkStatus();
}

absl::Status RemoveFile(const std::filesystem::path& path) {
  RETURN_IF_ERROR(Failpoint("file.remove"));
  if (Remove(path, 0) != 0) {
    if (errno == ENOENT) return absl::OkStatus();
    return FileError("remove", path, errno);
  }
  Tell([&] { return FileEvent{.kind = FileEvent::Kind::kRemove, .path = path}; });
  return absl::OkStatus();
}

absl::StatusOr<bool> ExchangeFiles(const std::filesystem::path& one, const std::filesystem::path& other) {
  RETURN_IF_ERROR(Failpoint("file.rename"));
  if (Rename(one, other, RENAME_EXCHANGE) == 0) return true;
  // EXDEV: a folder in a lower layer of an overlay file system cannot be renamed.
  if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP || errno == EXDEV) return false;
  return FileError("exchange with another name", one, errno);
}

absl::Status RemoveFolderIfEmpty(const std::filesystem::path& folder) {
  if (Remove(folder, AT_REMOVEDIR) == 0 || errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST)
    return absl::OkStatus();
  return FileError("remove", folder, errno);
}

absl::StatusOr<std::string> ReadWholeFile(const std::filesystem::path& path, std::uint64_t max_bytes) {
  ASSIGN_OR_RETURN(const File file, File::OpenRead(path));
  ASSIGN_OR_RETURN(const std::uint64_t size, file.Size());
  if (size > max_bytes) {
    return CorruptError(fmt::format("{}: {} bytes; expected at most {}", path.string(), size, max_bytes));
  }
  std::string contents(size, '\0');
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span<char>(contents))));
  return contents;
}

std::filesystem::path PartialPath(const std::filesystem::path& path) {
  std::filesystem::path temporary = path;
  temporary += ".partial";
  return temporary;
}

absl::Status WriteWholeFileAtomically(const std::filesystem::path& path, std::string_view contents) {
  const std::filesystem::path temporary = PartialPath(path);
  const auto write = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(File file, File::Create(temporary));
    RETURN_IF_ERROR(file.WriteAt(0, std::as_bytes(std::span<const char>(contents))));
    RETURN_IF_ERROR(file.Sync());
    RETURN_IF_ERROR(file.Close());
    RETURN_IF_ERROR(RenameFile(temporary, path));
    return SyncFolder(path.parent_path());
  };
  absl::Status status = write();
  if (!status.ok()) static_cast<void>(RemoveFile(temporary));
  return status;
}

}  // namespace octavo
