#include "evaluate/nearest.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "absl/container/flat_hash_set.h"
#include "base/parallel.h"
#include "base/status.h"
#include "evaluate/answer_ranges.h"
#include "evaluate/row_stream.h"
#include "model/scorer.h"
#include "oneapi/tbb/enumerable_thread_specific.h"

namespace octavo {
namespace {

constexpr std::uint64_t kDefaultMemory = std::uint64_t{1} << 30;
constexpr std::uint64_t kMaxBlockBytes = 16 << 20;
constexpr std::size_t kTileRows = 4096;

float NormOf(std::span<const float> row) {
  double sum = 0;
  for (const float x : row) sum += static_cast<double>(x) * static_cast<double>(x);
  return static_cast<float>(std::sqrt(sum));
}

// Adjusts the raw score of a candidate row.
using Adjust = std::function<float(float, std::span<const float>)>;

std::uint64_t MemoryOf(const NodeSearchOptions& options) {
  return options.memory_bytes == 0 ? kDefaultMemory : options.memory_bytes;
}

// An eighth of the memory each for the block being searched, the block being read, and its pages in the cache.
std::uint64_t BlockRowsOf(const NodeSearchOptions& options, std::size_t dim) {
  if (options.block_rows > 0) return options.block_rows;
  return std::max<std::uint64_t>(1, std::min(kMaxBlockBytes, MemoryOf(options) / 8) / (dim * sizeof(float)));
}

// The query vector and how rows are compared with it.
struct Search {
  const EmbeddedGraph& embedded;
  ModelSpec model;
  std::span<const float> query;
  Adjust adjust;
};

// Reads the rows of `nodes` and returns the k best. Leaves out the nodes in `skip`, which ascend.
absl::StatusOr<TopK> SearchTable(const Search& search, const AnswerRange& nodes, std::span<const std::uint64_t> skip,
                                 const NodeSearchOptions& options) {
  struct Worker {
    TopK best;
    ScoreScratch scratch;
    std::vector<float> scores;
  };
  const std::size_t dim = search.model.dim;
  tbb::enumerable_thread_specific<Worker> workers([&] { return Worker{TopK(options.k), {}, {}}; });
  const auto score_block = [&](const RowBlock& block) -> absl::Status {
    if (options.stop && options.stop()) return absl::CancelledError("the search was stopped");
    RETURN_IF_ERROR(CheckFinite(search.embedded, block.first, block.values));
    const std::size_t rows = block.values.size() / dim;
    ParallelRanges(0, rows, kTileRows, [&](std::size_t begin, std::size_t end) {
      Worker& worker = workers.local();
      worker.scores.resize(end - begin);
      const std::span<const float> tile = block.values.subspan(begin * dim, (end - begin) * dim);
      ScoreBlock(search.model, search.query, 1, tile, end - begin, worker.scratch, worker.scores);
      for (std::size_t i = 0; i < end - begin; ++i) {
        const std::uint64_t node = block.first + begin + i;
        if (std::binary_search(skip.begin(), skip.end(), node)) continue;
        const float score =
            search.adjust ? search.adjust(worker.scores[i], tile.subspan(i * dim, dim)) : worker.scores[i];
        worker.best.Add({NodeId{node}, score});
      }
    });
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(
      StreamRows(search.embedded.embeddings, nodes.first, nodes.last, BlockRowsOf(options, dim), score_block));
  TopK best(options.k);
  for (const Worker& worker : workers) {
    for (const ScoredNode& scored : worker.best.Nodes()) best.Add(scored);
  }
  return best;
}

absl::StatusOr<std::vector<float>> ReadNode(const EmbeddedGraph& embedded, NodeId node) {
  std::vector<float> row(embedded.model.dim);
  RETURN_IF_ERROR(embedded.embeddings.ReadRows(Value(node), row));
  RETURN_IF_ERROR(CheckFinite(embedded, Value(node), row));
  return row;
}

}  // namespace

std::uint64_t LeastSearchMemory(const EmbeddedGraph& embedded) {
  // Enough for blocks of half a MiB or a few rows.
  return std::max<std::uint64_t>(4 << 20, 32 * embedded.model.dim * sizeof(float));
}

absl::StatusOr<std::vector<ScoredNode>> NearestNodes(const EmbeddedGraph& embedded, NodeId node, Similarity similarity,
                                                     const NodeSearchOptions& options) {
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
  const Search search{embedded, product, row, similarity == Similarity::kCosine ? cosine : Adjust()};
  ASSIGN_OR_RETURN(TopK best, SearchTable(search, {0, embedded.graph.node_count()}, std::span(&self, 1), options));
  return best.TakeSorted();
}

absl::StatusOr<Predictions> PredictLinks(const EmbeddedGraph& embedded, const LinkQuestion& question,
                                         KnownEdges known_edges, const NodeSearchOptions& options) {
  RETURN_IF_ERROR(CheckEmbeddedGraph(embedded));
  ASSIGN_OR_RETURN(const std::vector<float> row, ReadNode(embedded, question.known));
  std::vector<float> query(embedded.model.dim);
  MakeLinkQuery(embedded, question.side, question.relation, row, query);
  const Search search{embedded, embedded.model, query, Adjust()};
  TopK best(options.k);
  Predictions predictions;
  absl::flat_hash_set<std::uint64_t> known_best;  // the known answers that `best` ever held
  const auto search_range = [&](const AnswerRange& nodes, const KnownAnswers& answers) -> absl::Status {
    const std::span<const std::uint64_t> known = answers.Of(0);
    predictions.known += known.size();
    const bool hide = known_edges == KnownEdges::kHide;
    ASSIGN_OR_RETURN(const TopK found,
                     SearchTable(search, nodes, hide ? known : std::span<const std::uint64_t>(), options));
    for (const ScoredNode& scored : found.Nodes()) {
      best.Add(scored);
      if (std::binary_search(known.begin(), known.end(), Value(scored.node))) known_best.insert(Value(scored.node));
    }
    return absl::OkStatus();
  };
  const QuestionIndex questions({question});
  const std::uint64_t max_answers = MemoryOf(options) / 4 / KnownAnswers::kBytes;
  for (const AnswerRange& range : MakeAnswerRanges(embedded.graph, max_answers)) {
    RETURN_IF_ERROR(VisitKnownAnswers(embedded.graph, questions, range, max_answers, search_range));
  }
  for (const ScoredNode& scored : best.TakeSorted()) {
    predictions.nodes.push_back({scored.node, scored.score, known_best.contains(Value(scored.node))});
  }
  return predictions;
}

}  // namespace octavo
