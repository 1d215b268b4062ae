#include "evaluate/classification.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/byte_size.h"
#include "base/escape.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/status.h"
#include "evaluate/label_counts.h"
#include "evaluate/label_split.h"
#include "evaluate/one_vs_rest.h"
#include "evaluate/wanted_rows.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr std::uint64_t kDefaultMemory = std::uint64_t{1} << 30;
constexpr std::uint64_t kGatherBytes = 2 << 20;  // rows are gathered in pieces of this size
constexpr std::size_t kTasksPerThread = 4;       // so that no thread is idle for long at the end

// The scores of one fraction in all repeats.
struct FractionScores {
  std::vector<double> micro_f1;
  std::vector<double> macro_f1;
};

std::size_t FractionsOf(const ClassificationOptions& options) {
  return options.split_is_given() ? 1 : options.train_fractions.size();
}
std::uint64_t RepeatsOf(const ClassificationOptions& options) { return options.split_is_given() ? 1 : options.repeats; }

// The number of features of a node.
std::size_t WidthOf(const EmbeddedGraph& embedded, const ClassificationOptions& options) {
  return ColumnsOf(options.part, embedded.model).size();
}

// Memory that does not depend on the number of concurrent repeats: rows, each thread's work, the scores of all repeats.
std::uint64_t FixedBytes(const EmbeddedGraph& embedded, const NodeLabels& labels, const ClassificationOptions& options,
                         int threads) {
  const std::uint64_t nodes = labels.nodes.size();
  const std::size_t width = WidthOf(embedded, options);
  constexpr std::uint64_t kWantedBytes = sizeof(WantedRow) + sizeof(std::uint64_t);
  const auto workers = static_cast<std::uint64_t>(std::max(1, threads));
  // Gathering ends before the fits begin.
  const std::uint64_t gathering =
      nodes * kWantedBytes + 2 * std::max(kGatherBytes, workers * embedded.model.dim * sizeof(float));
  const std::uint64_t work = OneVsRestBytes(nodes, width) + LabelSplit::TestBytes(labels);
  const std::uint64_t scores =
      FractionsOf(options) * (sizeof(FractionScores) + RepeatsOf(options) * 2 * sizeof(double));
  return nodes * FeatureRows::BytesPerRow(width) + scores + std::max(gathering, workers * work);
}

// Memory of one repeat with all its fractions.
std::uint64_t RepeatBytes(const EmbeddedGraph& embedded, const NodeLabels& labels,
                          const ClassificationOptions& options) {
  const std::size_t width = WidthOf(embedded, options);
  return LabelOrder::Bytes(labels, width) + FractionsOf(options) * LabelSplit::Bytes(labels, width);
}

// All labelled nodes in the order of `repeat`; the first ones train.
std::vector<std::uint32_t> ShuffledNodes(std::size_t nodes, std::uint64_t seed, std::uint64_t repeat) {
  std::vector<std::uint32_t> order(nodes);
  for (std::size_t i = 0; i < nodes; ++i) order[i] = static_cast<std::uint32_t>(i);
  RandomStream random(seed, RandomPurpose::kLabelSplit, 0, repeat);
  Shuffle(std::span(order), random);
  return order;
}

// The positions of the given nodes: those that train, then those that are tested.
struct GivenSplit {
  std::vector<std::uint32_t> order;
  std::size_t train_nodes = 0;
};

absl::StatusOr<GivenSplit> GivenSplitOf(const EmbeddedGraph& embedded, const NodeLabels& labels,
                                        const ClassificationOptions& options) {
  const auto contains = [](const std::optional<std::vector<std::uint64_t>>& nodes, std::uint64_t node) {
    return nodes && std::binary_search(nodes->begin(), nodes->end(), node);
  };
  GivenSplit split;
  std::vector<std::uint32_t> tested;
  for (std::size_t i = 0; i < labels.nodes.size(); ++i) {
    const bool trains = contains(options.train_nodes, labels.nodes[i]);
    const bool tests = contains(options.test_nodes, labels.nodes[i]);
    if (trains && tests) {
      return UsageError(
          fmt::format("\"{}\" is among the nodes to train on and among those to test; expected it in one list",
                      Escape(embedded.graph.nodes().Name(NodeId{labels.nodes[i]}))));
    }
    if (trains || (!options.train_nodes && !tests)) split.order.push_back(static_cast<std::uint32_t>(i));
    if (tests || (!options.test_nodes && !trains)) tested.push_back(static_cast<std::uint32_t>(i));
  }
  split.train_nodes = split.order.size();
  split.order.insert(split.order.end(), tested.begin(), tested.end());
  if (split.train_nodes > 0 && !tested.empty()) return split;
  return UsageError(
      fmt::format("of the {} labelled nodes, {} are to be trained on and {} to be tested; expected at least one each",
                  labels.nodes.size(), split.train_nodes, tested.size()));
}

