#include "evaluate/nearest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "base/parallel.h"
#include "base/per_thread.h"
#include "base/status.h"
#include "evaluate/answer_ranges.h"
#include "evaluate/row_stream.h"
#include "model/scorer.h"

namespace octavo {
namespace {

constexpr std::uint64_t kDefaultMemory = std::uint64_t{1} << 30;
constexpr std::uint64_t kMaxBlockBytes = 16 << 20;
constexpr std::size_t kTileRows = 4096;

// Several sums, so that an addition need not wait for the one before; one sum takes more than half of a search.
float NormOf(std::span<const float> row) {
  constexpr std::size_t kSums = 8;
  std::array<double, kSums> sums{};
  std::size_t i = 0;
  for (; i + kSums <= row.size(); i += kSums) {
    for (std::size_t lane = 0; lane < kSums; ++lane) {
      const double x = row[i + lane];
      sums[lane] += x * x;
    }
  }
  for (; i < row.size(); ++i) sums[0] += static_cast<double>(row[i]) * static_cast<double>(row[i]);
  return static_cast<float>(std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0)));
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

// The k best nodes, and apart from them the k best that are not plausible, if there are rules of types.
struct Best {
  explicit Best(std::size_t k) : plausible(k), others(k) {}

  void Add(const Best& more) {
    for (const ScoredNode& scored : more.plausible.Nodes()) plausible.Add(scored);
    for (const ScoredNode& scored : more.others.Nodes()) others.Add(scored);
  }

  TopK plausible;
  TopK others;
};

// Which nodes are left out, and which are plausible.
struct NodeFilter {
  std::span<const std::uint64_t> skip;  // ascending
  const TypeMask* mask = nullptr;       // null: all are plausible
  std::size_t rule = 0;
  std::optional<NodeId> itself = std::nullopt;  // left out, too

  bool Skips(std::uint64_t node) const {
    return itself == NodeId{node} || std::binary_search(skip.begin(), skip.end(), node);
  }
  bool Plausible(std::uint64_t node) const { return mask == nullptr || mask->Contains(rule, node); }
};

// Reads the rows of `nodes` and returns the best.
absl::StatusOr<Best> SearchTable(const Search& search, const AnswerRange& nodes, const NodeFilter& filter,
                                 const NodeSearchOptions& options) {
  struct Worker {
    Best best;
    ScoreScratch scratch;
    std::vector<float> scores;
  };
  const std::size_t dim = search.model.dim;
  PerThread<Worker> workers([&] { return Worker{Best(options.k), {}, {}}; });
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
        if (filter.Skips(node)) continue;
        const float score =
            search.adjust ? search.adjust(worker.scores[i], tile.subspan(i * dim, dim)) : worker.scores[i];
        (filter.Plausible(node) ? worker.best.plausible : worker.best.others).Add({NodeId{node}, score});
      }
    });
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(
      StreamRows(search.embedded.embeddings, nodes.first, nodes.last, BlockRowsOf(options, dim), score_block));
  Best best(options.k);
  for (const Worker& worker : workers) best.Add(worker.best);
  return best;
}

absl::StatusOr<std::vector<float>> ReadNode(const EmbeddedGraph& embedded, NodeId node) {
  std::vector<float> row(embedded.model.dim);
  RETURN_IF_ERROR(embedded.embeddings.ReadRows(Value(node), row));
  RETURN_IF_ERROR(CheckFinite(embedded, Value(node), row));
  return row;
}

// Pairs of nodes and places in memory at once: another eighth of it.
std::uint64_t MostPairs(const NodeSearchOptions& options) {
  return std::max<std::uint64_t>(1, MemoryOf(options) / 8 / NodePlaces::kBytes);
}

// Collects the answers to a question, range by range.
class LinkSearch {
 public:
  LinkSearch(const Search& search, const NodeSearchOptions& options)
      : search_(search), options_(options), best_(options.k) {}

  // `known`: the known answers among `nodes`, ascending.
  absl::Status Add(const AnswerRange& nodes, const NodeFilter& filter, std::span<const std::uint64_t> known) {
    ASSIGN_OR_RETURN(const Best found, SearchTable(search_, nodes, filter, options_));
    best_.Add(found);
    for (const TopK* const top : {&found.plausible, &found.others}) {
      for (const ScoredNode& scored : top->Nodes()) {
        if (std::binary_search(known.begin(), known.end(), Value(scored.node))) known_.insert(Value(scored.node));
      }
    }
    return absl::OkStatus();
  }

  // The same, where the rule of `place` says which nodes are plausible: in pieces whose places fit the memory.
  absl::Status AddTyped(const AnswerRange& nodes, NodeFilter filter, std::span<const std::uint64_t> known,
                        const TypeRules& types, std::uint64_t place) {
    TypeMask mask;
    filter.mask = &mask;
    filter.rule = types.RuleOf(place);
    return VisitNodePlaces(search_.embedded.graph, nodes.first, nodes.last, MostPairs(options_),
                           [&](const NodePlaces& places) {
                             types.Mark(places, places.first(), places.last(), mask);
                             return Add({places.first(), places.last()}, filter, known);
                           });
  }

