#include "evaluate/link_prediction.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/escape.h"
#include "base/parallel.h"
#include "base/status.h"
#include "evaluate/auc.h"
#include "evaluate/known_edges.h"
#include "evaluate/non_edges.h"
#include "evaluate/pair_scorer.h"
#include "evaluate/triple_reader.h"
#include "evaluate/wanted_rows.h"
#include "fmt/format.h"
#include "format/paths.h"

namespace octavo {
namespace {

constexpr std::uint64_t kDefaultMemory = std::uint64_t{1} << 30;
constexpr std::uint64_t kGatherBytes = 2 << 20;  // rows are gathered in pieces of this size
constexpr std::uint64_t kReaderBytes = 4 << 20;  // page cache for blocks of edges that are read in order
constexpr std::uint64_t kDrawnBytes = 32;        // one number drawn without replacement, in a hash set and a vector
constexpr std::uint64_t kMaxBatchEdges = std::uint64_t{1} << 30;  // a batch numbers its edges with 32 bits

std::uint64_t EdgeCount(const EmbeddedGraph& embedded, const LinkPredictionOptions& options) {
  const std::uint64_t edges = embedded.graph.Edges(options.split).edge_count();
  return options.sample == 0 ? edges : std::min(options.sample, edges);
}

// The most negatives that the edges may get.
std::uint64_t MostNegatives(const EmbeddedGraph& embedded, const LinkPredictionOptions& options) {
  if (!options.negatives.empty()) return options.negatives.size();
  const std::uint64_t edges = EdgeCount(embedded, options);
  return options.candidate_nodes.empty() ? edges : 2 * edges * options.candidate_nodes.size();
}

// Memory that does not depend on the limit: scores, numbers of the sample, scratch of the threads.
std::uint64_t FixedBytes(const EmbeddedGraph& embedded, const LinkPredictionOptions& options, int threads) {
  const std::uint64_t edges = EdgeCount(embedded, options);
  const auto workers = static_cast<std::uint64_t>(std::max(1, threads));
  const std::uint64_t gathering = 2 * std::max(kGatherBytes, workers * embedded.model.dim * sizeof(float));
  return (edges + MostNegatives(embedded, options)) * sizeof(float) + (options.sample == 0 ? 0 : edges * kDrawnBytes) +
         workers * kFindEdgesThreadBytes + gathering + kReaderBytes;
}

// An edge and its non-edge, first while the latter is drawn, then while both are scored.
std::uint64_t DrawBytes() { return 2 * sizeof(Edge) + kNonEdgeBytes; }
std::uint64_t ScoreBytes(const EmbeddedGraph& embedded) {
  return embedded.model.dim * sizeof(float) + sizeof(WantedRow) + sizeof(std::uint64_t);
}

// The smallest useful remainder: some thousand edges per pass over the graph, some hundred per gathering.
std::uint64_t LeastSharedBytes(const EmbeddedGraph& embedded) {
  return std::max(4096 * DrawBytes(), 256 * ScoreBytes(embedded)) * 2;
}

// Half of the remaining memory is for drawing, half for scoring.
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

// Triples whose scores always equal that of an edge.
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

// Collects the scores of edges and non-edges.
class ScoreCollector {
 public:
  ScoreCollector(const EmbeddedGraph& embedded, std::uint64_t edges, std::uint64_t most_negatives,
                 std::uint64_t triples_at_once)
      : embedded_(embedded), triples_at_once_(triples_at_once) {
    positives_.reserve(edges);
    negatives_.reserve(most_negatives);
  }

  absl::Status AddPositives(std::span<const Edge> edges) { return Add(edges, positives_); }
  absl::Status AddNegatives(std::span<const Edge> edges) { return Add(edges, negatives_); }

  LinkPredictionReport Finish() && {
    ParallelBoth([&] { std::sort(positives_.begin(), positives_.end()); },
                 [&] { std::sort(negatives_.begin(), negatives_.end()); });
    LinkPredictionReport report{.edges = positives_.size(),
                                .non_edges = negatives_.size(),
                                .auc = RocAuc(positives_, negatives_),
                                .average_precision = AveragePrecision(positives_, negatives_)};
    for (std::size_t i = 0; i < kSharedHits.size(); ++i) report.hits[i] = HitsAt(kSharedHits[i]);
    return report;
  }

  bool has_negatives() const { return !negatives_.empty(); }

 private:
  // REQUIRES: scores are sorted
  double HitsAt(std::size_t k) const {
    if (negatives_.size() < k) return 1;
    const float least = negatives_[negatives_.size() - k];
    const auto above = positives_.end() - std::upper_bound(positives_.begin(), positives_.end(), least);
    return static_cast<double>(above) / static_cast<double>(positives_.size());
  }

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

// What the negatives of edges are made by.
struct NegativeRule {
  const EmbeddedGraph& embedded;
  const LinkPredictionOptions& options;
  std::uint64_t triples_at_once;  // looked for in the graph

  EdgeMatch match() const { return SameScores(embedded.model); }

