#include "cmd/report_examples.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/status.h"
#include "cmd/opened_run.h"
#include "evaluate/nearest.h"
#include "fmt/format.h"
#include "report/page.h"

namespace octavo {
namespace {

constexpr std::size_t kAnswers = 5;
// A question and its answers, whose names and labels are those of MapName, in the page and while it is made.
constexpr std::uint64_t kExampleBytes = std::uint64_t{64} << 10;

std::string TextOf(const TrainedRun& run, NodeId node) {
  return MapName(run.graph->nodes().Name(node), run.graph->LabelOf(node));
}

absl::StatusOr<Example> NeighborsOf(const TrainedRun& run, NodeId node, const NodeSearchOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<ScoredNode> found,
                   NearestNodes(EmbeddedOf(run), node, Similarity::kCosine, options));
  Example example = {.question = TextOf(run, node)};
  for (const ScoredNode& scored : found) {
    example.answers.push_back({.name = TextOf(run, scored.node), .score = static_cast<double>(scored.score)});
  }
  return example;
}

absl::StatusOr<Example> TailsOf(const TrainedRun& run, const Edge& edge, const NodeSearchOptions& options) {
  LinkQuestion question;
  question.side = Side::kTail;
  question.known = edge.head;
  question.relation = edge.relation;
  ASSIGN_OR_RETURN(const Predictions found, PredictLinks(EmbeddedOf(run), question, KnownEdges::kMark, options));
  const std::string relation = MapName(run.graph->RelationName(edge.relation), run.graph->LabelOf(edge.relation));
  Example example = {.question = fmt::format("{}, {}, ?", TextOf(run, edge.head), relation)};
  for (const Prediction& prediction : found.nodes) {
    if (prediction.node == edge.head && !prediction.known) continue;  // mostly because rows are like themselves
    const std::string_view note = prediction.node == edge.tail ? "the edge" : prediction.known ? "in the graph" : "";
    example.answers.push_back({.name = TextOf(run, prediction.node),
                               .score = static_cast<double>(prediction.score),
                               .note = std::string(note)});
  }
  return example;
}

// Up to `count` edges of the first block, at equal distances.
absl::StatusOr<std::vector<Edge>> SomeEdges(const CellReader& cells, std::uint64_t count) {
  if (cells.block_count() == 0) return std::vector<Edge>();
  std::vector<Edge> edges(cells.block(0).edges);
  std::vector<std::byte> scratch;
  RETURN_IF_ERROR(cells.ReadBlock(0, edges, scratch));
  cells.Forget(0, 1);
  std::vector<Edge> some;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, edges.size()); ++i) {
    some.push_back(edges[i * edges.size() / std::min<std::uint64_t>(count, edges.size())]);
  }
  return some;
}

}  // namespace

std::uint64_t ExampleBytes(std::uint64_t count) { return 2 * count * kExampleBytes; }

absl::StatusOr<Examples> MakeExamples(const TrainedRun& run, std::span<const SurveyedNode> nodes,
                                      std::optional<Split> split, std::uint64_t count, std::uint64_t memory_bytes,
                                      const std::function<void(double)>& progress) {
  const std::span<const SurveyedNode> asked = nodes.first(std::min<std::size_t>(count, nodes.size()));
  std::vector<Edge> edges;
  if (split) {
    ASSIGN_OR_RETURN(edges, SomeEdges(run.graph->Edges(*split), count));
  }
  NodeSearchOptions options;
  options.k = kAnswers;
  options.memory_bytes = memory_bytes;
  Examples examples;
  const auto tell = [&] {
    const std::size_t done = examples.neighbors.size() + examples.predictions.size();
    progress(static_cast<double>(done) / static_cast<double>(asked.size() + edges.size()));
  };
  for (const SurveyedNode& node : asked) {
    ASSIGN_OR_RETURN(Example example, NeighborsOf(run, NodeId{node.node}, options));
    examples.neighbors.push_back(std::move(example));
    tell();
  }
  for (const Edge& edge : edges) {
    ASSIGN_OR_RETURN(Example example, TailsOf(run, edge, options));
    examples.predictions.push_back(std::move(example));
    tell();
  }
  return examples;
}

}  // namespace octavo
