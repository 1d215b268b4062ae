// The candidates of a search without a space: the choice of choose/choice.h for the graph, and variations of it. What
// an option varies over follows from the value that the rules give it for this graph.
#pragma once

#include <cstdint>
#include <vector>

#include "choose/choice.h"
#include "choose/graph_facts.h"
#include "format/graph_description.h"
#include "run/options.h"

namespace octavo {

struct CandidateSource {
  GraphFacts facts;
  GraphDescription graph;
  std::uint64_t memory = 0;    // bytes that every candidate fits in
  double flops = kUsualFlops;  // of the choices (choose/choice.h)
  std::uint64_t epochs = 0;    // of the choices; 0: by the rules
  std::uint64_t seed = 1;
};

// Returns at most `count` distinct candidates; fewer if the thousandth draw of one repeats another. The first is the
// choice itself: what train without options takes, if `flops` and `epochs` are the defaults. Some of the others have
// another model, regularizer or loss, and the options that the rules give with it; then numbers vary by a factor:
// learning rate, weight of the regularizer, dimension, negatives, batch, epochs, for a graph of one relation those of
// the walks. Each is drawn by counter: a candidate does not depend on `count`. A function of its arguments.
// REQUIRES: count > 0
std::vector<TrainOptions> MakeCandidates(const CandidateSource& source, std::uint64_t count);

}  // namespace octavo