  // Random ones. The first edge has the number `first_number`.
  absl::Status AddDrawn(std::span<const Edge> edges, std::uint64_t first_number, ScoreCollector& scores) const {
    std::vector<Edge> non_edges;
    {
      ASSIGN_OR_RETURN(const std::vector<std::optional<Edge>> drawn,
                       DrawNonEdges(embedded.graph, edges, first_number, {options.seed, match()}));
      for (const std::optional<Edge>& edge : drawn) {
        if (edge) non_edges.push_back(*edge);
      }
    }
    return scores.AddNegatives(non_edges);
  }

  bool IsCandidate(NodeId node) const {
    return std::binary_search(options.candidate_nodes.begin(), options.candidate_nodes.end(), Value(node));
  }

  // Those with the candidates in place of an end that is a candidate.
  absl::Status AddCandidates(std::span<const Edge> edges, ScoreCollector& scores) const {
    const std::vector<std::uint64_t>& nodes = options.candidate_nodes;
    std::vector<Edge> triples;
    for (const Edge& edge : edges) {
      for (NodeId Edge::*const end : {&Edge::tail, &Edge::head}) {
        if (!IsCandidate(edge.*end)) continue;
        for (const std::uint64_t node : nodes) {
          Edge triple = edge;
          triple.*end = NodeId{node};
          triples.push_back(triple);
          if (triples.size() < triples_at_once) continue;
          RETURN_IF_ERROR(AddNonEdges(triples, scores));
          triples.clear();
        }
      }
    }
    return AddNonEdges(triples, scores);
  }

  // Those of `triples` that are no edges; the others are removed.
  absl::Status AddNonEdges(std::vector<Edge>& triples, ScoreCollector& scores) const {
    ASSIGN_OR_RETURN(const std::vector<char> is_edge, FindEdges(embedded.graph, triples, match()));
    std::size_t kept = 0;
    for (std::size_t i = 0; i < triples.size(); ++i) {
      if (is_edge[i] == 0) triples[kept++] = triples[i];
    }
    triples.resize(kept);
    return scores.AddNegatives(triples);
  }

  // Adds the given ones and returns how many are edges.
  absl::StatusOr<std::uint64_t> AddGiven(ScoreCollector& scores) const {
    std::uint64_t known = 0;
    for (std::size_t first = 0; first < options.negatives.size(); first += triples_at_once) {
      const std::size_t count = std::min<std::size_t>(triples_at_once, options.negatives.size() - first);
      const std::span<const Edge> triples = std::span(options.negatives).subspan(first, count);
      ASSIGN_OR_RETURN(const std::vector<char> is_edge, FindEdges(embedded.graph, triples, EdgeMatch{}));
      known += static_cast<std::uint64_t>(std::count(is_edge.begin(), is_edge.end(), 1));
      RETURN_IF_ERROR(scores.AddNegatives(triples));
    }
    return known;
  }
};

absl::Status NoNegativeError(const EmbeddedGraph& embedded, const LinkPredictionOptions& options) {
  if (!options.candidate_nodes.empty()) {
    return UsageError(
        fmt::format("no {} edge has a negative among the {} candidates; expected the nodes among which the "
                    "answers are",
                    SplitName(options.split), options.candidate_nodes.size()));
  }
  return InputError(
      fmt::format("{}: found only edges among thousands of drawn pairs of nodes; expected a graph with other pairs",
                  embedded.graph.paths().folder().string()));
}

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
  const NegativeRule rule{embedded, options, std::max<std::uint64_t>(1, plan.draw_edges / 2)};
  ScoreCollector scores(embedded, reader.size(), MostNegatives(embedded, options), plan.score_triples);
  std::uint64_t known = 0;
  if (!options.negatives.empty()) {
    ASSIGN_OR_RETURN(known, rule.AddGiven(scores));
  }
  std::uint64_t unlisted = 0;
  std::uint64_t done = 0;
  while (done < reader.size()) {
    ASSIGN_OR_RETURN(std::vector<Edge> edges, reader.Next(plan.draw_edges));
    const std::uint64_t read = edges.size();
    if (!options.candidate_nodes.empty()) {
      std::erase_if(edges,
                    [&](const Edge& edge) { return !rule.IsCandidate(edge.head) && !rule.IsCandidate(edge.tail); });
    }
    unlisted += read - edges.size();
    RETURN_IF_ERROR(scores.AddPositives(edges));
    if (!options.candidate_nodes.empty()) {
      RETURN_IF_ERROR(rule.AddCandidates(edges, scores));
    } else if (options.negatives.empty()) {
      RETURN_IF_ERROR(rule.AddDrawn(edges, done, scores));
    }
    done += read;
    if (options.progress) options.progress(static_cast<double>(done) / static_cast<double>(reader.size()));
  }
  if (!scores.has_negatives()) return NoNegativeError(embedded, options);
  LinkPredictionReport report = std::move(scores).Finish();
  report.known_negatives = known;
  report.unlisted_edges = unlisted;
  return report;
}

}  // namespace octavo