  // The k best, plausible ones first.
  std::vector<Prediction> List() && {
    std::vector<Prediction> predictions;
    for (TopK* const top : {&best_.plausible, &best_.others}) {
      for (const ScoredNode& scored : top->TakeSorted()) {
        if (predictions.size() == options_.k) break;
        predictions.push_back(
            {scored.node, scored.score, known_.contains(Value(scored.node)), top == &best_.plausible});
      }
    }
    return predictions;
  }

 private:
  const Search& search_;
  const NodeSearchOptions& options_;
  Best best_;
  absl::flat_hash_set<std::uint64_t> known_;  // the known answers that `best_` ever held
};

}  // namespace

std::uint64_t LeastSearchMemory(const EmbeddedGraph& embedded) {
  // Enough for blocks of half a MiB or a few rows.
  return std::max<std::uint64_t>(4 << 20, 32 * embedded.model.dim * sizeof(float));
}

absl::StatusOr<std::vector<ScoredNode>> NearestNodes(const EmbeddedGraph& embedded, NodeId node, Similarity similarity,
                                                     const NodeSearchOptions& options) {
  RETURN_IF_ERROR(CheckEmbeddedGraph(embedded));
  ASSIGN_OR_RETURN(const std::vector<float> row, ReadNode(embedded, node));
  const std::uint64_t self = Value(node);
  return NearestToVector(embedded, row, std::span(&self, 1), similarity, options);
}

absl::StatusOr<std::vector<ScoredNode>> NearestToVector(const EmbeddedGraph& embedded, std::span<const float> vector,
                                                        std::span<const std::uint64_t> skip, Similarity similarity,
                                                        const NodeSearchOptions& options) {
  RETURN_IF_ERROR(CheckEmbeddedGraph(embedded));
  const float norm = NormOf(vector);
  const Adjust cosine = [norm](float product, std::span<const float> candidate) {
    const float norms = norm * NormOf(candidate);
    return norms == 0.0F ? 0.0F : std::clamp(product / norms, -1.0F, 1.0F);  // rounding may pass 1
  };
  ModelSpec product = embedded.model;
  product.kind = ModelKind::kDot;
  const Search search{embedded, product, vector, similarity == Similarity::kCosine ? cosine : Adjust()};
  ASSIGN_OR_RETURN(Best best, SearchTable(search, {0, embedded.graph.node_count()}, {skip}, options));
  return best.plausible.TakeSorted();
}

namespace {

// Model dot scores an edge like the one of the opposite direction, so an answer is known if there is either.
std::vector<LinkQuestion> SameQuestions(const ModelSpec& model, const LinkQuestion& question) {
  if (model.kind != ModelKind::kDot) return {question};
  return {question, {question.known, question.relation, question.side == Side::kTail ? Side::kHead : Side::kTail}};
}

// The answers to any of so many questions, ascending.
std::vector<std::uint64_t> AnswersOf(const KnownAnswers& answers, std::size_t questions) {
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < questions; ++i) {
    const std::span<const std::uint64_t> some = answers.Of(i);
    std::vector<std::uint64_t> both;
    std::ranges::set_union(all, some, std::back_inserter(both));
    all = std::move(both);
  }
  return all;
}

}  // namespace

absl::StatusOr<Predictions> PredictLinks(const EmbeddedGraph& embedded, const LinkQuestion& question,
                                         KnownEdges known_edges, const NodeSearchOptions& options,
                                         const TypeRules* types) {
  RETURN_IF_ERROR(CheckEmbeddedGraph(embedded));
  ASSIGN_OR_RETURN(const std::vector<float> row, ReadNode(embedded, question.known));
  std::vector<float> query(embedded.model.dim);
  MakeLinkQuery(embedded, question.side, question.relation, row, query);
  const Search search{embedded, embedded.model, query, Adjust()};
  LinkSearch links(search, options);
  Predictions predictions;
  const QuestionIndex questions(SameQuestions(embedded.model, question));
  // By model dot the score with itself is the square of the row's length. With one relation, linked nodes have similar
  // rows in other models, too. The node would often be the first answer, and say nothing.
  const bool leaves_itself = embedded.model.kind == ModelKind::kDot || embedded.graph.relation_count() == 1;
  const auto search_range = [&](const AnswerRange& nodes, const KnownAnswers& answers) -> absl::Status {
    const std::vector<std::uint64_t> known = AnswersOf(answers, questions.size());
    predictions.known += known.size();
    NodeFilter filter;
    if (known_edges == KnownEdges::kHide) {
      filter.skip = known;
      if (leaves_itself) filter.itself = question.known;
    }
    if (types == nullptr) return links.Add(nodes, filter, known);
    return links.AddTyped(nodes, filter, known, *types, PlaceOf(question.relation, question.side));
  };
  const std::uint64_t max_answers = MemoryOf(options) / 4 / KnownAnswers::kBytes;
  for (const AnswerRange& range : MakeAnswerRanges(embedded.graph, max_answers)) {
    RETURN_IF_ERROR(VisitKnownAnswers(embedded.graph, questions, range, max_answers, search_range));
  }
  predictions.nodes = std::move(links).List();
  return predictions;
}

}  // namespace octavo
