#include "model/relation_prediction.h"

#include <algorithm>

#include "model/loss.h"
#include "model/shared_queries.h"

namespace octavo {

void RelationPrediction::PackRelations(Bf16Backend backend, std::size_t edges, std::span<const float> all) {
  const std::size_t dim = model_.dim;
  const std::size_t relations = all.size() / dim;
  packed_columns_.resize(PacksColumns(backend, dim, edges) ? PackedColumnFloats(dim, relations) : 0);
  packed_rows_.resize(PackedRowFloats(backend, dim, relations));
  for (std::size_t first = 0; first < relations; first += kNegativesPacked) {
    const std::size_t count = std::min(kNegativesPacked, relations - first);
    PackNegatives(backend, dim, relations, first, count, all.data() + first * dim, packed_columns_, packed_rows_);
  }
}

// The supported models are symmetric in head and relation: the query for a relation, given head and tail, is the query
// of the head side with the head's row in place of the relation's.
double RelationPrediction::Add(const ChunkInput& input, const ChunkGradients& gradients, Bf16Block* bf16) {
  const std::size_t edges = input.edges();
  const std::size_t dim = model_.dim;
  const std::size_t relations = input.all_relations.size() / dim;
  const Comparison comparison = ComparisonOf(model_);
  for (auto* rows : {&heads_, &targets_, &head_gradients_, &target_gradients_}) rows->resize(edges * dim);
  for (auto* rows : {&queries_, &query_gradients_}) rows->resize(edges * dim);
  for (auto* values : {&positives_, &positive_gradients_, &weights_}) values->resize(edges);
  scores_.resize(bf16 == nullptr ? edges * relations : Bf16LeftFloats(edges, relations));
  begins_ = OneQueryEach(edges);  // each edge is a query for its relation
  SpreadToEdges(input.begins, dim, input.heads.data(), heads_.data());
  SpreadToEdges(input.begins, dim, input.relations.data(), targets_.data());
  for (std::size_t i = 0; i < edges; ++i) weights_[i] = weight_ * input.weights[i];

  // Scores of each edge's relation and of all relations; the edge's own relation is not a negative.
  MakeQueries(model_, Side::kHead, edges, input.tails.data(), heads_.data(), queries_.data());
  CompareRows(comparison, dim, edges, queries_.data(), targets_.data(), positives_.data());
  if (bf16 != nullptr) {
    PackRelations(bf16->backend(), edges, input.all_relations);
    bf16->Score(dim, edges, queries_.data(), relations, packed_relations(), scores_.data());
  } else {
    CompareBlock(comparison, dim, edges, queries_.data(), relations, input.all_relations.data(), block_,
                 scores_.data());
  }
  if (comparison == Comparison::kEuclidean) distances_ = scores_;
  for (std::size_t i = 0; i < edges; ++i) scores_[i * relations + input.edge_relations[i]] = kMaskedScore;
  const double loss =
      LossAndGradient({.kind = LossKind::kSoftmax}, positives_, weights_, std::span(scores_).first(edges * relations),
                      relations, positive_gradients_, begins_);

  // Backpropagate to all relations, the edge's own, its tail and its head.
  if (bf16 != nullptr) {
    bf16->Backpropagate(dim, edges, queries_.data(), relations, packed_relations(), scores_.data(),
                        query_gradients_.data(), gradients.all_relations.data());
  } else {
    BackpropagateBlock(comparison, dim, edges, queries_.data(), relations, input.all_relations.data(),
                       distances_.data(), block_, scores_.data(), query_gradients_.data(),
                       gradients.all_relations.data());
  }
  BackpropagateRows(comparison, dim, edges, queries_.data(), targets_.data(), positives_.data(),
                    positive_gradients_.data(), query_gradients_.data(), false, target_gradients_.data());
  BackpropagateQueries(model_, Side::kHead, edges, input.tails.data(), heads_.data(), query_gradients_.data(), true,
                       gradients.tails.data(), head_gradients_.data());
  AddToQueries(input.begins, dim, target_gradients_.data(), gradients.relations.data());
  AddToQueries(input.begins, dim, head_gradients_.data(), gradients.heads.data());
  return loss;
}

}  // namespace octavo
