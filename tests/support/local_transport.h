// Messages between "ranks" that are threads of one process, as badly as an MPI library may carry them: late, from
// several ranks in any order, and with transfers that read the sender's memory until the moment in which they are done.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "ranks/transport.h"

namespace octavo {

// What connects the ranks. Any thread; outlives the transports.
class LocalHub {
 public:
  // Each message and each transfer takes up to `most_delay`, drawn by a generator with `seed`. Messages from one rank
  // to another with the same tag keep their order.
  explicit LocalHub(int ranks, std::uint64_t seed = 1,
                    std::chrono::microseconds most_delay = std::chrono::microseconds(300));
  LocalHub(const LocalHub&) = delete;
  LocalHub& operator=(const LocalHub&) = delete;

  int ranks() const { return ranks_; }
  // The transport of a rank, for one Messenger.
  std::unique_ptr<Transport> Join(int rank);

  // From now on nothing arrives from this rank or at it, and nobody notices, as with a cable that is cut.
  void Lose(int rank);
  // From now on every call fails.
  void Break();
  // The code with which a rank ended the job.
  std::optional<int> abort_code() const;
  // Messages that were handed over so far, and the longest.
  std::uint64_t messages() const;
  std::uint64_t longest_message() const;

 private:
  friend class LocalTransport;
  using Clock = std::chrono::steady_clock;

  // One message, from Send to the end of its transfer. The sender's request and the receiver's are both this.
  struct Transfer {
    int from = 0;
    int to = 0;
    int tag = 0;
    std::span<const std::byte> source;  // the sender's, unless `copied`
    std::vector<std::byte> copy;
    bool copied = false;  // the sender is done with its memory
    bool lost = false;
    Clock::time_point arrives;
    bool taken = false;  // a receiver is receiving it
    std::span<std::byte> target;
    Clock::time_point done;
    bool sender_ended = false;
    bool receiver_ended = false;
  };
  using Channel = std::tuple<int, int, int>;  // from, to, tag

  Clock::time_point After(Clock::time_point least);

  const int ranks_;
  const std::chrono::microseconds most_delay_;
  mutable std::mutex mutex_;  // of all below
  std::mt19937_64 random_;
  std::list<Transfer> transfers_;
  std::map<Channel, Clock::time_point> last_arrivals_;
  std::vector<bool> lost_;
  std::vector<bool> finished_;
  bool broken_ = false;
  std::optional<int> abort_code_;
  std::uint64_t messages_ = 0;
  std::uint64_t longest_message_ = 0;
};

}  // namespace octavo
