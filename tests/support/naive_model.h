// The oracle of everything in lib/model: scores, losses and penalties by plain loops in double, gradients by central
// differences. Shares no code with lib/model, only its types. Slow on purpose; for chunks of a few rows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/chunk_kernel.h"

namespace octavo {

// A ChunkInput that owns its rows, in double.
struct NaiveChunk {
  std::size_t edges = 0;
  std::size_t negatives = 0;
  std::vector<double> heads;           // [E, D]
  std::vector<double> tails;           // [E, D]
  std::vector<double> relations;       // [E, R]
  std::vector<double> head_relations;  // [E, R]
  std::vector<double> weights;         // [E]
  std::vector<double> tail_negatives;  // [N, D]
  std::vector<double> head_negatives;  // [N, D]
  std::vector<MaskedPair> tail_masks;
  std::vector<MaskedPair> head_masks;
  SideGroups tail_groups;  // views
  SideGroups head_groups;
  bool reciprocal = false;
};

NaiveChunk MakeNaiveChunk(const ChunkInput& input);

// Score of (head, relation, tail) by the table of model_spec.h.
double NaiveScore(const ModelSpec& spec, std::span<const double> head, std::span<const double> relation,
                  std::span<const double> tail);

// softmax(temperature * scores) of the negatives of a self-adversarial loss; empty for the other losses.
std::vector<double> NaiveAdversarialWeights(const LossSpec& spec, std::span<const double> negatives);

// Loss of one positive against its unmasked negatives and, for a softmax, its rivals: the answers that compete with it.
// `adversarial_weights` as returned above.
double NaiveLoss(const LossSpec& spec, double positive, std::span<const double> negatives,
                 std::span<const double> adversarial_weights, std::span<const double> rivals = {});

// Penalty of one row, without a scale.
double NaivePenalty(const RegularizerSpec& spec, bool complex_layout, std::span<const double> row);
// Penalty of dura of one edge.
double NaiveDura(double weight, bool complex_layout, std::span<const double> head, std::span<const double> relation,
                 std::span<const double> tail);

// The same of RESCAL: half the squared rows, and 1.5 times the squares of h' R and R t.
double NaiveMatrixDura(double weight, std::size_t block, std::span<const double> head, std::span<const double> relation,
                       std::span<const double> tail);

struct NaiveResult {
  double loss = 0;
  double penalty = 0;
  // d (loss + penalty) / d each row of the chunk; the weights of a self-adversarial loss are held constant.
  NaiveChunk gradients;
};

NaiveResult NaiveChunkLoss(const ModelSpec& model, const LossSpec& loss, const RegularizerSpec& regularizer,
                           const NaiveChunk& chunk);

}  // namespace octavo
