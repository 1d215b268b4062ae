// Computes loss and gradients of one chunk of edges against the negatives that its edges share. Pure: no thread, file
// or lock.
//
// For each side that is corrupted, it makes queries from the rows of anchors and relations, scores them against the
// shared negatives by GEMM, computes loss and its gradient, then the gradients of queries and negatives by GEMM, and
// backpropagates through the queries. With a backend of bf16 products, operands of these three products, and of those
// with all relations (model/relation_prediction.h), are rounded to bf16; everything else is float32. The loss of the
// chunk is the sum over edges of weight * (tail-side loss + head-side loss) plus the penalties.
#pragma once

#include <memory>
#include <optional>

#include "model/bf16_product.h"
#include "model/chunk.h"
#include "model/dropout.h"
#include "model/loss.h"
#include "model/model_spec.h"
#include "model/regularizer.h"

namespace octavo {

// Whether the scores of the model are inner products.
bool HasInnerProducts(const ModelSpec& model);

// Each worker has its own kernel, as it owns the scratch, which grows with the largest chunk so far. Not for concurrent
// use.
class ChunkKernel {
 public:
  ChunkKernel(const ModelSpec& model, const LossSpec& loss, const RegularizerSpec& regularizer,
              const DropoutSpec& dropout = {}, float relation_prediction = 0, std::optional<Bf16Backend> bf16 = {});
  ~ChunkKernel();
  ChunkKernel(ChunkKernel&&) noexcept;

  // Deterministic: the same input gives the same bits on CPUs of the same kind.
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
