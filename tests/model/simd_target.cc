// Runs the tests on another SIMD target than the CPU's best: OCTAVO_TEST_TARGET=avx2 or scalar. If the CPU or the build
// lacks it, they run on the best one.
#include <cstdlib>
#include <string_view>

#include "gtest/gtest.h"
#include "hwy/highway.h"

namespace octavo {
namespace {

class TargetEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    const char* wish = std::getenv("OCTAVO_TEST_TARGET");
    if (wish == nullptr) return;
    const auto target = std::string_view(wish) == "avx2" ? HWY_AVX2 : HWY_STATIC_TARGET;
    if ((hwy::SupportedTargets() & target) == 0) return;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

[[maybe_unused]] const testing::Environment* const kRegistered =
    testing::AddGlobalTestEnvironment(new TargetEnvironment);

}  // namespace
}  // namespace octavo
