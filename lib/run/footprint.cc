#include "run/footprint.h"

namespace octavo {

std::uint64_t NodeBytes(const TrainOptions& options) {
  return options.dim * ElementBytes(options.storage) + StateWidth(options.optimizer, options.dim) * sizeof(float);
}

}  // namespace octavo
