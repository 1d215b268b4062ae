#include "evaluate/classification.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "base/byte_size.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/status.h"
#include "evaluate/label_counts.h"
#include "evaluate/logistic_regression.h"
#include "evaluate/wanted_rows.h"
#include "fmt/format.h"
#include "oneapi/tbb/enumerable_thread_specific.h"

namespace octavo {
namespace {

constexpr std::uint64_t kDefaultMemory = std::uint64_t{1} << 30;
constexpr std::uint64_t kGatherBytes = 2 << 20;  // rows are gathered in pieces of this size
constexpr std::size_t kTestGrain = 64;           // nodes that one task tests

// The labelled nodes, by their places in NodeLabels, in the order of one repeat, and how many of them train. The rest
// is tested.
struct NodeSplit {
  std::span<const std::uint32_t> order;
  std::size_t train_nodes = 0;

  std::span<const std::uint32_t> train() const { return order.first(train_nodes); }
  std::span<const std::uint32_t> test() const { return order.subspan(train_nodes); }
};

// The values of one fraction in all repeats.
struct FractionScores {
  std::vector<double> micro_f1;
  std::vector<double> macro_f1;
};

std::size_t FractionsOf(const ClassificationOptions& options) {
  return options.test_nodes ? 1 : options.train_fractions.size();
}
std::uint64_t RepeatsOf(const ClassificationOptions& options) { return options.test_nodes ? 1 : options.repeats; }

// Features of a node.
std::size_t WidthOf(const EmbeddedGraph& embedded, const ClassificationOptions& options) {
  return ColumnsOf(options.part, embedded.model).size();
}

std::uint64_t WeightCount(const EmbeddedGraph& embedded, const NodeLabels& labels,
                          const ClassificationOptions& options) {
  return labels.names.size() * (WidthOf(embedded, options) + 1);
}

// What does not depend on how many repeats are under way: rows, the work of each thread, and the values of all repeats.
std::uint64_t FixedBytes(const EmbeddedGraph& embedded, const NodeLabels& labels, const ClassificationOptions& options,
                         int threads) {
  const std::uint64_t nodes = labels.nodes.size();
  constexpr std::uint64_t kWantedBytes = sizeof(WantedRow) + sizeof(std::uint64_t);
  // The gathering is over when the fits begin.
  const auto workers = static_cast<std::uint64_t>(std::max(1, threads));
  const std::uint64_t gathering =
      nodes * kWantedBytes + 2 * std::max(kGatherBytes, workers * embedded.model.dim * sizeof(float));
  // Vectors of the solver, too, each of one weight a feature.
  const std::uint64_t fit = nodes * kFitBytesPerRow + (WidthOf(embedded, options) + 1) * 16 * sizeof(double);
  const std::uint64_t test = labels.names.size() * (sizeof(std::pair<double, std::uint32_t>) + sizeof(std::uint32_t));
  const std::uint64_t scores =
      FractionsOf(options) * (sizeof(FractionScores) + RepeatsOf(options) * 2 * sizeof(double));
  return nodes * FeatureRows::BytesPerRow(WidthOf(embedded, options)) + scores +
         std::max(gathering, workers * (fit + test));
}

// Order, weights and counts of one repeat with all its fractions.
std::uint64_t RepeatBytes(const EmbeddedGraph& embedded, const NodeLabels& labels,
                          const ClassificationOptions& options) {
  const std::uint64_t split = WeightCount(embedded, labels, options) * sizeof(double) +
                              labels.names.size() * (sizeof(LabelCounts) + sizeof(char)) + 2 * sizeof(NodeSplit);
  return labels.nodes.size() * sizeof(std::uint32_t) + FractionsOf(options) * split;
}

// All labelled nodes in the order of `repeat`: of those who train a fraction, the first ones.
std::vector<std::uint32_t> ShuffledNodes(std::size_t nodes, std::uint64_t seed, std::uint64_t repeat) {
  std::vector<std::uint32_t> order(nodes);
  for (std::size_t i = 0; i < nodes; ++i) order[i] = static_cast<std::uint32_t>(i);
  RandomStream random(seed, RandomPurpose::kLabelSplit, 0, repeat);
  Shuffle(std::span(order), random);
  return order;
}

// Those that train, then those of `test_nodes`; returns how many train.
std::size_t GivenOrder(const NodeLabels& labels, const std::vector<std::uint64_t>& test_nodes,
                       std::vector<std::uint32_t>& order) {
  order.resize(labels.nodes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  const auto first_test = std::stable_partition(order.begin(), order.end(), [&](std::uint32_t place) {
    return !std::binary_search(test_nodes.begin(), test_nodes.end(), labels.nodes[place]);
  });
  return static_cast<std::size_t>(first_test - order.begin());
}

// floor(fraction * nodes), but 0.29 * 100 is 29.
std::size_t TrainNodes(double fraction, std::size_t nodes) {
  return static_cast<std::size_t>(fraction * static_cast<double>(nodes) + 1e-9);
}

// The splits of some repeats: their weights and what became of their test nodes.
class SplitBatch {
 public:
  // Labels, features and what the splits point to must outlive this object. `advance` is called from any thread.
  SplitBatch(const NodeLabels& labels, const FeatureRows& features, double cost, std::vector<NodeSplit> splits,
             std::function<void(std::size_t split, double share)> advance)
      : labels_(labels),
        features_(features),
        cost_(cost),
        splits_(std::move(splits)),
        advance_(std::move(advance)),
        weights_(splits_.size() * labels.names.size() * (features.columns() + 1)),
        kinds_(splits_.size() * labels.names.size()),
        counts_(splits_.size() * labels.names.size()) {}

  void Run() {
    const std::size_t count = labels_.names.size();
    ParallelEach(0, splits_.size() * count, [&](std::size_t task) {
      Fit(task / count, task % count);
      advance_(task / count, 1 / static_cast<double>(count));
    });
    for (std::size_t split = 0; split < splits_.size(); ++split) {
      ParallelRanges(0, splits_[split].test().size(), kTestGrain,
                     [&](std::size_t first, std::size_t last) { Test(split, first, last); });
    }
  }

  std::span<const LabelCounts> CountsOf(std::size_t split) const {
    return std::span(counts_).subspan(split * labels_.names.size(), labels_.names.size());
  }

 private:
  // Which training nodes have a label.
  enum Kind : char { kSome, kNone, kAll };

  struct Worker {
    std::vector<std::uint32_t> train;
    std::vector<char> positive;
    std::vector<std::pair<double, std::uint32_t>> scores;  // negated, so that the order of pairs is that of ranks
    std::vector<std::uint32_t> predicted;
  };

  std::span<double> WeightsOf(std::size_t split, std::size_t label) {
    const std::size_t width = features_.columns() + 1;
    return std::span(weights_).subspan((split * labels_.names.size() + label) * width, width);
  }

  void Fit(std::size_t split, std::size_t label) {
    // In the order of memory: the solver goes through the rows some hundred times.
    std::vector<std::uint32_t>& train = workers_.local().train;
    train.assign(splits_[split].train().begin(), splits_[split].train().end());
    std::sort(train.begin(), train.end());
    std::vector<char>& positive = workers_.local().positive;
    positive.resize(train.size());
    std::size_t positives = 0;
    for (std::size_t i = 0; i < train.size(); ++i) {
      const std::span<const std::uint32_t> own = labels_.Of(train[i]);
      positive[i] = std::binary_search(own.begin(), own.end(), static_cast<std::uint32_t>(label)) ? 1 : 0;
      positives += positive[i] != 0 ? 1U : 0U;
    }
    char& kind = kinds_[split * labels_.names.size() + label];
    kind = positives == 0 ? kNone : positives == train.size() ? kAll : kSome;
    if (kind == kSome) FitLogisticRegression(features_, train, positive, cost_, WeightsOf(split, label));
  }

  double Score(std::size_t split, std::size_t label, std::size_t place) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const char kind = kinds_[split * labels_.names.size() + label];
    if (kind != kSome) return kind == kAll ? kInfinity : -kInfinity;
    return features_.Decide(place, WeightsOf(split, label));
  }

  // Predicts the labels of test nodes [first, last) of a split and counts them.
  void Test(std::size_t split, std::size_t first, std::size_t last) {
    Worker& worker = workers_.local();
    const std::span<const std::uint32_t> test = splits_[split].test();
    const std::size_t count = labels_.names.size();
    worker.scores.resize(count);
    for (std::size_t i = first; i < last; ++i) {
      const std::span<const std::uint32_t> own = labels_.Of(test[i]);
      for (std::size_t label = 0; label < count; ++label) {
        worker.scores[label] = {-Score(split, label, test[i]), static_cast<std::uint32_t>(label)};
      }
      const auto end = worker.scores.begin() + static_cast<std::ptrdiff_t>(own.size());
      std::partial_sort(worker.scores.begin(), end, worker.scores.end());
      worker.predicted.clear();
      for (auto score = worker.scores.begin(); score != end; ++score) worker.predicted.push_back(score->second);
      std::sort(worker.predicted.begin(), worker.predicted.end());
      Count(split, worker.predicted, own);
    }
  }

  // Both ascend. Relaxed: sums of whole numbers, looked at when all threads are done.
  void Count(std::size_t split, std::span<const std::uint32_t> predicted, std::span<const std::uint32_t> own) {
    LabelCounts* const counts = &counts_[split * labels_.names.size()];
    const auto add = [](std::uint64_t& count) {
      std::atomic_ref<std::uint64_t>(count).fetch_add(1, std::memory_order_relaxed);
    };
    for (const std::uint32_t label : predicted) {
      const bool right = std::binary_search(own.begin(), own.end(), label);
      add(right ? counts[label].right : counts[label].wrong);
    }
    for (const std::uint32_t label : own) {
      if (!std::binary_search(predicted.begin(), predicted.end(), label)) add(counts[label].missed);
    }
  }

  const NodeLabels& labels_;
  const FeatureRows& features_;
  const double cost_;
  const std::vector<NodeSplit> splits_;
  const std::function<void(std::size_t, double)> advance_;
  std::vector<double> weights_;      // [splits, labels, columns + 1]
  std::vector<char> kinds_;          // [splits, labels], of Kind
  std::vector<LabelCounts> counts_;  // [splits, labels]
  tbb::enumerable_thread_specific<Worker> workers_;
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

// Returns how many nodes train, for each fraction. With test_nodes that is for the one split, whose order is `given`.
absl::StatusOr<std::vector<std::size_t>> CountTrainNodes(const NodeLabels& labels, const ClassificationOptions& options,
                                                         std::vector<std::uint32_t>& given) {
  const std::size_t nodes = labels.nodes.size();
  std::vector<std::size_t> train_nodes;
  if (options.test_nodes) {
    train_nodes = {GivenOrder(labels, *options.test_nodes, given)};
    if (train_nodes[0] > 0 && train_nodes[0] < nodes) return train_nodes;
    return UsageError(
        fmt::format("{} of the {} labelled nodes are to be tested; expected at least one, and at least "
                    "one to train on",
                    nodes - train_nodes[0], nodes));
  }
  for (const double fraction : options.train_fractions) {
    train_nodes.push_back(TrainNodes(fraction, nodes));
    RETURN_IF_ERROR(CheckSplit(fraction, train_nodes.back(), nodes));
  }
  return train_nodes;
}

// Trains and tests all repeats, `at_once` of them at a time.
std::vector<FractionScores> ScoreRepeats(const NodeLabels& labels, const FeatureRows& features,
                                         const ClassificationOptions& options, const std::vector<std::uint32_t>& given,
                                         std::span<const std::size_t> train_nodes, std::uint64_t at_once) {
  const std::uint64_t repeats = RepeatsOf(options);
  // A fit takes as long as it has rows.
  double work = 0;
  for (const std::size_t count : train_nodes) work += static_cast<double>(repeats * count);
  std::atomic<double> done{0};
  std::vector<FractionScores> scores(train_nodes.size());
  for (FractionScores& fraction : scores) {
    fraction.micro_f1.reserve(repeats);
    fraction.macro_f1.reserve(repeats);
  }
  for (std::uint64_t first = 0; first < repeats; first += at_once) {
    const std::uint64_t last = std::min(first + at_once, repeats);
    std::vector<std::vector<std::uint32_t>> orders;
    std::vector<NodeSplit> splits;
    for (std::uint64_t repeat = first; repeat < last; ++repeat) {
      orders.push_back(options.test_nodes ? given : ShuffledNodes(labels.nodes.size(), options.seed, repeat));
      for (const std::size_t count : train_nodes) splits.push_back({orders.back(), count});
    }
    SplitBatch batch(labels, features, options.cost, splits, [&](std::size_t split, double share) {
      if (!options.progress) return;
      const double step = share * static_cast<double>(splits[split].train_nodes) / work;
      options.progress(std::min(1.0, done.fetch_add(step, std::memory_order_relaxed) + step));  // for the eye only
    });
    batch.Run();
    for (std::size_t split = 0; split < splits.size(); ++split) {
      FractionScores& fraction = scores[split % scores.size()];
      fraction.micro_f1.push_back(MicroF1(batch.CountsOf(split)));
      fraction.macro_f1.push_back(MacroF1(batch.CountsOf(split)));
    }
  }
  return scores;
}

ClassificationReport ReportOf(std::span<const FractionScores> scores, std::span<const std::size_t> train_nodes,
                              const NodeLabels& labels, const ClassificationOptions& options) {
  const std::size_t nodes = labels.nodes.size();
  ClassificationReport report;
  report.repeats = RepeatsOf(options);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    ClassificationReport::Fraction fraction;
    fraction.train_nodes = train_nodes[i];
    fraction.test_nodes = nodes - train_nodes[i];
    fraction.train_fraction = options.test_nodes ? static_cast<double>(train_nodes[i]) / static_cast<double>(nodes)
                                                 : options.train_fractions[i];
    fraction.micro_f1 = MeanOf(scores[i].micro_f1);
    fraction.macro_f1 = MeanOf(scores[i].macro_f1);
    // With one label a node and one prediction, right ones are to all as F1 says.
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
  std::vector<std::uint32_t> given;
  ASSIGN_OR_RETURN(const std::vector<std::size_t> train_nodes, CountTrainNodes(labels, options, given));
  FeatureRows features(nodes, WidthOf(embedded, options));
  RETURN_IF_ERROR(GatherFeatures(embedded, labels, options, features));
  const std::uint64_t room = memory - FixedBytes(embedded, labels, options, threads);
  const std::uint64_t at_once =
      std::clamp<std::uint64_t>(room / RepeatBytes(embedded, labels, options), 1, RepeatsOf(options));
  return ReportOf(ScoreRepeats(labels, features, options, given, train_nodes, at_once), train_nodes, labels, options);
}

}  // namespace octavo
