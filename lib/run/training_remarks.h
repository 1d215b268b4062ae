// What a training begins with, in words, and what in its options may not be what was meant.
#pragma once

#include <string>
#include <vector>

#include "format/graph_description.h"
#include "run/options.h"

namespace octavo {

// "40 nodes, 3 relations, 400 train, 0 valid and 10 test edges".
std::string GraphText(const GraphDescription& graph);

// "complex, dim 100, 10 epochs: softmax against 512 negatives, row-adagrad at 0.1".
std::string TrainingText(const TrainOptions& options);

// Remarks on options that fit the graph badly, a line each: a model that ignores its relations or has none to learn,
// more negatives than nodes.
std::vector<std::string> TrainingRemarks(const GraphDescription& graph, const TrainOptions& options);

}  // namespace octavo
