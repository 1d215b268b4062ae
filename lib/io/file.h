// An open file. Every read, write, sync and allocation of the project's own files goes through this class.
//
// Errors are statuses that name the path and the operation. ReadAt and WriteAt may be called from several threads at
// once; Close and moves may not. Partial transfers are continued and EINTR is retried. A failed sync is never retried:
// the caller must treat everything it wrote as lost.
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
  // Opens an existing file for reading. A missing file is a usage error. Here and below, a folder, pipe or device in
  // its place is a corrupt-file error.
  static absl::StatusOr<File> OpenRead(const std::filesystem::path& path);
  // Opens an existing file for reading and writing. A link is a corrupt-file error.
  static absl::StatusOr<File> OpenReadWrite(const std::filesystem::path& path);
  // Creates a file. The name must not exist, not even as a link.
  static absl::StatusOr<File> CreateNew(const std::filesystem::path& path);
  // Opens a file for reading and writing and keeps its contents; creates it empty if missing. Does not follow a link.
  static absl::StatusOr<File> OpenOrCreate(const std::filesystem::path& path);
  // Creates a file for reading and writing in place of an existing file or link; what that led to is unchanged.
  static absl::StatusOr<File> Create(const std::filesystem::path& path);

  File() = default;
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();  // closes; errors are lost, so writers call Close

  bool is_open() const { return descriptor_ >= 0; }
  // The descriptor, still owned by the file; -1 when closed.
  int descriptor() const { return descriptor_; }
  const std::filesystem::path& path() const { return path_; }

  absl::StatusOr<std::uint64_t> Size() const;
  // Reads exactly bytes.size() bytes at `offset`. A file that ends before is a corrupt-file error.
  absl::Status ReadAt(std::uint64_t offset, std::span<std::byte> bytes) const;
  // The same through the page cache, also after UseDirect. Mappings of the file find the pages there.
  absl::Status ReadCachedAt(std::uint64_t offset, std::span<std::byte> bytes) const;
  absl::Status WriteAt(std::uint64_t offset, std::span<const std::byte> bytes);
  // Reserves disk space for [0, size) (posix_fallocate) and makes the file at least that long. A full disk is then an
  // error here, not a SIGBUS or ENOSPC later.
  absl::Status Allocate(std::uint64_t size);
  // The same for a range within the file.
  absl::Status AllocateRange(std::uint64_t offset, std::uint64_t size);
  // Gives the space of whole blocks of the range back; it reads as zeros. Advice: file systems that cannot ignore it.
  void PunchHole(std::uint64_t offset, std::uint64_t size);
  absl::Status Truncate(std::uint64_t size);
  // fdatasync: data and length are on the disk on success.
  absl::Status Sync();
  absl::Status Close();
  // From now on, whole pages of ReadAt and WriteAt bypass the page cache (O_DIRECT) if buffer and offset have the same
  // offset within a page. Partial pages at the ends, and everything on file systems without O_DIRECT, still go through
  // the cache. Cached and direct transfers see each other's data.
  void UseDirect();
  // Advises the kernel to drop its cached pages of the range (POSIX_FADV_DONTNEED). Cannot fail.
  void DropCache(std::uint64_t offset, std::uint64_t size) const;
  // Disables the kernel's read-ahead, which can be many megabytes, from now on. Callers that read small pieces in order
  // call WillRead.
  void ReadNoFurther() const;
  // Starts to read the range in the background. Advice: cannot fail.
  void WillRead(std::uint64_t offset, std::uint64_t size) const;
  // DropCache for sequential ranges. Also drops pages that the range touches only in part, and pages before it that the
  // previous call had to spare because they reached into this range.
  void DropBehind(std::uint64_t offset, std::uint64_t size) const;

 private:
  File(int descriptor, std::filesystem::path path) : descriptor_(descriptor), path_(std::move(path)) {}
  static absl::StatusOr<File> Open(const std::filesystem::path& path, int flags);
  // Returns the descriptor for a transfer at this place and the number of bytes it may move at once.
  std::pair<int, std::size_t> Route(const void* memory, std::uint64_t offset, std::size_t bytes) const;
  absl::Status Read(std::uint64_t offset, std::span<std::byte> bytes, bool cached) const;
  void CloseDescriptors();

  int descriptor_ = -1;
  int direct_descriptor_ = -1;  // same file with O_DIRECT, or -1
  std::filesystem::path path_;
};

// Whether `path` exists; follows a link. A disk that cannot answer is an error, so that a file is never taken for
// missing because of it.
absl::StatusOr<bool> FileExists(const std::filesystem::path& path);

// Whether `path` itself (not a link) still names the open file: others may remove or replace it.
bool HasName(int descriptor, const std::filesystem::path& path);

// fsync of a folder: names created, renamed or removed in it survive a power cut.
absl::Status SyncFolder(const std::filesystem::path& folder);

// Makes the folder and its missing ancestors. Each is on the disk on return.
absl::Status CreateFolders(const std::filesystem::path& folder);

// rename and unlink; durable after the folder is synced. Removing a missing file is not an error.
absl::Status RenameFile(const std::filesystem::path& from, const std::filesystem::path& to);
// Exchanges two existing names atomically. Returns false if the file system does not support it.
absl::StatusOr<bool> ExchangeFiles(const std::filesystem::path& one, const std::filesystem::path& other);
// rmdir. A folder that is missing or not empty is left as it is.
absl::Status RemoveFolderIfEmpty(const std::filesystem::path& folder);
absl::Status RemoveFile(const std::filesystem::path& path);

// Returns the whole file as a string. A file longer than `max_bytes` is an error.
absl::StatusOr<std::string> ReadWholeFile(const std::filesystem::path& path, std::uint64_t max_bytes);

// Returns the temporary name beside `path` that WriteWholeFileAtomically uses. A kill can leave it there.
std::filesystem::path PartialPath(const std::filesystem::path& path);

// Writes `contents` under a temporary name beside `path`, syncs, and renames. `path` then has its old contents or all
// of the new.
absl::Status WriteWholeFileAtomically(const std::filesystem::path& path, std::string_view contents);

template <typename T>
std::span<const std::byte> AsBytes(const T& value) {
  return std::as_bytes(std::span<const T, 1>(&value, 1));
}

}  // namespace octavo
