// How far a long command is, as a line for people.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace octavo {

// One phase of a command: a new name begins its clock anew.
struct ShownProgress {
  std::string phase = {};      // "reading", "epoch 2/10"
  double share = -1;           // of the phase that is done, 0 to 1; negative where it cannot be told
  double done = 0;             // units so far in this phase
  std::string_view unit = {};  // of done: "edges", "rows", "bytes"; empty: no rate is shown. Must outlive the call
  std::uint64_t later = 0;     // phases as long as this one that follow
  std::string detail = {};     // what else is worth a look: "loss 2.3127"
};

// What the line tells beside it.
struct ProgressFacts {
  double seconds = 0;       // since the phase was first shown
  double share_before = 0;  // what was done by then: a phase may go on from a commit
  double done_before = 0;
  std::uint64_t memory = 0;          // resident bytes of the process
  std::uint64_t memory_limit = 0;    // --memory; 0: not given
  double disk_bytes_per_second = 0;  // read and written, of late
};

// "epoch 2/10 ━━━━────  43 %  ETA 7.1 s, all 3:12 min  312 k edges/s  loss 2.3127  memory 310 MiB of 512 MiB  88 MB/s
// disk". Parts that do not fit into `columns` are left out from the end; `bar` draws the bar. Times and rates come with
// a second of work behind them: the first moments tell nothing.
std::string ProgressLine(const ShownProgress& progress, const ProgressFacts& facts, bool bar, std::size_t columns);

// The seconds that the phase has left; negative where that cannot be told yet.
double SecondsLeft(const ShownProgress& progress, const ProgressFacts& facts);

// Keeps the clock of the phase and the last counts of the system. One thread at a time.
class ProgressMeter {
 public:
  // Begins the clock anew where the phase is a new one.
  void Enter(const ShownProgress& progress);
  // What the line of the phase tells beside it, as of now.
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
