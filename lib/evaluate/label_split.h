// One order of the labelled nodes, whose first part trains classifiers (one_vs_rest.h) and whose rest is tested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "evaluate/label_counts.h"
#include "evaluate/node_labels.h"
#include "evaluate/one_vs_rest.h"

namespace octavo {

// Labelled nodes in an order, with their features in that order, so that every split of it is two ranges of rows.
// Constant once made; any thread.
class LabelOrder {
 public:
  // `order`: positions in `labels`, distinct; row i of `features` is that of labels.nodes[i]. Copies the rows, in
  // parallel. The labels must outlive this object.
  LabelOrder(const NodeLabels& labels, const FeatureRows& features, std::vector<std::uint32_t> order);

  std::size_t size() const { return order_.size(); }
  std::size_t label_count() const { return labels_.names.size(); }
  const FeatureRows& rows() const { return rows_; }
  // The labels of the node at `place`, ascending.
  std::span<const std::uint32_t> Of(std::size_t place) const { return labels_.Of(order_[place]); }
  // The places before `end` of the nodes that have `label`, ascending.
  std::span<const std::uint32_t> Members(std::size_t label, std::size_t end) const;

  // Memory of an order of all nodes.
  static std::uint64_t Bytes(const NodeLabels& labels, std::size_t columns);

 private:
  const NodeLabels& labels_;
  std::vector<std::uint32_t> order_;
  FeatureRows rows_;
  std::vector<std::uint64_t> offsets_;  // [labels + 1]
  std::vector<std::uint32_t> places_;   // of label i: [offsets[i], offsets[i + 1]), ascending
};

// Classifiers trained on the first nodes of an order, and their results on the others.
class LabelSplit {
 public:
  // The order must outlive this object.
  LabelSplit(const LabelOrder& order, std::size_t train_nodes);

  // Fits the labels [first, last); calls `fitted` after each. Any thread, for disjoint ranges.
  void Fit(std::size_t first, std::size_t last, double cost, absl::FunctionRef<void()> fitted);
  // Predicts the labels of all test nodes, in parallel, and counts the results. All labels have been fitted.
  void Test();
  std::span<const LabelCounts> counts() const { return counts_; }

  // Memory of one split, and of the test of one thread.
  static std::uint64_t Bytes(const NodeLabels& labels, std::size_t columns);
  static std::uint64_t TestBytes(const NodeLabels& labels);

 private:
  // How many training nodes have a label.
  enum Kind : char { kSome, kNone, kAll };

  void Test(std::size_t first, std::size_t last);
  void Count(std::span<const std::uint32_t> predicted, std::span<const std::uint32_t> own);

  const LabelOrder& order_;
  const std::size_t train_nodes_;
  std::vector<float> weights_;       // [labels, features]
  std::vector<char> kinds_;          // [labels], of Kind
  std::vector<LabelCounts> counts_;  // [labels]
};

}  // namespace octavo
