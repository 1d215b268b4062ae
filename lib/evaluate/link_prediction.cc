#include "evaluate/link_prediction.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/escape.h"
#include "base/parallel.h"
#include "base/status.h"
#include "evaluate/known_edges.h"
#include "evaluate/non_edges.h"
#include "evaluate/pair_scorer.h"
#include "evaluate/separation.h"
#include "evaluate/triple_reader.h"
#include "evaluate/wanted_rows.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr std::uint64_t kDefaultMemory = std::uint64_t{1} << 30;
constexpr std::uint64_t kGatherBytes = 2 << 20;  // rows are gathered in pieces of this size
constexpr std::uint64_t kReaderBytes = 4 << 20;  // of the page cache: blocks of edges that are read in order
constexpr std::uint64_t kDrawnBytes = 32;        // a number drawn without replacement, in a hash set and a vector
constexpr std::uint64_t kMaxBatchEdges = std::uint64_t{1} << 30;  // 32 bits number those of a batch

std::uint64_t EdgeCount(const EmbeddedGraph& embedded, const LinkPredictionOptions& options) {
  const std::uint64_t edges = embedded.graph.Edges(options.split).edge_count();
  return options.sample == 0 ? edges : std::min(options.sample, edges);
}

// What does not become less with less memory: scores, numbers of the sample, scratch of the threads.
std::uint64_t FixedBytes(const EmbeddedGraph& embedded, const LinkPredictionOptions& options, int threads) {
  const std::uint64_t edges = EdgeCount(embedded, options);
  const auto workers = static_cast<std::uint64_t>(std::max(1, threads));
  const std::uint64_t gathering = 2 * std::max(kGatherBytes, workers * embedded.model.dim * sizeof(float));
  return 2 * edges * sizeof(float) + (options.sample == 0 ? 0 : edges * kDrawnBytes) + workers * kFindEdgesThreadBytes +
         gathering + kReaderBytes;
}

// An edge and its non-edge while the latter is drawn, then while they are scored.
std::uint64_t DrawBytes() { return 2 * sizeof(Edge) + kNonEdgeBytes; }
std::uint64_t ScoreBytes(const EmbeddedGraph& embedded) {
  return embedded.model.dim * sizeof(float) + sizeof(WantedRow) + sizeof(std::uint64_t);
}

// The least that is worth sharing out: some thousand edges a pass over the graph, some hundred a gathering.
std::uint64_t LeastSharedBytes(const EmbeddedGraph& embedded) {
  return std::max(4096 * DrawBytes(), 256 * ScoreBytes(embedded)) * 2;
}

// Half of what is shared out goes to the drawing, half to the scoring.
struct LinkPredictionPlan {
  std::uint64_t draw_edges = 1;
  std::uint64_t score_triples = 1;
};

LinkPredictionPlan MakePlan(const EmbeddedGraph& embedded, const LinkPredictionOptions& options) {
  const std::uint64_t memory = options.memory_bytes == 0 ? kDefaultMemory : options.memory_bytes;
  const std::uint64_t fixed = FixedBytes(embedded, options, MaxConcurrency());
  const std::uint64_t least = LeastSharedBytes(embedded);
  const std::uint64_t shared = memory >= fixed + least ? memory - fixed : least;
  return {std::clamp<std::uint64_t>(shared / 2 / DrawBytes(), 1, kMaxBatchEdges),
          std::clamp<std::uint64_t>(shared / 2 / ScoreBytes(embedded), 1, kMaxBatchEdges)};
}

// The triples that the model cannot tell from an edge.
EdgeMatch SameScores(const ModelSpec& model) {
  return {.either_way = model.kind == ModelKind::kDot || model.kind == ModelKind::kDistMult,
          .any_relation = model.RelationWidth() == 0};
}

absl::Status NotFiniteError(const EmbeddedGraph& embedded, const Edge& triple, float score) {
  const Graph& graph = embedded.graph;
  return RuntimeError(fmt::format(
      "the score of \"{}\", relation \"{}\", \"{}\" is {}; expected a finite number: the embeddings are too large for "
      "single precision",
      Escape(graph.nodes().Name(triple.head)), Escape(graph.RelationName(triple.relation)),
      Escape(graph.nodes().Name(triple.tail)), score));
}

// The scores of edges and non-edges, as they are gathered.
class ScoreCollector {
 public:
  ScoreCollector(const EmbeddedGraph& embedded, std::uint64_t edges, std::uint64_t triples_at_once)
      : embedded_(embedded), triples_at_once_(triples_at_once) {
    positives_.reserve(edges);
    negatives_.reserve(edges);
  }

