// Reports what the program does to its files. Connects the real file layer (io/file.h) to the model of a disk that
// loses power (tests/support/crash_disk.h).
//
// Reports everything that can matter after a power cut, just after the kernel has done it: names made, changed and
// removed, lengths, bytes, and syncs. Reads are not reported. Without a listener an event costs one load and a branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace octavo {

struct FileEvent {
  enum class Kind {
    kCreate,      // `path` now exists and is empty, whether it existed before or not
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
  // Called by the thread that did it; several calls may run at once.
  virtual void OnFileEvent(const FileEvent& event) = 0;
};

// Makes `listener` receive every event of the process; nullptr stops that. It must outlive its use. For tests.
void SetFileListener(FileListener* listener);

// For lib/io only: passes the event to the listener.
void TellFileEvent(const FileEvent& event);

// Whether there is a listener. Otherwise events need not be constructed.
bool HasFileListener();

}  // namespace octavo
