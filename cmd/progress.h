// The progress of a long command as a line for people.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace octavo {

// One phase of a command. A new name restarts its clock.
struct ShownProgress {
  std::string phase = {};      // "reading", "epoch 2/10"
  double share = -1;           // done share of the phase, 0 to 1; negative if unknown
  double done = 0;             // units so far in this phase
  std::string_view unit = {};  // of done: "edges", "rows", "bytes"; empty: no rate is shown. Must outlive the call
  std::uint64_t later = 0;     // phases of the same length that follow
  std::string detail = {};     // anything else worth showing: "loss 2.3127"
};

// Measurements shown in the line.
struct ProgressFacts {
  double seconds = 0;       // since the phase was first shown
  double share_before = 0;  // done before: a phase may continue from a commit
  double done_before = 0;
  std::uint64_t memory = 0;          // resident bytes of the process
  std::uint64_t memory_limit = 0;    // --memory; 0: not given
  double disk_bytes_per_second = 0;  // recent reads and writes
};

// "epoch 2/10 ━━━━────  43 %  ETA 7.1 s, all 3:12 min  312 k edges/s  loss 2.3127  memory 310 MiB of 512 MiB  88 MB/s
// disk". Parts that do not fit `columns` are left out from the end; `bar` draws the bar. Times and rates are shown
// after one second of work: the first moments are not representative.
std::string ProgressLine(const ShownProgress& progress, const ProgressFacts& facts, bool bar, std::size_t columns);

// The seconds left in the phase; negative if not known yet.
double SecondsLeft(const ShownProgress& progress, const ProgressFacts& facts);

// Keeps the phase's clock and the previous system counters. One thread at a time.
class ProgressMeter {
 public:
  // Restarts the clock if the phase is new.
  void Enter(const ShownProgress& progress);
  // Returns the current measurements for the phase.
  ProgressFacts Take(std::uint64_t memory_limit);

 private:
  using Clock = std::chrono::steady_clock;
  std::string phase_;
  Clock::time_point phase_begin_;
  double share_before_ = 0;
  double done_before_ = 0;
  Clock::time_point disk_time_;
  std::uint64_t disk_bytes_ = 0;
  double disk_rate_ = 0;
};

}  // namespace octavo
