// Node classification: how well labels of nodes are told from their embeddings, as in Perozzi et al., "DeepWalk: Online
// learning of social representations" (KDD 2014), section 5.
//
// The labelled nodes are shuffled; the first part of them trains one logistic regression for each label, this label
// against all others (logistic_regression.h), and the rest is tested. A test node that has k labels is given the k of
// highest score: that it has k is known, as in the paper. Ties go to the label whose name comes first. That is repeated
// with other shuffles; the fractions of one repeat cut the same shuffle. A label that no training node has is given
// only where the others do not suffice, one that all have comes before all others.
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
  // Of the labelled nodes, rounded down to whole nodes; each above 0 and below 1.
  std::vector<double> train_fractions = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  std::uint64_t repeats = 10;
  std::uint64_t seed = 1;
  // Nodes to test, ascending: one split, by which fractions, repeats and seed mean nothing. Those without labels are
  // passed over.
  std::optional<std::vector<std::uint64_t>> test_nodes = {};
  RowPart part = RowPart::kAll;    // what of the rows is classified by; halves are of source-context alone
  bool normalize = false;          // they are brought to Euclidean length 1
  double cost = 1;                 // C: the weight of an error against that of large weights
  std::uint64_t memory_bytes = 0;  // bound on what the classification holds beside the labels; 0: 1 GiB
  // Called with the share that is done, in [0, 1], from any thread and often.
  std::function<void(double)> progress = {};
};

// Mean and sample standard deviation (of n - 1) over the repeats; the deviation of one repeat is empty.
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
    MeanOfRepeats macro_f1;                 // over all labels: one that no test node has counts with F1 0
    std::optional<MeanOfRepeats> accuracy;  // where each node has one label
  };
  std::vector<Fraction> fractions;
  std::uint64_t repeats = 0;
};

// Returns the least ClassificationOptions::memory_bytes that does: the rows of the labelled nodes are in memory, at 16
// bytes a value, the weights of one repeat, and 16 bytes for each repeat of each fraction.
std::uint64_t LeastClassificationMemory(const EmbeddedGraph& embedded, const NodeLabels& labels,
                                        const ClassificationOptions& options, int threads);

// Runs on the calling thread's TBB arena. The result is a pure function of table, labels and options: the same bits for
// any number of threads and any memory. A usage error where a part of a split would be empty, or the memory is too
// small.
absl::StatusOr<ClassificationReport> ClassifyNodes(const EmbeddedGraph& embedded, const NodeLabels& labels,
                                                   const ClassificationOptions& options);

}  // namespace octavo
