#include "evaluate/ranking.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <utility>

#include "base/parallel.h"
#include "base/per_thread.h"
#include "base/status.h"
#include "evaluate/answer_ranges.h"
#include "evaluate/candidates.h"
#include "evaluate/known_answers.h"
#include "evaluate/question_batch.h"
#include "evaluate/score_bins.h"
#include "evaluate/triple_reader.h"
#include "evaluate/type_rules.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "model/scorer.h"

namespace octavo {
namespace {

constexpr std::uint64_t kDefaultMemory = std::uint64_t{1} << 30;
// Nothing else runs while the first block is read. Larger blocks are used only if there are few queries, so that all
// threads have tasks.
constexpr std::uint64_t kBlockBytes = 2 << 20;
constexpr std::uint64_t kMaxBlockBytes = 16 << 20;
// One task scores this many queries against this many candidates. At dim 200 its rows and scores are 1.2 MB, which fits
// a core's second-level cache, and enough queries share a transposed candidate that its cost is negligible.
constexpr std::size_t kTileQueries = 256;
constexpr std::size_t kTileCandidates = 512;
constexpr std::uint64_t kMaxBatchTriples = std::uint64_t{1} << 30;  // two questions per triple fit 32 bits

// Memory of the rules of types: what they admit is at most what a node has on average, over the share.
std::uint64_t RuleBytes(const Graph& graph, const RankingOptions& options) {
  if (!options.types) return 0;
  const NodeLabels* const types = options.types->types;
  constexpr std::uint64_t kPlaceBytes = 512;
  return TypeRules::LeastBytes(graph, types == nullptr ? 0 : types->names.size()) + PlaceCount(graph) * kPlaceBytes;
}

// Memory that does not depend on the limit: scratch of the threads, and what the options need.
std::uint64_t FixedBytes(const Graph& graph, const RankingOptions& options, int threads) {
  // The scores of a tile, the packed panel of its candidates, and edges while known answers are gathered.
  constexpr std::uint64_t kWorkerBytes = kTileQueries * kTileCandidates * sizeof(float) + (512 << 10);
  // Numbers drawn without replacement: in a hash set and a vector.
  constexpr std::uint64_t kDrawnBytes = 32;
  const std::uint64_t drawn = std::min(options.sample, graph.Edges(options.split).edge_count()) +
                              (options.candidates < graph.node_count() ? options.candidates : 0) +
                              options.candidate_nodes.size();
  const std::uint64_t relations = options.per_relation ? graph.relation_count() : 0;
  return static_cast<std::uint64_t>(std::max(1, threads)) * kWorkerBytes + drawn * kDrawnBytes +
         relations * sizeof(RankingReport::Relation) + RuleBytes(graph, options);
}

// The smallest useful remainder: a batch gathers its rows in pieces, with their pages in the cache as well, and a block
// should have some rows.
std::uint64_t LeastSharedBytes(const ModelSpec& model) {
  return std::max<std::uint64_t>(4 * QuestionBatch::kGatherBytes, 256 * model.dim * sizeof(float));
}

// How the remaining memory is divided: half for a batch, a quarter for its filter, three sixteenths for the block being
// scored, the block being read and its pages in the cache. With types, half of the filter's quarter is for the places
// of nodes, and the last sixteenth for the mask of a block.
struct RankingPlan {
  std::uint64_t batch_triples = 1;
  std::uint64_t block_rows = 1;
  std::uint64_t known_answers = 1;  // in memory at once
  std::uint64_t node_places = 1;    // in memory at once
};

// A few tasks for each thread, in whole tiles.
std::uint64_t BlockRows(std::uint64_t row_bytes, std::uint64_t shared, std::uint64_t queries) {
  const std::uint64_t tiles = std::max<std::uint64_t>(1, (queries + kTileQueries - 1) / kTileQueries);
  const std::uint64_t wanted =
      kTileCandidates * ((4 * static_cast<std::uint64_t>(MaxConcurrency()) + tiles - 1) / tiles);
  const std::uint64_t bytes = std::min(std::clamp(wanted * row_bytes, kBlockBytes, kMaxBlockBytes), shared / 16);
  const std::uint64_t rows = std::max<std::uint64_t>(1, bytes / row_bytes);
  return rows < kTileCandidates ? rows : rows - rows % kTileCandidates;
}

// The plan for `triples` in all.
RankingPlan MakePlan(const EmbeddedGraph& embedded, const RankingOptions& options, std::uint64_t triples) {
  const std::uint64_t memory = options.memory_bytes == 0 ? kDefaultMemory : options.memory_bytes;
  const std::uint64_t fixed = FixedBytes(embedded.graph, options, MaxConcurrency());
  const std::uint64_t shared = memory >= fixed + LeastSharedBytes(embedded.model) ? memory - fixed : memory;
  const std::uint64_t row_bytes = embedded.model.dim * sizeof(float);
  RankingPlan plan;
  plan.batch_triples = std::clamp<std::uint64_t>(
      shared / 2 / QuestionBatch::BytesPerTriple(embedded.model, options.types.has_value()), 1, kMaxBatchTriples);
  plan.block_rows = options.block_rows > 0 ? options.block_rows
                                           : BlockRows(row_bytes, shared, 2 * std::min(plan.batch_triples, triples));
  plan.known_answers = shared / 4 / KnownAnswers::kBytes;
  if (!options.types) return plan;
  plan.known_answers /= 2;
  plan.node_places = std::max<std::uint64_t>(1, shared / 8 / NodePlaces::kBytes);
  // A bit for each row and place.
  const std::uint64_t most_rows = shared / 16 * 8 / std::max<std::uint64_t>(1, PlaceCount(embedded.graph));
  plan.block_rows = std::clamp<std::uint64_t>(most_rows, 1, plan.block_rows);
  return plan;
}

// Which candidates are plausible answers of a batch.
struct BatchTypes {
  const TypeRules& rules;
  TypeMask mask = {};                              // of the block being scored
  std::vector<std::uint64_t> candidates = {};      // [rules] plausible ones so far
  std::vector<std::uint32_t> question_rules = {};  // [questions]

