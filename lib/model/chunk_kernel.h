// Loss and gradients of one chunk of edges against the negatives that the chunk shares. Pure: no thread, file or lock.
//
// For each side that is corrupted (both, always): queries from the known rows and relations, scores against the shared
// negatives by GEMM, loss and its gradient, gradients of queries and negatives by GEMM, and back through the query.
// The loss of the chunk is the sum over edges of weight * (tail-side loss + head-side loss) plus the penalties.
//
// In groups, only tails are corrupted, and the edges of a group, which have the same head and relation, share a query:
// its scores are computed once for all of them.
//
// Relation prediction adds, for each edge, `relation_prediction` times the softmax loss of its relation among all
// others (Chen et al., "Relation Prediction as an Auxiliary Training Objective", AKBC 2021). In groups an edge is there
// both ways, and each of the two has its relation told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/edge.h"
#include "base/random.h"
#include "model/dropout.h"
#include "model/gemm.h"
#include "model/loss.h"
#include "model/model_spec.h"
#include "model/negatives.h"
#include "model/regularizer.h"

namespace octavo {

// Rows are gathered by the caller and row-major. E edges, N negatives a side, D = dim, R = RelationWidth(). In groups
// heads and relations have a row for each group instead, and nothing of the head side is there.
struct ChunkInput {
  std::size_t edges = 0;
  std::size_t negatives = 0;
  std::span<const float> heads;           // [E, D]
  std::span<const float> tails;           // [E, D]
  std::span<const float> relations;       // [E, R], used for (h, r, ?)
  std::span<const float> head_relations;  // [E, R], used for (?, r, t): the same rows, or those of the reciprocals
  std::span<const float> weights;         // [E]
  std::span<const float> tail_negatives;  // [N, D], candidates for (h, r, ?)
  std::span<const float> head_negatives;  // [N, D], candidates for (?, r, t)
  std::span<const MaskedPair> tail_masks;
  std::span<const MaskedPair> head_masks;
  // Reciprocal relations: (?, r, t) is scored as (t, r^-1, ?), by the tail-side query of the tail row and
  // head_relations.
  bool reciprocal = false;
  // Group i is the edges [begins[i], begins[i + 1]). Empty: no groups.
  std::span<const std::uint32_t> begins = {};
  // Of competing answers (model/loss.h): the edges, copies of one next to each other. [E], or empty.
  std::span<const Edge> answers = {};
  // For relation prediction: every relation's row, A of them, and which of them is the edge's.
  std::span<const float> all_relations = {};           // [A, R]
  std::span<const std::uint32_t> edge_relations = {};  // [E]
  // Of the masks of dropout: for the tail side and behind it the head side.
  RandomStream dropout = RandomStream(0, RandomPurpose::kDropout, 0, 0);
};

// The gradients of a side's negatives as the product that they are where scores are inner products: that of negative j
// is sum_i slopes[j, i] * queries[i]. With fewer queries than dimensions that is less to keep, and rows that occur more
// than once can be summed while they are made (AddProductRows of model/gemm.h). Q queries: one an edge, or a group.
struct NegativeFactors {
  std::span<float> slopes;   // [N, Q], row j beginning at j * stride
  std::span<float> queries;  // [Q, FactorStride(D)], zeros behind D
  std::size_t stride = 0;    // at least Q

  bool wanted() const { return !queries.empty(); }
};
constexpr std::size_t FactorStride(std::size_t dim) {
  return (dim + kScatterColumns - 1) / kScatterColumns * kScatterColumns;
}
// Whether the scores of the model are inner products.
bool HasInnerProducts(const ModelSpec& model);

// Every element is overwritten. Sizes as in ChunkInput.
struct ChunkGradients {
  std::span<float> heads;               // [E, D]
  std::span<float> tails;               // [E, D]
  std::span<float> relations;           // [E, R]
  std::span<float> head_relations;      // [E, R]
  std::span<float> tail_negatives;      // [N, D]
  std::span<float> head_negatives;      // [N, D]
  std::span<float> all_relations = {};  // [A, R], of relation prediction; the edges' own are in `relations`, too
  NegativeFactors tail_factors = {};    // where wanted, in the place of tail_negatives; REQUIRES HasInnerProducts
  NegativeFactors head_factors = {};    // likewise
};

struct ChunkLoss {
  double loss = 0;     // sum over the edges of weight * (tail-side + head-side loss + relation's loss)
  double penalty = 0;  // of the regularizer
};

// One for each worker: it owns the scratch, allocated at the first chunk of a size and kept. Not for concurrent use.
class ChunkKernel {
 public:
  ChunkKernel(const ModelSpec& model, const LossSpec& loss, const RegularizerSpec& regularizer,
              const DropoutSpec& dropout = {}, float relation_prediction = 0);
  ~ChunkKernel();
  ChunkKernel(ChunkKernel&&) noexcept;

  // Deterministic: the same input gives the same bits on one kind of CPU.
  ChunkLoss Compute(const ChunkInput& input, const ChunkGradients& gradients);

 private:
  struct Scratch;

  double PredictRelations(const ChunkInput& input, const ChunkGradients& gradients);

  ModelSpec model_;
  LossSpec loss_;
  RegularizerSpec regularizer_;
  DropoutSpec dropout_;
  float relation_prediction_;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace octavo
