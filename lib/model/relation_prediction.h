// Relation prediction: for each edge, `weight` times the softmax loss of its relation among all others (Chen et al.,
// "Relation Prediction as an Auxiliary Training Objective", AKBC 2021). If edges share queries, an edge occurs in both
// directions, and both copies contribute relation loss. Internal to model/.
#pragma once

#include <vector>

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
  double Add(const ChunkInput& input, const ChunkGradients& gradients);

 private:
  const ModelSpec model_;
  const float weight_;
  // Kept to reuse their memory. A relations, E edges, D = dim.
  std::vector<float> heads_, targets_;                    // [E, D], of each edge: its head, its relation
  std::vector<float> head_gradients_, target_gradients_;  // [E, D]
  std::vector<float> queries_, query_gradients_;          // [E, D]
  std::vector<float> scores_, distances_;                 // [E, A]
  std::vector<float> positives_, positive_gradients_;     // [E]
  std::vector<float> weights_;                            // [E]
  std::vector<std::uint32_t> begins_;                     // [E + 1]
  ScoreScratch block_;
};

}  // namespace octavo
