// Node classification: how well node labels can be predicted from embeddings (Perozzi et al., "DeepWalk: Online
// learning of social representations", KDD 2014, section 5).
//
// The labelled nodes are shuffled, unless the split is given. The first part trains one logistic regression for each
// label, that label against all others (logistic_regression.h); the rest is tested. A test node with k labels is
// predicted the k labels with the highest scores; as in the paper, k is given. Ties go to the label whose name comes
// first. This is repeated with other shuffles; all fractions of one repeat use the same shuffle. A label that no
// training node has is predicted last, and one that all have first.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "evaluate/embedded_graph.h"
#include "evaluate/node_labels.h"
#include "model/model_spec.h"

namespace octavo {

struct ClassificationOptions {
  // Shares of the labelled nodes, rounded down to whole nodes; each above 0 and below 1.
  std::vector<double> train_fractions = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  std::uint64_t repeats = 10;
  std::uint64_t seed = 1;
  // The nodes to train on and to test, ascending; if one is not given, it is all other labelled nodes. There is then
  // one split; fractions, repeats and seed are not used. Nodes without labels are ignored.
  std::optional<std::vector<std::uint64_t>> train_nodes = {};
  std::optional<std::vector<std::uint64_t>> test_nodes = {};
  RowPart part = RowPart::kAll;    // which part of the rows to use; halves only for source-context
  bool normalize = false;          // scale rows to Euclidean length 1
  double cost = 1;                 // C: weight of the errors relative to the regularization
  std::uint64_t memory_bytes = 0;  // limit for what is held in addition to the labels; 0: 1 GiB
  // Called with the share done, in [0, 1], from any thread and often.
  std::function<void(double)> progress = {};

  bool split_is_given() const { return train_nodes || test_nodes; }
};

// Mean and sample standard deviation (n - 1) over the repeats. With one repeat the deviation is empty.
struct MeanOfRepeats {
  double mean = 0;
  std::optional<double> deviation;
};
// REQUIRES: values
MeanOfRepeats MeanOf(std::span<const double> values);

struct ClassificationReport {
  struct Fraction {
    double train_fraction = 0;
    std::uint64_t train_nodes = 0;
    std::uint64_t test_nodes = 0;
    MeanOfRepeats micro_f1;
    MeanOfRepeats macro_f1;                 // over all labels; a label without test nodes counts as F1 0
    std::optional<MeanOfRepeats> accuracy;  // if each node has one label
  };
  std::vector<Fraction> fractions;
  std::uint64_t repeats = 0;
};

// Returns the smallest sufficient ClassificationOptions::memory_bytes: the rows of the labelled nodes at 16 bytes per
// value, the weights of one repeat, and 16 bytes for each repeat of each fraction.
std::uint64_t LeastClassificationMemory(const EmbeddedGraph& embedded, const NodeLabels& labels,
                                        const ClassificationOptions& options, int threads);

// Runs on the calling thread's TBB arena. The result is a pure function of table, labels and options: the same bits for
// any number of threads and any memory. A usage error if a part of a split would be empty or the memory is too small.
absl::StatusOr<ClassificationReport> ClassifyNodes(const EmbeddedGraph& embedded, const NodeLabels& labels,
                                                   const ClassificationOptions& options);

}  // namespace octavo
