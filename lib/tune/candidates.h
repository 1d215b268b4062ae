// The candidates of a search without a space: the choice of choose/choice.h for the graph, and variations of it. What
// an option varies over follows from the value that the rules give it for this graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "choose/choice_limits.h"
#include "choose/graph_facts.h"
#include "format/graph_description.h"
#include "run/options.h"

namespace octavo {

// A candidate that takes far longer than the choice.
struct LargerCandidate {
  TrainOptions options;
  double seconds = 0;  // that a training in full is expected to take
};

struct CandidateSource {
  GraphFacts facts;
  GraphDescription graph;
  std::uint64_t memory = 0;                    // bytes that every candidate fits in
  double flops = kUsualFlops;                  // of the choices (choose/choice_limits.h)
  std::optional<LargerCandidate> larger = {};  // the second candidate, if there is one
  // Options that are not chosen: they have these values in every candidate, unless one of its draws replaces it.
  TrainOptions options = {};
  GivenOptions given = {};
  std::uint64_t seed = 1;
};

// Returns at most `count` distinct candidates; fewer if the thousandth draw of one repeats another. First those of
// MakeProbableCandidates. The others are drawn: some have another model, regularizer or loss, and the options that the
// rules give with it; then numbers vary by a factor: learning rate, weight of the regularizer, dimension, negatives,
// batch, epochs, for a graph of one relation those of the walks. Each is drawn by counter: a candidate does not depend
// on `count`. A function of its arguments. REQUIRES: count > 0
std::vector<TrainOptions> MakeCandidates(const CandidateSource& source, std::uint64_t count);

// Returns at most `count`: the choice itself, which is what the rules of train choose if the source has only its facts,
// graph and memory; then the larger one, if it differs; then, up to four, the changes of the first that were
// better most often on the graphs measured. None changes what is given. REQUIRES: count > 0
std::vector<TrainOptions> MakeProbableCandidates(const CandidateSource& source, std::uint64_t count);

// Whether the second of `candidates`, which are those of the source, is the larger one.
bool HasLarger(const CandidateSource& source, const std::vector<TrainOptions>& candidates);

// Returns `first` with all that differs from it in `a` and in `b`. Nothing if both change the same option, or if the
// result cannot be trained within the source's memory.
std::optional<TrainOptions> CombineCandidates(const CandidateSource& source, const TrainOptions& first,
                                              const TrainOptions& a, const TrainOptions& b);

// The options that differ; not the block of a model that has none.
std::vector<const OptionField*> DifferingOptions(const TrainOptions& options, const TrainOptions& first);

// What differs from the first candidate, for people: "learning-rate 0.1, dim 64". Empty if nothing does.
std::string DifferenceText(const TrainOptions& options, const TrainOptions& first);

}  // namespace octavo
