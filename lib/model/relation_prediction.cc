#include "model/relation_prediction.h"

#include <algorithm>

#include "model/loss.h"
#include "model/shared_queries.h"

namespace octavo {

// The supported models are symmetric in head and relation: the query for a relation, given head and tail, is the query
// of the head side with the head's row in place of the relation's.
double RelationPrediction::Add(const ChunkInput& input, const ChunkGradients& gradients) {
  const std::size_t edges = input.edges();
  const std::size_t dim = model_.dim;
  const std::size_t relations = input.all_relations.size() / dim;
  const Comparison comparison = ComparisonOf(model_);
  for (auto* rows : {&heads_, &targets_, &head_gradients_, &target_gradients_, &queries_, &query_gradients_}) {
    rows->resize(edges * dim);
  }
  for (auto* values : {&positives_, &positive_gradients_, &weights_}) values->resize(edges);
  scores_.resize(edges * relations);
  begins_ = OneQueryEach(edges);  // each edge is a query for its relation
  SpreadToEdges(input.begins, dim, input.heads.data(), heads_.data());
  SpreadToEdges(input.begins, dim, input.relations.data(), targets_.data());
  for (std::size_t i = 0; i < edges; ++i) weights_[i] = weight_ * input.weights[i];

  // Scores of each edge's relation and of all relations; the edge's own relation is not a negative.
  MakeQueries(model_, Side::kHead, edges, input.tails.data(), heads_.data(), queries_.data());
  CompareRows(comparison, dim, edges, queries_.data(), targets_.data(), positives_.data());
  CompareBlock(comparison, dim, edges, queries_.data(), relations, input.all_relations.data(), block_, scores_.data());
  if (comparison == Comparison::kEuclidean) distances_ = scores_;
  for (std::size_t i = 0; i < edges; ++i) scores_[i * relations + input.edge_relations[i]] = kMaskedScore;
  const double loss = LossAndGradient({.kind = LossKind::kSoftmax}, positives_, weights_, scores_, relations,
                                      positive_gradients_, begins_);

  // Backpropagate to all relations, the edge's own, its tail and its head.
  BackpropagateBlock(comparison, dim, edges, queries_.data(), relations, input.all_relations.data(), distances_.data(),
                     block_, scores_.data(), query_gradients_.data(), gradients.all_relations.data());
  BackpropagateRows(comparison, dim, edges, queries_.data(), targets_.data(), positives_.data(),
                    positive_gradients_.data(), query_gradients_.data(), false, target_gradients_.data());
  BackpropagateQueries(model_, Side::kHead, edges, input.tails.data(), heads_.data(), query_gradients_.data(), true,
                       gradients.tails.data(), head_gradients_.data());
  AddToQueries(input.begins, dim, target_gradients_.data(), gradients.relations.data());
  AddToQueries(input.begins, dim, head_gradients_.data(), gradients.heads.data());
  return loss;
}

}  // namespace octavo
