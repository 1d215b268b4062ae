// The filter in bounded memory: processes the nodes in ranges, so that the known answers of one range fit.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "evaluate/known_answers.h"
#include "graph/graph.h"

namespace octavo {

// Cuts the graph's nodes into ranges of partitions. Each range has one partition, or so few edges at its nodes that
// they give at most `max_answers`. For one side, no two ranges read the same cells, so many ranges read no more than
// one.
std::vector<AnswerRange> MakeAnswerRanges(const Graph& graph, std::uint64_t max_answers);

// Calls `visit` with the answers to `questions` among `nodes`. If there are more than `max_answers`, calls it for the
// halves of `nodes` instead, and so on down to single nodes, in order. Every halving reads the cells again. Stops at
// the first error.
absl::Status VisitKnownAnswers(const Graph& graph, const QuestionIndex& questions, const AnswerRange& nodes,
                               std::uint64_t max_answers,
                               const std::function<absl::Status(const AnswerRange&, const KnownAnswers&)>& visit);

}  // namespace octavo
