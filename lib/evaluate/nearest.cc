#include "evaluate/nearest.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "base/parallel.h"
#include "base/status.h"
#include "evaluate/row_stream.h"
#include "model/scorer.h"
#include "oneapi/tbb/enumerable_thread_specific.h"

namespace octavo {
namespace {

constexpr std::uint64_t kBlockBytes = 16 << 20;
constexpr std::size_t kTileRows = 4096;

float NormOf(std::span<const float> row) {
  double sum = 0;
  for (const float x : row) sum += static_cast<double>(x) * static_cast<double>(x);
  return static_cast<float>(std::sqrt(sum));
}

// Adjusts the raw score of a candidate row.
using Adjust = std::function<float(float, std::span<const float>)>;

// Streams the table and keeps the k best of those that `skip`, ascending, does not name.
absl::StatusOr<std::vector<ScoredNode>> SearchTable(const EmbeddedGraph& embedded, const ModelSpec& model,
                                                    std::span<const float> query, std::span<const std::uint64_t> skip,
                                                    const Adjust& adjust, const SearchOptions& options) {
  struct Worker {
    TopK best;
    ScoreScratch scratch;
    std::vector<float> scores;
  };
  const std::size_t dim = model.dim;
  const std::uint64_t block_rows =
      options.block_rows > 0 ? options.block_rows : std::max<std::uint64_t>(1, kBlockBytes / (dim * sizeof(float)));
  tbb::enumerable_thread_specific<Worker> workers([&] { return Worker{TopK(options.k), {}, {}}; });
  const auto search = [&](const RowRun& run) -> absl::Status {
    RETURN_IF_ERROR(CheckFinite(embedded, run.first, run.values));
    const std::size_t rows = run.values.size() / dim;
    ParallelRanges(0, rows, kTileRows, [&](std::size_t begin, std::size_t end) {
      Worker& worker = workers.local();
      worker.scores.resize(end - begin);
      const std::span<const float> tile = run.values.subspan(begin * dim, (end - begin) * dim);
      ScoreBlock(model, query, 1, tile, end - begin, worker.scratch, worker.scores);
      for (std::size_t i = 0; i < end - begin; ++i) {
        const std::uint64_t node = run.first + begin + i;
        if (std::binary_search(skip.begin(), skip.end(), node)) continue;
        const float score = adjust ? adjust(worker.scores[i], tile.subspan(i * dim, dim)) : worker.scores[i];
        worker.best.Add({NodeId{node}, score});
      }
    });
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(StreamRows(embedded.embeddings, 0, embedded.graph.node_count(), block_rows, search));
  TopK best(options.k);
  for (const Worker& worker : workers) {
    for (const ScoredNode& scored : worker.best.Nodes()) best.Add(scored);
  }
  return best.TakeSorted();
}

absl::StatusOr<std::vector<float>> ReadNode(const EmbeddedGraph& embedded, NodeId node) {
  std::vector<float> row(embedded.model.dim);
  RETURN_IF_ERROR(embedded.embeddings.ReadRows(Value(node), row));
  RETURN_IF_ERROR(CheckFinite(embedded, Value(node), row));
  return row;
}

}  // namespace

absl::StatusOr<std::vector<ScoredNode>> NearestNodes(const EmbeddedGraph& embedded, NodeId node, Similarity similarity,
                                                     const SearchOptions& options) {
  RETURN_IF_ERROR(CheckEmbeddedGraph(embedded));
  ASSIGN_OR_RETURN(const std::vector<float> row, ReadNode(embedded, node));
  const float norm = NormOf(row);
  const Adjust cosine = [norm](float product, std::span<const float> candidate) {
    const float norms = norm * NormOf(candidate);
    return norms == 0.0F ? 0.0F : product / norms;
  };
  ModelSpec product = embedded.model;
  product.kind = ModelKind::kDot;
  const std::uint64_t self = Value(node);
  return SearchTable(embedded, product, row, std::span(&self, 1), similarity == Similarity::kCosine ? cosine : Adjust(),
                     options);
}

absl::StatusOr<std::vector<Prediction>> PredictLinks(const EmbeddedGraph& embedded, const LinkQuestion& question,
                                                     KnownEdges known_edges, const SearchOptions& options) {
  RETURN_IF_ERROR(CheckEmbeddedGraph(embedded));
  ASSIGN_OR_RETURN(const std::vector<float> row, ReadNode(embedded, question.known));
  std::vector<float> query(embedded.model.dim);
  MakeLinkQuery(embedded, question.side, question.relation, row, query);
  ASSIGN_OR_RETURN(const KnownAnswers answers, KnownAnswers::Gather(embedded.graph, QuestionIndex({question}), 0,
                                                                    embedded.graph.description().partition_count));
  const std::span<const std::uint64_t> known = answers.Of(0);
  const bool hide = known_edges == KnownEdges::kHide;
  ASSIGN_OR_RETURN(
      const std::vector<ScoredNode> best,
      SearchTable(embedded, embedded.model, query, hide ? known : std::span<const std::uint64_t>(), Adjust(), options));
  std::vector<Prediction> predictions;
  for (const ScoredNode& scored : best) {
    predictions.push_back(
        {scored.node, scored.score, std::binary_search(known.begin(), known.end(), Value(scored.node))});
  }
  return predictions;
}

}  // namespace octavo
