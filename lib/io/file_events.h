// What the program does to its files, told to whoever listens: the seam between the real file layer (io/file.h) and the
// model of a disk that loses power (tests/support/crash_disk.h).
//
// Everything that can matter after a power cut is told, just after the kernel has done it: names made, changed and
// removed, lengths, bytes, and syncs. Reads are not. With no listener an event costs one load and a branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace octavo {

struct FileEvent {
  enum class Kind {
    kCreate,      // `path` is there and empty, whether it was there before or not
    kAllocate,    // it is at least `size` bytes long
    kTruncate,    // it is `size` bytes long
    kWrite,       // it has `bytes` at `offset`
    kSync,        // data and length are on the disk
    kRename,      // `path` has become `to`
    kRemove,      // the name is gone
    kSyncFolder,  // the names in folder `path` are on the disk
  };

  Kind kind = Kind::kCreate;
  std::filesystem::path path = {};  // as the program opened it
  std::filesystem::path to = {};
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::span<const std::byte> bytes = {};  // valid during the call
};

class FileListener {
 public:
  virtual ~FileListener() = default;
  // Called by whichever thread did it, several at once.
  virtual void OnFileEvent(const FileEvent& event) = 0;
};

// Makes `listener`, which must outlive its time, hear every event of the process; nullptr ends that. For tests.
void SetFileListener(FileListener* listener);

// For lib/io only: tells the listener.
void TellFileEvent(const FileEvent& event);

// Whether anybody listens: an event is not even put together otherwise.
bool HasFileListener();

}  // namespace octavo
