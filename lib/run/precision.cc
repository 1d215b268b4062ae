#include "run/precision.h"

#include "model/bf16_product.h"
#include "model/chunk_kernel.h"

namespace octavo {

TrainOptions WithSettledPrecision(TrainOptions options) {
  if (options.precision != Precision::kAuto) return options;
  const Bf16Backend backend = ActiveBf16Backend();
  const bool tiles = backend == Bf16Backend::kAmx || backend == Bf16Backend::kAmxModel;
  options.precision = tiles && HasInnerProducts(options.model_spec()) ? Precision::kBf16 : Precision::kFloat32;
  return options;
}

}  // namespace octavo
