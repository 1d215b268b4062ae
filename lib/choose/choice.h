// Training options chosen from the facts of a graph, for whoever has not given any. docs/defaults.md has the rules with
// their reasons, docs/defaults-measured.md what they rest on.
#pragma once

#include <cstdint>
#include <string>

#include "choose/choice_limits.h"
#include "choose/graph_facts.h"
#include "format/graph_description.h"
#include "run/options.h"

namespace octavo {

struct Choice {
  TrainOptions options;
  double flops = 0;    // of the matrix products, or as many as the pairs of walks stand for; 0 if neither
  GivenOptions names;  // of the options that were chosen
  // A line each, for people: what was measured, what was chosen, and why.
  std::string facts;
  std::string chosen;  // ChosenText
  std::string reasons;
};

// Returns `options` with a choice for every option that is not in `given`. It follows what is given: a chunk that fits
// the given batch, a regularizer that the given model has. What contradicts itself in `given` is left as it is, for
// ValidateTrainOptions. If `memory` bytes are too few even for the smallest choice, that one is returned, for
// ChooseShape to refuse. Depends on its arguments only. With `timed` the epochs will be chosen to fill a time
// (choose/timed_choice.h): where an epoch is long it becomes shorter, so that whole epochs fill the time.
Choice ChooseOptions(const GraphFacts& facts, const GraphDescription& graph, std::uint64_t memory,
                     const TrainOptions& options, const GivenOptions& given, double most_flops = kUsualFlops,
                     bool timed = false);

// The learning rate for the model, optimizer, epochs, lanes and groups of `options`. Choose those first.
double RateFor(const TrainOptions& options, const GraphFacts& facts);

// Returns the options that were not given as flags: those in `names`, and others that are not at their defaults.
std::string ChosenText(const TrainOptions& options, const GivenOptions& given, const GivenOptions& names);

}  // namespace octavo