  BatchTypes(const TypeRules& type_rules, const QuestionBatch& batch)
      : rules(type_rules), candidates(type_rules.size()), question_rules(batch.size()) {
    for (std::size_t question = 0; question < batch.size(); ++question) {
      const LinkQuestion& asked = batch.questions()[question];
      question_rules[question] = static_cast<std::uint32_t>(rules.RuleOf(PlaceOf(asked.relation, asked.side)));
    }
  }

  // Marks the plausible ones among the nodes [first, last), whose places `places` has.
  void Mark(const NodePlaces& places, std::uint64_t first, std::uint64_t last, QuestionBatch& batch) {
    rules.Mark(places, first, last, mask);
    for (std::size_t rule = 0; rule < candidates.size(); ++rule) candidates[rule] += mask.Count(rule);
    batch.NoteAnswers(first, last, [&](std::size_t question, std::uint64_t node) { return Has(question, node); });
  }

  bool Has(std::size_t question, std::uint64_t node) const { return mask.Contains(question_rules[question], node); }
};

// Scores one batch against candidates, tile by tile.
class BatchScorer {
 public:
  // Calls `advance(pairs)` as pairs are scored. All three must outlive this object.
  BatchScorer(const ModelSpec& model, QuestionBatch& batch, const std::function<void(std::uint64_t)>& advance)
      : model_(model), batch_(batch), advance_(advance) {}

  // Counts the scores of `block` in the batch's bins. `types`: null, or with the mask of the block.
  void CountBlock(const CandidateBlock& block, const KnownAnswers& known, const BatchTypes* types) {
    const std::size_t query_tiles = (batch_.size() + kTileQueries - 1) / kTileQueries;
    const std::size_t candidate_tiles = (block.count + kTileCandidates - 1) / kTileCandidates;
    // Query tiles vary fastest, so that consecutive tasks share their candidates.
    ParallelEach(0, query_tiles * candidate_tiles,
                 [&](std::size_t tile) { CountTile(block, known, types, tile % query_tiles, tile / query_tiles); });
  }

