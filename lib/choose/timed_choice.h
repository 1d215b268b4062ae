// Options for a training that is to take a given time on this machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "absl/status/statusor.h"
#include "choose/choice.h"
#include "choose/graph_facts.h"
#include "graph/graph.h"
#include "run/options.h"

namespace octavo {

struct TimeLimit {
  double seconds = 0;               // from the call on, the probes included
  std::filesystem::path folder;     // an existing folder on the disk of the run, for the probes
  int threads = 1;                  // of the training
  std::function<bool()> stop = {};  // may be empty; true: end with absl::CancelledError soon
};

// Returns a choice (choose/choice.h) whose training fills the time: trains some batches for a second, lets the size of
// model and loss follow from the speed measured, measures that, and chooses the epochs last, so that the learning rate
// has run its course when the time is over. Walks are taken once in a folder that is removed again, because only then
// it is known how many pairs an epoch trains. If few epochs fit, the negatives are adapted until whole ones fill the
// time. Not more than kMostRepeats times the epochs that the choice had before. A function of the machine's speed too:
// call it once and store the options. Runs on TBB's workers.
absl::StatusOr<Choice> ChooseForTime(const Graph& graph, const GraphFacts& facts, std::uint64_t memory,
                                     const TrainOptions& options, const GivenOptions& given, const TimeLimit& limit);

inline constexpr std::uint64_t kMostRepeats = 4;

}  // namespace octavo
