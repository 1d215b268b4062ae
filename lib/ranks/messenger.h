// The thread that owns the transport: it sends what others hand to it, receives whatever arrives, and notices ranks
// that are silent.
//
// Neither MPI library notices a rank that hangs or a cable that is cut. So each messenger sends a beat to every other
// rank, and one that has not been heard for `lost_after` is lost: the job cannot continue. A call of the library may
// itself hang; a second thread notices that.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "ranks/transport.h"

namespace octavo {

using Message = std::vector<std::byte>;

// What a message is about. Those of one kind from one rank are received in the order in which they were sent.
enum class MessageKind : std::uint32_t {
  kTogether,     // of steps that all ranks take at the same time (ranks.h)
  kControl,      // from rank 0: what comes next in a round
  kLaneResults,  // to rank 0: what the lanes of a rank made in a round
  kStop,         // to rank 0: a rank was asked to stop
  kRows,         // rows of a partition that changes its rank
  kRowsDone,     // that these were received
};

struct MessengerSettings {
  std::chrono::milliseconds beat = std::chrono::milliseconds(2000);
  std::chrono::milliseconds lost_after = std::chrono::milliseconds(60000);
  // Called once, on a thread of the messenger, when a rank is lost or the transport fails or, with `end_process`, has
  // not returned for `lost_after`; then the process ends with `lost_exit_code`, and so do the other ranks, as far as
  // they can be reached.
  std::function<void(const absl::Status&)> on_lost = {};
  int lost_exit_code = 1;
  // Ends this process at once. Without it, it goes on, and calls of Receive return the error.
  std::function<void(int exit_code)> end_process = {};
  // Of a piece of a longer message; tests have shorter ones. At least the 16 bytes of a header.
  std::uint64_t most_piece_bytes = kMostMessageBytes;
  // Between two looks at the transport. Waiting costs a hundredth of a core; where something moved, the next look
  // follows at once.
  std::chrono::microseconds pause = std::chrono::microseconds(1000);
};

// All functions are for any thread.
class Messenger {
 public:
  // Joins the job by `transport`; returns when that is done. If it takes longer than `lost_after`, as when a machine
  // cannot be reached, the process ends as after a lost rank.
  static absl::StatusOr<std::unique_ptr<Messenger>> Start(std::unique_ptr<Transport> transport,
                                                          MessengerSettings settings);
  // Leaves the job if Finish was called, otherwise only ends the thread.
  ~Messenger();
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  const std::string& library() const { return library_; }

  // Names of the ranks, for messages about lost ones: "2 on host b". REQUIRES: as many as ranks
  void SetNames(std::vector<std::string> names);

  // Hands a message over. REQUIRES: to is another rank
  void Send(int to, MessageKind kind, Message message);
  // Waits for the next message of this kind from a rank.
  absl::StatusOr<Message> Receive(int from, MessageKind kind);
  // The same from any rank.
  absl::StatusOr<std::pair<int, Message>> ReceiveAny(MessageKind kind);
  // The next one if there is one.
  std::optional<Message> TryReceive(int from, MessageKind kind);
  // Waits until there is a message of the kind from that rank, or for at most `most`.
  absl::Status WaitFor(int from, MessageKind kind, std::chrono::milliseconds most);
  // Ends waiting in ReceiveAny of the kind: it returns absl::CancelledError.
  void Close(MessageKind kind);

  // Makes whatever waits in this process for a message that has not arrived, now or later, return this error. For an
  // error in a thread for which nobody waits: without it others would wait for this rank for ever. The first one
  // counts.
  void Fail(const absl::Status& status);

  // Bytes of messages since the start, without beats.
  std::uint64_t bytes_sent() const { return bytes_sent_.load(std::memory_order_relaxed); }
  std::uint64_t bytes_received() const { return bytes_received_.load(std::memory_order_relaxed); }

  // The destructor will wait until all messages are sent and leave the job. From now on an error of the transport, or a
  // rank that is silent, is that of one that has left.
  void Finish() { finishing_.store(true, std::memory_order_relaxed); }
  // Ends this process and all other ranks with this exit code. REQUIRES: end_process
  void Abort(int code);

 private:
  using Clock = std::chrono::steady_clock;
  using Key = std::pair<int, MessageKind>;

  // A message on its way out, in pieces of at most most_piece_bytes.
  struct Outgoing {
    int to = 0;
    MessageKind kind{};
    Message message;
  };
  struct Sending {
    Transport::Request request = nullptr;
    Message piece;
    int to = 0;
    bool beat = false;
  };
  struct Receiving {
    Transport::Request request = nullptr;
    Message piece;
    int from = 0;
  };
  // The pieces so far of a message from a rank.
  struct Assembly {
    MessageKind kind{};
    std::uint64_t bytes = 0;  // of the whole
    Message message;
  };

  Messenger(std::unique_ptr<Transport> transport, MessengerSettings settings);

  void RunThread();
  // Ends the process if the transport does not return.
  void Watch();
  void Tell(const absl::Status& lost);
  absl::Status Work();
  // One round of the thread's work; returns whether anything moved.
  absl::StatusOr<bool> Step();
  absl::Status Begin(Message piece, int to, int tag);
  absl::StatusOr<bool> StepSending();
  absl::StatusOr<bool> StepReceiving();
  absl::Status SendBeats();
  absl::Status CheckBeats();
  void TakePiece(int from, Message piece);
  void Deliver(int from, MessageKind kind, Message message);
  bool AllSent();

  const std::unique_ptr<Transport> transport_;
  const MessengerSettings settings_;
  int rank_ = 0;
  int ranks_ = 1;
  std::string library_;
  std::atomic<bool> finishing_ = false;
  std::atomic<bool> ending_ = false;
  std::atomic<bool> ended_ = false;     // thread_ has
  std::atomic<bool> aborting_ = false;  // thread_ is in transport_->Abort
  std::atomic<bool> told_ = false;      // on_lost was called
  std::atomic<std::uint64_t> steps_ = 0;
  std::atomic<int> abort_code_ = -1;
  std::atomic<std::uint64_t> bytes_sent_ = 0;
  std::atomic<std::uint64_t> bytes_received_ = 0;

  Mutex mutex_;
  bool started_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status first_error_ ABSL_GUARDED_BY(mutex_);  // the first error
  std::vector<std::string> names_ ABSL_GUARDED_BY(mutex_);
  std::deque<Outgoing> outbox_ ABSL_GUARDED_BY(mutex_);
  std::map<Key, std::deque<Message>> inbox_ ABSL_GUARDED_BY(mutex_);
  std::map<MessageKind, bool> closed_ ABSL_GUARDED_BY(mutex_);

  // Used by the thread only.
  std::vector<Sending> sending_;
  std::vector<Receiving> receiving_;
  std::vector<Assembly> assemblies_;  // of each rank
  std::vector<Clock::time_point> heard_;
  Clock::time_point checked_;  // when heard_ was
  std::vector<bool> beat_under_way_;
  Clock::time_point last_beat_;

  std::thread thread_;  // last: they use all of the above
  std::thread watch_;   // with end_process
};

}  // namespace octavo