 private:
  struct Worker {
    ScoreScratch scratch;
    std::vector<float> scores;  // [kTileQueries, kTileCandidates]
    std::vector<float> known_scores;
    std::vector<float> typed_scores;
  };

  void CountTile(const CandidateBlock& block, const KnownAnswers& known, const BatchTypes* types,
                 std::size_t query_tile, std::size_t candidate_tile) {
    const std::size_t first_query = query_tile * kTileQueries;
    const std::size_t last_query = std::min(first_query + kTileQueries, batch_.size());
    const std::size_t begin = candidate_tile * kTileCandidates;
    const std::size_t end = std::min(begin + kTileCandidates, block.count);
    const std::size_t width = end - begin;
    Worker& worker = workers_.local();
    worker.scores.resize((last_query - first_query) * width);
    ScoreBlock(model_, batch_.Queries(first_query, last_query), last_query - first_query,
               block.rows.subspan(begin * model_.dim, width * model_.dim), width, worker.scratch, worker.scores);
    for (std::size_t query = first_query; query < last_query; ++query) {
      const std::span<const float> scores = std::span(worker.scores).subspan((query - first_query) * width, width);
      const std::span<const float> thresholds = batch_.Thresholds(query);
      AddToBins(scores, thresholds, batch_.CandidateBins(query));
      worker.known_scores.clear();
      block.ForEachColumn(known.Of(query), begin, end,
                          [&](std::size_t column) { worker.known_scores.push_back(scores[column - begin]); });
      if (!worker.known_scores.empty()) AddToBins(worker.known_scores, thresholds, batch_.KnownBins(query));
      if (types != nullptr) CountTyped(block, known, *types, query, scores, begin, worker);
    }
    advance_(width * (last_query - first_query));
  }

  // Counts the scores of the plausible candidates from column `begin` on. REQUIRES: all nodes are candidates
  void CountTyped(const CandidateBlock& block, const KnownAnswers& known, const BatchTypes& types, std::size_t query,
                  std::span<const float> scores, std::size_t begin, Worker& worker) {
    worker.typed_scores.resize(scores.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      worker.typed_scores[count] = scores[i];
      count += types.Has(query, block.first + begin + i) ? 1 : 0;
    }
    const std::span<const float> thresholds = batch_.Thresholds(query);
    AddToBins(std::span(worker.typed_scores).first(count), thresholds, batch_.TypedBins(query));
    worker.known_scores.clear();
    block.ForEachColumn(known.Of(query), begin, begin + scores.size(), [&](std::size_t column) {
      if (types.Has(query, block.first + column)) worker.known_scores.push_back(scores[column - begin]);
    });
    if (!worker.known_scores.empty()) AddToBins(worker.known_scores, thresholds, batch_.TypedKnownBins(query));
  }

  const ModelSpec& model_;
  QuestionBatch& batch_;
  const std::function<void(std::uint64_t)>& advance_;
  PerThread<Worker> workers_;
};

// The sums of one evaluation. Triples are added in the split's order.
class ReportBuilder {
 public:
  // `candidates_only`: ends that are no candidates are not ranked.
  ReportBuilder(const Graph& graph, const CandidateSet& candidates, bool candidates_only, bool per_relation)
      : candidates_(candidates), candidates_only_(candidates_only) {
    report_.candidates = candidates.size();
    report_.all_candidates = candidates.all();
    if (per_relation) report_.relations.resize(graph.relation_count());
  }

  // `types`: null, or with the candidates of the batch.
  void Add(const QuestionBatch& batch, std::span<const Edge> triples, const BatchTypes* types) {
    types_ = types;
    for (std::size_t i = 0; i < triples.size(); ++i) {
      RankingReport::Relation* const relation =
          report_.relations.empty() ? nullptr : &report_.relations[Value(triples[i].relation)];
      const bool tail = Add(batch, i, Side::kTail, triples[i].tail, report_.tail, relation ? &relation->tail : nullptr);
      const bool head = Add(batch, i, Side::kHead, triples[i].head, report_.head, relation ? &relation->head : nullptr);
      if (!tail && !head) continue;
      ++report_.triples;
      if (relation) ++relation->triples;
    }
  }