// floor(fraction * nodes), robust to rounding: 0.29 * 100 gives 29.
std::size_t TrainNodes(double fraction, std::size_t nodes) {
  return static_cast<std::size_t>(fraction * static_cast<double>(nodes) + 1e-9);
}

// The splits of some repeats, trained and tested together.
class SplitBatch {
 public:
  // `advance` is called from any thread with the number of training nodes of a split whenever a label has been fitted.
  SplitBatch(const ClassificationOptions& options, absl::FunctionRef<void(std::size_t train_nodes)> advance)
      : cost_(options.cost), advance_(advance) {}

  // Adds an order and its splits.
  void Add(std::unique_ptr<LabelOrder> order, std::span<const std::size_t> train_nodes) {
    for (const std::size_t count : train_nodes) {
      splits_.push_back({std::make_unique<LabelSplit>(*order, count), count});
    }
    orders_.push_back(std::move(order));
  }

  void Run() {
    // A task is a range of the labels of one split: all of them where there are enough splits for all threads.
    const std::size_t labels = orders_[0]->label_count();
    const std::size_t tasks = kTasksPerThread * static_cast<std::size_t>(MaxConcurrency());
    const std::size_t ranges = std::clamp<std::size_t>((tasks + splits_.size() - 1) / splits_.size(), 1, labels);
    ParallelEach(0, splits_.size() * ranges, [&](std::size_t task) {
      const Split& split = splits_[task / ranges];
      const std::size_t range = task % ranges;
      split.work->Fit(range * labels / ranges, (range + 1) * labels / ranges, cost_,
                      [&] { advance_(split.train_nodes); });
    });
    for (const Split& split : splits_) split.work->Test();
  }

  std::size_t size() const { return splits_.size(); }
  std::span<const LabelCounts> CountsOf(std::size_t split) const { return splits_[split].work->counts(); }

 private:
  struct Split {
    std::unique_ptr<LabelSplit> work;
    std::size_t train_nodes = 0;
  };

  const double cost_;
  const absl::FunctionRef<void(std::size_t)> advance_;
  std::vector<std::unique_ptr<LabelOrder>> orders_;
  std::vector<Split> splits_;
};

absl::Status GatherFeatures(const EmbeddedGraph& embedded, const NodeLabels& labels,
                            const ClassificationOptions& options, FeatureRows& features) {
  const ColumnRange columns = ColumnsOf(options.part, embedded.model);
  std::vector<WantedRow> wanted(labels.nodes.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = {labels.nodes[i], static_cast<std::uint32_t>(i)};
  return ForEachWantedRow(embedded, wanted, kGatherBytes, [&](std::size_t place, std::span<const float> row) {
    features.Set(place, row.subspan(columns.first, columns.size()), options.normalize);
  });
}

absl::Status CheckSplit(double fraction, std::size_t train_nodes, std::size_t nodes) {
  if (train_nodes > 0 && train_nodes < nodes) return absl::OkStatus();
  return UsageError(
      fmt::format("a training fraction of {} of the {} labelled nodes leaves {} to train on and {} to "
                  "test; expected at least one each",
                  fraction, nodes, train_nodes, nodes - train_nodes));
}

// Returns the number of training nodes for each fraction.
absl::StatusOr<std::vector<std::size_t>> CountTrainNodes(std::size_t nodes, const ClassificationOptions& options) {
  std::vector<std::size_t> train_nodes;
  for (const double fraction : options.train_fractions) {
    train_nodes.push_back(TrainNodes(fraction, nodes));
    RETURN_IF_ERROR(CheckSplit(fraction, train_nodes.back(), nodes));
  }
  return train_nodes;
}

// Trains and tests all repeats, `at_once` of them concurrently.
std::vector<FractionScores> ScoreRepeats(const NodeLabels& labels, const FeatureRows& features,
                                         const ClassificationOptions& options, const std::vector<std::uint32_t>& given,
                                         std::span<const std::size_t> train_nodes, std::uint64_t at_once) {
  const std::uint64_t repeats = RepeatsOf(options);
  // A fit takes time in proportion to its rows.
  double work = 0;
  for (const std::size_t count : train_nodes) work += static_cast<double>(repeats * count * labels.names.size());
  std::atomic<double> done{0};
  const auto advance = [&](std::size_t count) {
    if (!options.progress) return;
    const double step = static_cast<double>(count) / work;
    options.progress(std::min(1.0, done.fetch_add(step, std::memory_order_relaxed) + step));  // only for display
  };
  std::vector<FractionScores> scores(train_nodes.size());
  for (FractionScores& fraction : scores) {
    fraction.micro_f1.reserve(repeats);
    fraction.macro_f1.reserve(repeats);
  }
  for (std::uint64_t first = 0; first < repeats; first += at_once) {
    SplitBatch batch(options, advance);
    for (std::uint64_t repeat = first; repeat < std::min(first + at_once, repeats); ++repeat) {
      batch.Add(std::make_unique<LabelOrder>(
                    labels, features,
                    options.split_is_given() ? given : ShuffledNodes(labels.nodes.size(), options.seed, repeat)),
                train_nodes);
    }
    batch.Run();
    for (std::size_t split = 0; split < batch.size(); ++split) {
      FractionScores& fraction = scores[split % scores.size()];
      fraction.micro_f1.push_back(MicroF1(batch.CountsOf(split)));
      fraction.macro_f1.push_back(MacroF1(batch.CountsOf(split)));
    }
  }
  return scores;
}

// `nodes`: how many train or are tested.
ClassificationReport ReportOf(std::span<const FractionScores> scores, std::span<const std::size_t> train_nodes,
                              std::size_t nodes, const NodeLabels& labels, const ClassificationOptions& options) {
  ClassificationReport report;
  report.repeats = RepeatsOf(options);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    ClassificationReport::Fraction fraction;
    fraction.train_nodes = train_nodes[i];
    fraction.test_nodes = nodes - train_nodes[i];
    fraction.train_fraction = options.split_is_given()
                                  ? static_cast<double>(train_nodes[i]) / static_cast<double>(nodes)
                                  : options.train_fractions[i];
    fraction.micro_f1 = MeanOf(scores[i].micro_f1);
    fraction.macro_f1 = MeanOf(scores[i].macro_f1);
    // With one label and one prediction per node, micro F1 is the accuracy.
    if (!labels.multi_label()) fraction.accuracy = fraction.micro_f1;
    report.fractions.push_back(fraction);
  }
  return report;
}

}  // namespace

