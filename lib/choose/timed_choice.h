// Options for a training that is to take a given time on this machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "choose/choice.h"
#include "choose/graph_facts.h"
#include "format/graph_description.h"
#include "graph/graph.h"
#include "run/options.h"

namespace octavo {

struct TimeLimit {
  double seconds = 0;               // the probes included
  double spent = 0;                 // seconds before the call
  std::filesystem::path folder;     // an existing folder on the disk of the run, for the probes
  int threads = 1;                  // of the training
  std::function<bool()> stop = {};  // may be empty; true: end with absl::CancelledError soon
  GivenOptions found = {};          // of the given options, those that are shown as chosen
};

// Returns a choice (choose/choice.h) whose training fills the time: trains some batches for a second, lets the size of
// model and loss follow from the speed measured, measures that for a twentieth of the time, at most 12 s, and chooses
// the epochs last, so that the learning rate has run its course when the time is over. Walks are taken once, in a
// folder that is removed again, for at most a fifth of the time: only they show how many pairs an epoch trains. If less
// than one fits, walks become shorter. If few epochs fit, free negatives are adapted until whole ones fill the time.
// Not more than kMostRepeats times the epochs that the choice had before; if far more would fit, the longer measurement
// is left out. A function of the machine's speed too: call it once and store the options. Runs on TBB's workers.
// REQUIRES: `given` has no epochs
absl::StatusOr<Choice> ChooseForTime(const Graph& graph, const GraphFacts& facts, std::uint64_t memory,
                                     const TrainOptions& options, const GivenOptions& given, const TimeLimit& limit);

inline constexpr std::uint64_t kMostRepeats = 4;

// What a training takes, in seconds.
struct TrainingCost {
  double epoch = 0;
  double outside = 0;  // the epochs
};

// What a choice asks a machine and a clock.
class TimedMachine {
 public:
  virtual ~TimedMachine() = default;
  // Seconds until the training has to end.
  virtual double Left() = 0;
  virtual absl::StatusOr<TrainingCost> Measure(const TrainOptions& options) = 0;
  // The same for longer: where others use the machine, too, its speed changes within seconds. Left() leaves the time
  // for it out, as long as it was not called.
  virtual absl::StatusOr<TrainingCost> MeasureLonger(const TrainOptions& options) = 0;
  // The same for the options measured last, by the pairs that their walks make, as Measure from then on. Left() then
  // leaves out what the walks take in the training.
  virtual absl::StatusOr<TrainingCost> MeasureWalks(const TrainOptions& options) = 0;
};

// ChooseForTime by `machine`; `text` is the time for people, and `found` as above.
absl::StatusOr<Choice> ChooseForMachine(const GraphFacts& facts, const GraphDescription& graph, std::uint64_t memory,
                                        const TrainOptions& options, const GivenOptions& given, TimedMachine& machine,
                                        const std::string& text, const GivenOptions& found = {});

}  // namespace octavo