  RankingReport Finish() && {
    std::vector<RankingReport::Relation>& relations = report_.relations;
    for (std::uint32_t r = 0; r < relations.size(); ++r) relations[r].relation = RelationId{r};
    std::erase_if(relations, [](const RankingReport::Relation& relation) { return relation.triples == 0; });
    std::stable_sort(relations.begin(), relations.end(),
                     [](const auto& a, const auto& b) { return a.triples > b.triples; });
    return std::move(report_);
  }

 private:
  // Adds the rank of one end; false if it is not ranked.
  bool Add(const QuestionBatch& batch, std::size_t triple, Side side, NodeId end, SideSums& sums, SideSums* relation) {
    const bool is_candidate = candidates_.Contains(Value(end));
    if (candidates_only_ && !is_candidate) return false;
    const QuestionBatch::Ranks ranks = batch.RanksOf(triple, side, is_candidate);
    for (SideSums* const to : {&sums, relation}) {
      if (to == nullptr) continue;
      to->filtered.Add(ranks.filtered);
      to->raw.Add(ranks.raw);
      if (types_ != nullptr) to->typed.Add(ranks.typed);
    }
    if (types_ == nullptr) return true;
    report_.plausible_answers += ranks.plausible ? 1 : 0;
    report_.plausible_candidates += types_->candidates[types_->question_rules[batch.QuestionOf(triple, side)]];
    return true;
  }

