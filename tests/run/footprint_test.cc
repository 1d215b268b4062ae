#include "run/footprint.h"

#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(NodeBytes, IsARowOfEachTable) {
  TrainOptions options;
  options.dim = 100;
  options.optimizer = OptimizerKind::kSgd;
  EXPECT_EQ(NodeBytes(options), 400U);
  options.optimizer = OptimizerKind::kRowAdagrad;
  EXPECT_EQ(NodeBytes(options), 404U);
  options.optimizer = OptimizerKind::kAdam;
  EXPECT_EQ(NodeBytes(options), 1200U);
  options.storage = NpyElement::kBfloat16;
  EXPECT_EQ(NodeBytes(options), 1000U);
}

}  // namespace
}  // namespace octavo
