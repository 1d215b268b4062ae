#include "evaluate/label_split.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "base/parallel.h"

namespace octavo {
namespace {

constexpr std::size_t kTestRows = 256;    // that are scored by one matrix product
constexpr std::size_t kCopyGrain = 1024;  // rows that one task copies

using LabelScore = std::pair<float, std::uint32_t>;  // scores negated, so that pairs sort by rank

}  // namespace

LabelOrder::LabelOrder(const NodeLabels& labels, const FeatureRows& features, std::vector<std::uint32_t> order)
    : labels_(labels),
      order_(std::move(order)),
      rows_(order_.size(), features.width() - 1),
      offsets_(labels.names.size() + 1) {
  ParallelRanges(0, order_.size(), kCopyGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) rows_.Copy(i, features, order_[i]);
  });
  for (std::size_t i = 0; i < order_.size(); ++i) {
    for (const std::uint32_t label : Of(i)) ++offsets_[label + 1];
  }
  for (std::size_t label = 0; label < label_count(); ++label) offsets_[label + 1] += offsets_[label];
  places_.resize(offsets_.back());
  std::vector<std::uint64_t> next(offsets_.begin(), offsets_.end() - 1);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    for (const std::uint32_t label : Of(i)) places_[next[label]++] = static_cast<std::uint32_t>(i);
  }
}

std::span<const std::uint32_t> LabelOrder::Members(std::size_t label, std::size_t end) const {
  const auto all = std::span(places_).subspan(offsets_[label], offsets_[label + 1] - offsets_[label]);
  const auto last = std::lower_bound(all.begin(), all.end(), end);
  return all.first(static_cast<std::size_t>(last - all.begin()));
}

std::uint64_t LabelOrder::Bytes(const NodeLabels& labels, std::size_t columns) {
  return labels.nodes.size() * (sizeof(std::uint32_t) + FeatureRows::BytesPerRow(columns)) +
         2 * (labels.names.size() + 1) * sizeof(std::uint64_t) + labels.labels.size() * sizeof(std::uint32_t);
}

LabelSplit::LabelSplit(const LabelOrder& order, std::size_t train_nodes)
    : order_(order),
      train_nodes_(train_nodes),
      weights_(order.label_count() * order.rows().width()),
      kinds_(order.label_count()),
      counts_(order.label_count()) {}

void LabelSplit::Fit(std::size_t first, std::size_t last, double cost, absl::FunctionRef<void()> fitted) {
  const std::size_t width = order_.rows().width();
  std::vector<ClassToFit> classes;
  classes.reserve(last - first);
  for (std::size_t label = first; label < last; ++label) {
    const std::span<const std::uint32_t> members = order_.Members(label, train_nodes_);
    kinds_[label] = members.empty() ? kNone : members.size() == train_nodes_ ? kAll : kSome;
    if (kinds_[label] == kSome) {
      classes.push_back({members, std::span(weights_).subspan(label * width, width)});
    } else {
      fitted();
    }
  }
  FitOneVsRest(order_.rows(), train_nodes_, classes, cost, fitted);
}

void LabelSplit::Test() {
  ParallelRanges(train_nodes_, order_.size(), kTestRows,
                 [&](std::size_t first, std::size_t last) { Test(first, last); });
}

void LabelSplit::Test(std::size_t first, std::size_t last) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::size_t count = order_.label_count();
  std::vector<float> scores((last - first) * count);
  ScoreClasses(order_.rows(), first, last - first, weights_, scores);
  std::vector<LabelScore> ranked(count);
  std::vector<std::uint32_t> predicted;
  for (std::size_t place = first; place < last; ++place) {
    const std::span<const std::uint32_t> own = order_.Of(place);
    for (std::size_t label = 0; label < count; ++label) {
      const float score = scores[(place - first) * count + label];
      const float ranking = kinds_[label] == kSome ? -score : kinds_[label] == kAll ? -kInfinity : kInfinity;
      ranked[label] = {ranking, static_cast<std::uint32_t>(label)};
    }
    const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(own.size());
    std::partial_sort(ranked.begin(), end, ranked.end());
    predicted.clear();
    for (auto label = ranked.begin(); label != end; ++label) predicted.push_back(label->second);
    std::sort(predicted.begin(), predicted.end());
    Count(predicted, own);
  }
}

// Both ascend. Relaxed: integer sums, read after all threads are done.
void LabelSplit::Count(std::span<const std::uint32_t> predicted, std::span<const std::uint32_t> own) {
  const auto add = [](std::uint64_t& count) {
    std::atomic_ref<std::uint64_t>(count).fetch_add(1, std::memory_order_relaxed);
  };
  for (const std::uint32_t label : predicted) {
    const bool right = std::binary_search(own.begin(), own.end(), label);
    add(right ? counts_[label].right : counts_[label].wrong);
  }
  for (const std::uint32_t label : own) {
    if (!std::binary_search(predicted.begin(), predicted.end(), label)) add(counts_[label].missed);
  }
}

std::uint64_t LabelSplit::Bytes(const NodeLabels& labels, std::size_t columns) {
  return sizeof(LabelSplit) +
         labels.names.size() * (FeatureRows::BytesPerRow(columns) + sizeof(char) + sizeof(LabelCounts));
}

std::uint64_t LabelSplit::TestBytes(const NodeLabels& labels) {
  return labels.names.size() * (kTestRows * sizeof(float) + sizeof(LabelScore) + sizeof(std::uint32_t));
}

}  // namespace octavo
