// Verifies the checksums of partitions that were mapped without being read, on a background thread.
//
// The thread reads each partition's bytes in the file once, sequentially and through the page cache. So it also brings
// the pages into the cache that training accesses at random. What training writes goes to private pages and not to the
// file, so it does not matter here. But the file must not change before the comparison: whoever writes to it calls Wait
// first. That also ensures that nothing new is built on rows that were not verified.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/mutex.h"
#include "io/file.h"

namespace octavo {

// One user thread, except that any thread may call Check and bytes_read. Destruction stops the comparison after the
// step under way.
class MappedChecks {
 public:
  struct Rows {
    const File* file = nullptr;  // must outlive this object
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t checksum = 0;  // the expected XXH3-64
    std::string name;            // of the partition, for messages
  };

  MappedChecks() = default;
  ~MappedChecks();
  MappedChecks(const MappedChecks&) = delete;
  MappedChecks& operator=(const MappedChecks&) = delete;

  // Starts to compare the rows, after those added before.
  void Add(Rows rows);
  // Returns the first error so far: a different checksum or a file that ends too early is a corrupt-file error, a
  // failed read a runtime error. After an error nothing more is compared.
  absl::Status Check() const;
  // Waits until everything is compared and returns Check().
  absl::Status Wait();
  std::uint64_t bytes_read() const { return bytes_read_.load(std::memory_order_relaxed); }

 private:
  void Run();
  absl::Status Compare(const Rows& rows);

  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> bytes_read_ = 0;
  std::atomic<bool> failed_ = false;  // whether error_ is an error; Check is called for every batch
  mutable Mutex mutex_;
  std::deque<Rows> queue_ ABSL_GUARDED_BY(mutex_);  // the front is being compared
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;  // started by the first Add
};

}  // namespace octavo
