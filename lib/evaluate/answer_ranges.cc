#include "evaluate/answer_ranges.h"

#include <algorithm>
#include <optional>

#include "base/status.h"

namespace octavo {
namespace {

// Returns the number of edges of all three splits with an end in partitions [first, last): an upper bound for the known
// answers among their nodes to all questions of one side.
std::uint64_t EdgesOfPartitions(const Graph& graph, std::uint32_t first, std::uint32_t last) {
  const auto wanted = [&](std::uint32_t partition) { return partition >= first && partition < last; };
  std::uint64_t edges = 0;
  for (const Split split : {Split::kTrain, Split::kValid, Split::kTest}) {
    const CellReader& cells = graph.Edges(split);
    for (std::size_t block = 0; block < cells.block_count(); ++block) {
      const BlockRecord& record = cells.block(block);
      if (wanted(record.head_partition) || wanted(record.tail_partition)) edges += record.edges;
    }
  }
  return edges;
}

}  // namespace

std::vector<AnswerRange> MakeAnswerRanges(const Graph& graph, std::uint64_t max_answers) {
  const GraphDescription& description = graph.description();
  std::vector<AnswerRange> ranges;
  std::uint32_t first = 0;
  while (first < description.partition_count) {
    std::uint32_t last = description.partition_count;
    // Halved, as an edge is an answer on either side.
    while (last > first + 1 && EdgesOfPartitions(graph, first, last) > max_answers / 2)
      last = first + (last - first) / 2;
    ranges.push_back(
        {first * description.partition_rows, std::min(last * description.partition_rows, description.node_count)});
    first = last;
  }
  return ranges;
}

absl::Status VisitKnownAnswers(const Graph& graph, const QuestionIndex& questions, const AnswerRange& nodes,
                               std::uint64_t max_answers,
                               const std::function<absl::Status(const AnswerRange&, const KnownAnswers&)>& visit) {
  // A single node answers a question once, or once for each stored copy of the edge: it cannot be halved further.
  const std::uint64_t most = nodes.size() > 1 ? max_answers : UINT64_MAX;
  ASSIGN_OR_RETURN(const std::optional<KnownAnswers> known, KnownAnswers::Gather(graph, questions, nodes, most));
  if (known) return visit(nodes, *known);
  const std::uint64_t middle = nodes.first + nodes.size() / 2;
  RETURN_IF_ERROR(VisitKnownAnswers(graph, questions, {nodes.first, middle}, max_answers, visit));
  return VisitKnownAnswers(graph, questions, {middle, nodes.last}, max_answers, visit);
}

}  // namespace octavo
