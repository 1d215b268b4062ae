#include "model/simd_targets.h"

#include <cstdint>

#include "hwy/highway.h"

namespace octavo {

std::vector<std::string> CompiledSimdTargets() {
  std::vector<std::string> names;
  for (std::int64_t targets = HWY_TARGETS; targets != 0; targets &= targets - 1) {
    names.emplace_back(hwy::TargetName(targets & -targets));
  }
  return names;
}

std::string ActiveSimdTarget() {
  const std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(targets & -targets);
}

}  // namespace octavo
