// Loss and gradients of one chunk of edges against the negatives that the chunk shares. Pure: no thread, file or lock.
//
// For each side that is corrupted: queries from the rows of anchors and relations, scores against the shared negatives
// by GEMM, loss and its gradient, gradients of queries and negatives by GEMM, and back through the query. The loss of
// the chunk is the sum over edges of weight * (tail-side loss + head-side loss) plus the penalties.
#pragma once

#include <memory>

#include "model/chunk.h"
#include "model/dropout.h"
#include "model/loss.h"
#include "model/model_spec.h"
#include "model/regularizer.h"

namespace octavo {

// Whether the scores of the model are inner products.
bool HasInnerProducts(const ModelSpec& model);

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

  ModelSpec model_;
  LossSpec loss_;
  RegularizerSpec regularizer_;
  DropoutSpec dropout_;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace octavo