  const CandidateSet& candidates_;
  const bool candidates_only_;
  const BatchTypes* types_ = nullptr;  // of the batch being added
  RankingReport report_;
};

// What this process scores of the nodes of a range.
AnswerRange PartOf(const AnswerRange& range, const RankingShare& share, std::uint64_t nodes) {
  const std::uint64_t begin = nodes / share.parts * share.part;
  const std::uint64_t end = share.part + 1 == share.parts ? nodes : nodes / share.parts * (share.part + 1);
  AnswerRange part = range;
  part.first = std::clamp(begin, range.first, range.last);
  part.last = std::clamp(end, part.first, range.last);
  return part;
}

// Adds up what the processes have counted.
absl::Status AddUp(const RankingShare& share, QuestionBatch& batch, BatchTypes* types) {
  if (share.parts == 1) return absl::OkStatus();
  RETURN_IF_ERROR(batch.AddUp(share.add_up));
  return types == nullptr ? absl::OkStatus() : share.add_up(types->candidates);
}

// Scores all candidates against one batch. `progress` receives the share of the batch that is done.
absl::Status RankBatch(const EmbeddedGraph& embedded, const CandidateSet& candidates, const RankingPlan& plan,
                       const std::vector<AnswerRange>& ranges, const RankingShare& share, QuestionBatch& batch,
                       BatchTypes* types, const std::function<void(double)>& progress,
                       const std::function<bool()>& stop) {
  const double work = static_cast<double>(batch.size()) * static_cast<double>(candidates.size()) /
                      static_cast<double>(share.parts);
  std::atomic<std::uint64_t> done{0};
  const std::function<void(std::uint64_t)> advance = [&](std::uint64_t pairs) {
    const std::uint64_t sum = done.fetch_add(pairs, std::memory_order_relaxed) + pairs;  // only for display
    progress(static_cast<double>(sum) / work);
  };
  BatchScorer scorer(embedded.model, batch, advance);
  // `places`: of the nodes, with types.
  const auto stream = [&](const AnswerRange& nodes, const KnownAnswers& known, const NodePlaces* places) {
    return candidates.Stream(embedded, nodes.first, nodes.last, plan.block_rows, [&](const CandidateBlock& block) {
      if (places != nullptr) types->Mark(*places, block.first, block.first + block.count, batch);
      scorer.CountBlock(block, known, types);
      return stop && stop() ? absl::CancelledError("stopped") : absl::OkStatus();
    });
  };
  const auto rank = [&](const AnswerRange& nodes, const KnownAnswers& known) {
    if (types == nullptr) return stream(nodes, known, nullptr);
    return VisitNodePlaces(embedded.graph, nodes.first, nodes.last, plan.node_places, [&](const NodePlaces& places) {
      return stream({places.first(), places.last()}, known, &places);
    });
  };
  for (const AnswerRange& whole : ranges) {
    const AnswerRange range = PartOf(whole, share, embedded.graph.node_count());
    if (candidates.CountIn(range.first, range.last) == 0) continue;
    RETURN_IF_ERROR(VisitKnownAnswers(embedded.graph, batch.questions(), range, plan.known_answers, rank));
  }
  RETURN_IF_ERROR(AddUp(share, batch, types));
  batch.SumBins();
  return absl::OkStatus();
}

// Returns the rules of all sides of relations, if types are asked for.
absl::StatusOr<std::optional<TypeRules>> CountTypes(const EmbeddedGraph& embedded, const RankingOptions& options) {
  if (!options.types) return std::optional<TypeRules>();
  std::vector<std::uint64_t> places(PlaceCount(embedded.graph));
  std::iota(places.begin(), places.end(), std::uint64_t{0});
  TypeRuleOptions counting = *options.types;
  counting.memory_bytes = options.memory_bytes;
  counting.stop = options.stop;
  ASSIGN_OR_RETURN(TypeRules rules, TypeRules::Count(embedded.graph, std::move(places), counting));
  return std::optional<TypeRules>(std::move(rules));
}

}  // namespace

std::uint64_t LeastRankingMemory(const Graph& graph, const ModelSpec& model, const RankingOptions& options,
                                 int threads) {
  return FixedBytes(graph, options, threads) + LeastSharedBytes(model);
}

absl::StatusOr<RankingReport> RankTriples(const EmbeddedGraph& embedded, const RankingOptions& options) {
  RETURN_IF_ERROR(CheckEmbeddedGraph(embedded));
  TripleReader triples(embedded.graph.Edges(options.split), options.sample, options.seed);
  if (triples.size() == 0) {
    return EmptySplitError(embedded.graph, options.split);
  }
  const bool given = !options.candidate_nodes.empty();
  const CandidateSet candidates = given ? CandidateSet(embedded.graph.node_count(), options.candidate_nodes)
                                        : CandidateSet(embedded.graph.node_count(), options.candidates, options.seed);
  RankingPlan plan = MakePlan(embedded, options, triples.size());
  if (options.share.parts > 1) {
    ASSIGN_OR_RETURN(plan.batch_triples, options.share.least(plan.batch_triples));
  }
  const std::vector<AnswerRange> ranges = MakeAnswerRanges(embedded.graph, plan.known_answers);
  ASSIGN_OR_RETURN(const std::optional<TypeRules> rules, CountTypes(embedded, options));
  ReportBuilder builder(embedded.graph, candidates, given, options.per_relation);
  std::uint64_t done = 0;
  while (done < triples.size()) {
    ASSIGN_OR_RETURN(const std::vector<Edge> edges, triples.Next(plan.batch_triples));
    ASSIGN_OR_RETURN(QuestionBatch batch, QuestionBatch::Make(embedded, edges, rules.has_value()));
    std::optional<BatchTypes> types;
    if (rules) types.emplace(*rules, batch);
    BatchTypes* const batch_types = types ? &*types : nullptr;
    const auto progress = [&](double share) {
      if (!options.progress) return;
      const double ranked = static_cast<double>(done) + share * static_cast<double>(edges.size());
      options.progress(std::min(1.0, ranked / static_cast<double>(triples.size())));
    };
    RETURN_IF_ERROR(RankBatch(embedded, candidates, plan, ranges, options.share, batch, batch_types, progress,
                              options.stop));
    builder.Add(batch, edges, batch_types);
    done += edges.size();
  }
  RankingReport report = std::move(builder).Finish();
  if (report.triples > 0) return report;
  return UsageError(
      fmt::format("none of the {} candidates is an end of one of the {} {} edges; expected the nodes "
                  "among which the answers are",
                  candidates.size(), triples.size(), SplitName(options.split)));
}

}  // namespace octavo