  absl::Status AddPositives(std::span<const Edge> edges) { return Add(edges, positives_); }
  absl::Status AddNegatives(std::span<const Edge> edges) { return Add(edges, negatives_); }

  LinkPredictionReport Finish() && {
    ParallelBoth([&] { std::sort(positives_.begin(), positives_.end()); },
                 [&] { std::sort(negatives_.begin(), negatives_.end()); });
    return {positives_.size(), negatives_.size(), RocAuc(positives_, negatives_),
            AveragePrecision(positives_, negatives_)};
  }

  bool has_negatives() const { return !negatives_.empty(); }

 private:
  absl::Status Add(std::span<const Edge> edges, std::vector<float>& scores) {
    for (std::size_t first = 0; first < edges.size(); first += triples_at_once_) {
      const std::size_t count = std::min<std::size_t>(triples_at_once_, edges.size() - first);
      scores.resize(scores.size() + count);
      RETURN_IF_ERROR(ScoreTriples(embedded_, edges.subspan(first, count), std::span(scores).last(count)));
    }
    return absl::OkStatus();
  }

  const EmbeddedGraph& embedded_;
  const std::uint64_t triples_at_once_;
  std::vector<float> positives_;
  std::vector<float> negatives_;
};

}  // namespace

absl::Status ScoreTriples(const EmbeddedGraph& embedded, std::span<const Edge> triples, std::span<float> scores) {
  const std::size_t dim = embedded.model.dim;
  std::vector<float> queries(triples.size() * dim);
  const auto query_of = [&](std::size_t i) { return std::span(queries).subspan(i * dim, dim); };
  std::vector<WantedRow> wanted(triples.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = {Value(triples[i].head), static_cast<std::uint32_t>(i)};
  RETURN_IF_ERROR(ForEachWantedRow(embedded, wanted, kGatherBytes, [&](std::size_t i, std::span<const float> row) {
    MakeLinkQuery(embedded, Side::kTail, triples[i].relation, row, query_of(i));
  }));
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = {Value(triples[i].tail), static_cast<std::uint32_t>(i)};
  PairScorer scorer(embedded.model);
  RETURN_IF_ERROR(ForEachWantedRow(embedded, wanted, kGatherBytes, [&](std::size_t i, std::span<const float> row) {
    scorer.Add(query_of(i), row, scores[i]);
  }));
  scorer.Finish();
  const auto bad = std::find_if(scores.begin(), scores.end(), [](float score) { return !std::isfinite(score); });
  if (bad == scores.end()) return absl::OkStatus();
  return NotFiniteError(embedded, triples[static_cast<std::size_t>(bad - scores.begin())], *bad);
}

std::uint64_t LeastLinkPredictionMemory(const EmbeddedGraph& embedded, const LinkPredictionOptions& options,
                                        int threads) {
  return FixedBytes(embedded, options, threads) + LeastSharedBytes(embedded);
}

absl::StatusOr<LinkPredictionReport> PredictHeldOutEdges(const EmbeddedGraph& embedded,
                                                         const LinkPredictionOptions& options) {
  RETURN_IF_ERROR(CheckEmbeddedGraph(embedded));
  TripleReader reader(embedded.graph.Edges(options.split), options.sample, options.seed);
  if (reader.size() == 0) return EmptySplitError(embedded.graph, options.split);
  const LinkPredictionPlan plan = MakePlan(embedded, options);
  const NonEdgeRule rule{options.seed, SameScores(embedded.model)};
  ScoreCollector scores(embedded, reader.size(), plan.score_triples);
  std::uint64_t done = 0;
  while (done < reader.size()) {
    ASSIGN_OR_RETURN(const std::vector<Edge> edges, reader.Next(plan.draw_edges));
    RETURN_IF_ERROR(scores.AddPositives(edges));
    std::vector<Edge> non_edges;
    {
      ASSIGN_OR_RETURN(const std::vector<std::optional<Edge>> drawn, DrawNonEdges(embedded.graph, edges, done, rule));
      for (const std::optional<Edge>& edge : drawn) {
        if (edge) non_edges.push_back(*edge);
      }
    }
    RETURN_IF_ERROR(scores.AddNegatives(non_edges));
    done += edges.size();
    if (options.progress) options.progress(static_cast<double>(done) / static_cast<double>(reader.size()));
  }
  if (!scores.has_negatives()) {
    return RuntimeError(fmt::format(
        "{}: found no pair of nodes that is no edge, in some thousand draws; expected a graph that lacks edges",
        embedded.graph.paths().folder().string()));
  }
  return std::move(scores).Finish();
}

}  // namespace octavo
