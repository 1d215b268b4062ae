#include "train/chunk_block.h"

#include "base/checked_math.h"
#include "model/chunk_kernel.h"
#include "tables/product_sums.h"

namespace octavo {
namespace {

// Parts of a block are aligned to cache lines.
constexpr std::uint64_t kPartFloats = 16;

// Returns gradients whose parts are allocated by take(floats), in order.
template <typename Take>
ChunkGradients MakeGradients(const TrainOptions& options, const ChunkShape& shape, const Take& take) {
  const std::size_t dim = options.dim;
  const std::size_t width = options.model_spec().RelationWidth();
  const bool both = !options.group_queries;
  ChunkGradients gradients{.heads = take(shape.queries * dim),
                           .tails = take(shape.edges * dim),
                           .relations = take(shape.queries * width),
                           .head_relations = take(both ? shape.queries * width : 0),
                           .tail_negatives = {},
                           .head_negatives = {},
                           .all_relations = take(shape.relations * width)};
  if (KeepsFactors(options)) {
    const std::size_t stride = ProductStride(dim);
    const auto factors = [&] {
      return NegativeFactors{.slopes = take(shape.negatives * shape.queries),
                             .queries = take(shape.queries * stride),
                             .stride = shape.queries,
                             .query_stride = stride};
    };
    gradients.tail_factors = factors();
    if (both) gradients.head_factors = factors();
  } else {
    gradients.tail_negatives = take(shape.negatives * dim);
    gradients.head_negatives = take(both ? shape.negatives * dim : 0);
  }
  return gradients;
}

}  // namespace

bool KeepsFactors(const TrainOptions& options) {
  return HasInnerProducts(options.model_spec()) && 2 * options.EntriesPerChunk() <= options.dim &&
         options.schedule != Schedule::kAsync && options.accumulate == 1;
}

std::uint64_t BlockFloats(const TrainOptions& options, const ChunkShape& shape) {
  std::uint64_t floats = 0;
  MakeGradients(options, shape, [&](std::uint64_t part) {
    floats += RoundUp(part, kPartFloats);
    return std::span<float>();
  });
  return floats;
}

ChunkGradients GradientsIn(std::span<float> block, const TrainOptions& options, const ChunkShape& shape) {
  return MakeGradients(options, shape, [&](std::uint64_t part) {
    const std::span<float> taken = block.first(part);
    block = block.subspan(RoundUp(part, kPartFloats));
    return taken;
  });
}

}  // namespace octavo
