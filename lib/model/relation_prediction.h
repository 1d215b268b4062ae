// Relation prediction: for each edge, `weight` times the softmax loss of its relation among all others (Chen et al.,
// "Relation Prediction as an Auxiliary Training Objective", AKBC 2021). If edges share queries, an edge occurs in both
// directions, and both copies contribute relation loss. With bf16 products, the relations are packed as the negatives
// of a side are. Internal to model/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned_floats.h"
#include "model/bf16_block.h"
#include "model/chunk.h"
#include "model/comparison.h"
#include "model/model_spec.h"

namespace octavo {

// Each worker has its own, as it keeps scratch. Not for concurrent use.
class RelationPrediction {
 public:
  // REQUIRES: relations of the model are rows like those of nodes (distmult, complex, transe)
  RelationPrediction(const ModelSpec& model, float weight) : model_(model), weight_(weight) {}

  bool any() const { return weight_ > 0; }
  // Adds the gradients to those of heads, relations and tails, overwrites gradients.all_relations, returns the loss.
  // `bf16` makes the products; null: they are float32.
  double Add(const ChunkInput& input, const ChunkGradients& gradients, Bf16Block* bf16);

 private:
  void PackRelations(Bf16Backend backend, std::size_t edges, std::span<const float> all);
  PackedNegatives packed_relations() const { return {packed_columns_, packed_rows_}; }

  const ModelSpec model_;
  const float weight_;
  // Kept to reuse their memory. A relations, E edges, D = dim.
  std::vector<float> heads_, targets_;                    // [E, D], of each edge: its head, its relation
  std::vector<float> head_gradients_, target_gradients_;  // [E, D]
  AlignedFloats queries_, query_gradients_;               // [E, D]
  AlignedFloats scores_;                                  // [E, A], then their slopes, then these packed for bf16
  AlignedFloats distances_;                               // [E, A]
  AlignedFloats packed_columns_, packed_rows_;            // of relations, for bf16
  std::vector<float> positives_, positive_gradients_;     // [E]
  std::vector<float> weights_;                            // [E]
  std::vector<std::uint32_t> begins_;                     // [E + 1]
  ScoreScratch block_;
};

}  // namespace octavo
