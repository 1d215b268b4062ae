// An open file: every read, write, sync and allocation of the project's own files goes through here.
//
// Errors come as a status that names the path and the operation. Reads and writes at an offset may be called from
// several threads at once; Close and the moves may not. Partial transfers are continued, EINTR is retried, and a failed
// sync is never retried: after one the caller must treat all it wrote as lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace octavo {

class File {
 public:
  // Opens an existing file for reading. A missing file is a usage error; a folder, a pipe or a device in its place is a
  // corrupt-file error, here and below.
  static absl::StatusOr<File> OpenRead(const std::filesystem::path& path);
  // Opens an existing file for reading and writing.
  static absl::StatusOr<File> OpenReadWrite(const std::filesystem::path& path);
  // Creates a file that must not be there yet, not even as a link.
  static absl::StatusOr<File> CreateNew(const std::filesystem::path& path);
  // Opens a file for reading and writing as it is, or makes an empty one; not through a link.
  static absl::StatusOr<File> OpenOrCreate(const std::filesystem::path& path);
  // Creates a file for reading and writing, or empties the one that is there.
  static absl::StatusOr<File> Create(const std::filesystem::path& path);

  File() = default;
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();  // closes; errors are lost, so writers call Close

  bool is_open() const { return descriptor_ >= 0; }
  // The descriptor stays the file's own; -1 when closed.
  int descriptor() const { return descriptor_; }
  const std::filesystem::path& path() const { return path_; }

  absl::StatusOr<std::uint64_t> Size() const;
  // Reads exactly bytes.size() bytes at `offset`; the end of the file before that is a corrupt-file error.
  absl::Status ReadAt(std::uint64_t offset, std::span<std::byte> bytes) const;
  absl::Status WriteAt(std::uint64_t offset, std::span<const std::byte> bytes);
  // Sets aside disk space for [0, size) (posix_fallocate) and makes the file at least that long: a full disk is an
  // error here and not a SIGBUS or ENOSPC later.
  absl::Status Allocate(std::uint64_t size);
  absl::Status Truncate(std::uint64_t size);
  // fdatasync: data and length are on the disk when it returns ok.
  absl::Status Sync();
  absl::Status Close();
  // From now on the whole pages of a read or write go past the page cache (O_DIRECT) where buffer and offset lie
  // equally far behind a page's border; the parts of pages at its ends, and all of it where the file system knows no
  // such thing, go through it as before. Either way of reading sees what either way has written.
  void UseDirect();
  // Tells the kernel that its cached pages of the range are not needed (POSIX_FADV_DONTNEED). Advice: cannot fail.
  void DropCache(std::uint64_t offset, std::uint64_t size) const;
  // From here on the kernel does not begin to read ahead, which can be many megabytes. Whoever reads small pieces in
  // order says WillRead.
  void ReadNoFurther() const;
  // Begins to read the range. Advice: cannot fail.
  void WillRead(std::uint64_t offset, std::uint64_t size) const;
  // DropCache for a range that others follow: takes every page that it touches, and what the kernel spared before
  // because it reached from the range before into this one.
  void DropBehind(std::uint64_t offset, std::uint64_t size) const;

 private:
  File(int descriptor, std::filesystem::path path) : descriptor_(descriptor), path_(std::move(path)) {}
  static absl::StatusOr<File> Open(const std::filesystem::path& path, int flags);
  // The descriptor for a transfer at this place, and how much of it that descriptor may move at once.
  std::pair<int, std::size_t> Route(const void* memory, std::uint64_t offset, std::size_t bytes) const;
  void CloseDescriptors();

  int descriptor_ = -1;
  int direct_descriptor_ = -1;  // of the same file, or -1
  std::filesystem::path path_;
};

// Whether something is there under the name, or where its link points to. A disk that cannot say is an error: a file
// must not be taken for missing because of it.
absl::StatusOr<bool> FileExists(const std::filesystem::path& path);

// Whether `path`, and not through a link, still names the open file: others remove and replace files.
bool HasName(int descriptor, const std::filesystem::path& path);

// fsync of a folder, so that names created, renamed or removed in it survive a power cut.
absl::Status SyncFolder(const std::filesystem::path& folder);

// Makes the folder and those above it that are missing, each on the disk when this returns.
absl::Status CreateFolders(const std::filesystem::path& folder);

// rename and unlink: on the disk once the folder is synced. To remove what is not there is no error.
absl::Status RenameFile(const std::filesystem::path& from, const std::filesystem::path& to);
// Exchanges two names, which both must be there, at once; false where the file system cannot.
absl::StatusOr<bool> ExchangeFiles(const std::filesystem::path& one, const std::filesystem::path& other);
// rmdir; a folder that is not empty, or not there, stays as it is.
absl::Status RemoveFolderIfEmpty(const std::filesystem::path& folder);
absl::Status RemoveFile(const std::filesystem::path& path);

// Returns the whole file as a string; an error when it is longer than `max_bytes`.
absl::StatusOr<std::string> ReadWholeFile(const std::filesystem::path& path, std::uint64_t max_bytes);

// Returns the temporary name beside `path` that the next function writes to; a kill can leave it there.
std::filesystem::path PartialPath(const std::filesystem::path& path);

// Writes `contents` under a temporary name beside `path`, syncs, and renames: afterwards `path` has either its old
// contents or all of the new ones.
absl::Status WriteWholeFileAtomically(const std::filesystem::path& path, std::string_view contents);

template <typename T>
std::span<const std::byte> AsBytes(const T& value) {
  return std::as_bytes(std::span<const T, 1>(&value, 1));
}

}  // namespace octavo