MeanOfRepeats MeanOf(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  MeanOfRepeats result{sum / count, std::nullopt};
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.deviation = std::sqrt(squares / (count - 1));
  return result;
}

std::uint64_t LeastClassificationMemory(const EmbeddedGraph& embedded, const NodeLabels& labels,
                                        const ClassificationOptions& options, int threads) {
  return FixedBytes(embedded, labels, options, threads) + RepeatBytes(embedded, labels, options);
}

absl::StatusOr<ClassificationReport> ClassifyNodes(const EmbeddedGraph& embedded, const NodeLabels& labels,
                                                   const ClassificationOptions& options) {
  RETURN_IF_ERROR(CheckEmbeddedGraph(embedded));
  const std::size_t nodes = labels.nodes.size();
  const std::uint64_t memory = options.memory_bytes == 0 ? kDefaultMemory : options.memory_bytes;
  const int threads = MaxConcurrency();
  const std::uint64_t least = LeastClassificationMemory(embedded, labels, options, threads);
  if (nodes > INT32_MAX || memory < least) {
    return UsageError(
        fmt::format("the rows of {} labelled nodes, with {} repeats of {} fractions, take {} and {} are allowed; "
                    "expected fewer of them or more memory",
                    nodes, RepeatsOf(options), FractionsOf(options), FormatByteSize(least), FormatByteSize(memory)));
  }
  GivenSplit given;
  std::vector<std::size_t> train_nodes;
  if (options.split_is_given()) {
    ASSIGN_OR_RETURN(given, GivenSplitOf(embedded, labels, options));
    train_nodes = {given.train_nodes};
  } else {
    ASSIGN_OR_RETURN(train_nodes, CountTrainNodes(nodes, options));
  }
  FeatureRows features(nodes, WidthOf(embedded, options));
  RETURN_IF_ERROR(GatherFeatures(embedded, labels, options, features));
  const std::uint64_t room = memory - FixedBytes(embedded, labels, options, threads);
  // More repeats than give each thread some splits only take memory.
  const std::uint64_t useful = std::min(RepeatsOf(options), 2 * static_cast<std::uint64_t>(threads));
  const std::uint64_t at_once = std::clamp<std::uint64_t>(room / RepeatBytes(embedded, labels, options), 1, useful);
  const std::size_t used = options.split_is_given() ? given.order.size() : nodes;
  const auto scores = ScoreRepeats(labels, features, options, given.order, train_nodes, at_once);
  return ReportOf(scores, train_nodes, used, labels, options);
}

}  // namespace octavo
