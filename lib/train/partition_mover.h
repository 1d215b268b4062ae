// Moves the rows of partitions to the ranks whose lanes need them next, while this rank trains.
//
// A partition that leaves was evicted, so its newest rows are in its file. A thread reads them from there, piece by
// piece, and sends them; another thread writes what arrives to the file of this rank, to the slot that no commit names.
// Loading it then is as loading any other. At most a few pieces are under way, so moving takes little memory.
//
// A commit may be made only when nothing is under way: at every rank Drain, then a meeting, then TakeOverArrived.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/ids.h"
#include "base/mutex.h"
#include "checkpoint/run_tables.h"
#include "format/manifest.h"
#include "io/checksum.h"
#include "ranks/ranks.h"

namespace octavo {

struct MovedCounts {
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  double send_seconds = 0;  // of the sending thread, including waiting for the receiver
  double wait_seconds = 0;  // of whoever needed a partition that had not arrived
};

// Send, Await and TakeOverArrived are for the threads that load and evict, one at a time.
class PartitionMover {
 public:
  // Both must outlive this.
  PartitionMover(Ranks& ranks, RunTables& tables);
  // Abandons what is under way.
  ~PartitionMover();
  PartitionMover(const PartitionMover&) = delete;
  PartitionMover& operator=(const PartitionMover&) = delete;

  // Gives up a partition that is not resident, in favour of another rank.
  void Send(PartitionId partition, int to);
  // Waits until the tables hold the partition; it may have to arrive from another rank.
  absl::Status Await(PartitionId partition);
  // Waits until all that was given up is at its ranks. The first error of moving.
  absl::Status Drain();
  // Takes over what has arrived and was not awaited.
  void TakeOverArrived();

  // Counts since the last call.
  MovedCounts TakeCounts();

 private:
  struct Leaving {
    PartitionId partition{};
    int to = 0;
    PartitionRecord record;
  };
  // A partition of which pieces have arrived.
  struct Arriving {
    std::uint64_t bytes = 0;  // so far
    StreamingChecksum64 embeddings;
    StreamingChecksum64 state;
  };

  void RunSender();
  void RunReceiver();
  absl::Status SendOne(const Leaving& leaving);
  absl::Status AwaitAnswer(int from);
  absl::Status ReceivePiece(int from, const Message& message);
  void Fail(const absl::Status& status);

  Ranks& ranks_;
  RunTables& tables_;

  Mutex mutex_;
  std::deque<Leaving> leaving_ ABSL_GUARDED_BY(mutex_);
  bool sending_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<PartitionId, PartitionRecord> arrived_ ABSL_GUARDED_BY(mutex_);
  absl::Status first_error_ ABSL_GUARDED_BY(mutex_);  // the first error
  MovedCounts counts_ ABSL_GUARDED_BY(mutex_);

  // Used by the receiver only.
  std::map<PartitionId, std::unique_ptr<Arriving>> arriving_;

  std::thread sender_;  // last: they use all of the above
  std::thread receiver_;
};

}  // namespace octavo
