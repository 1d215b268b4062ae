// The filter in bounded memory: the nodes are taken a window at a time, so that the known answers in one fit.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "evaluate/known_answers.h"
#include "graph/graph.h"

namespace octavo {

// Cuts the graph's nodes into runs of partitions, each one partition or with so few edges at its nodes that they give
// at most `max_answers`. No window asks for cells that another one reads for the same side, so many windows read no
// more than one.
std::vector<NodeRange> MakeKnownWindows(const Graph& graph, std::uint64_t max_answers);

// Calls `visit` with the answers to `questions` among `nodes`, or, where there are more than `max_answers`, for the
// halves of `nodes`, and so on down to single nodes, in order. Every halving reads the cells again. Stops at the first
// error.
absl::Status VisitKnownAnswers(const Graph& graph, const QuestionIndex& questions, const NodeRange& nodes,
                               std::uint64_t max_answers,
                               const std::function<absl::Status(const NodeRange&, const KnownAnswers&)>& visit);

}  // namespace octavo
