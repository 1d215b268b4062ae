#include "optimize/learning_rate.h"

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(LearningRateTest, StartsAtBaseAndFollowsItsCurve) {
  EXPECT_EQ(LearningRateAt(LearningRateSchedule::kConstant, 0.1F, {.batch = 0, .total_batches = 4}), 0.1F);
  EXPECT_EQ(LearningRateAt(LearningRateSchedule::kConstant, 0.1F, {.batch = 3, .total_batches = 4}), 0.1F);
  EXPECT_EQ(LearningRateAt(LearningRateSchedule::kLinear, 0.1F, {.batch = 0, .total_batches = 4}), 0.1F);
  EXPECT_FLOAT_EQ(LearningRateAt(LearningRateSchedule::kLinear, 0.1F, {.batch = 3, .total_batches = 4}), 0.025F);
  EXPECT_EQ(LearningRateAt(LearningRateSchedule::kCosine, 0.1F, {.batch = 0, .total_batches = 4}), 0.1F);
  EXPECT_FLOAT_EQ(LearningRateAt(LearningRateSchedule::kCosine, 0.1F, {.batch = 2, .total_batches = 4}), 0.05F);
  EXPECT_FLOAT_EQ(LearningRateAt(LearningRateSchedule::kCosine, 0.1F, {.batch = 3, .total_batches = 4}), 0.0146446609F);
}

TEST(LearningRateTest, DecaysToZeroAndNeverBelow) {
  for (const auto schedule : {LearningRateSchedule::kLinear, LearningRateSchedule::kCosine}) {
    float last = 1.0F;
    for (std::uint64_t batch = 0; batch < 1000; ++batch) {
      const float rate = LearningRateAt(schedule, 1.0F, {.batch = batch, .total_batches = 1000});
      EXPECT_GT(rate, 0.0F);
      EXPECT_LE(rate, last);
      last = rate;
    }
    EXPECT_LT(last, 0.002F);
  }
}

TEST(LearningRateTest, RisesByEqualStepsThroughTheWarmup) {
  const auto at = [](LearningRateSchedule schedule, std::uint64_t batch, double warmup) {
    return LearningRateAt(schedule, 0.8F, {.batch = batch, .total_batches = 100, .warmup_batches = warmup});
  };
  EXPECT_FLOAT_EQ(at(LearningRateSchedule::kConstant, 0, 3), 0.2F);
  EXPECT_FLOAT_EQ(at(LearningRateSchedule::kConstant, 1, 3), 0.4F);
  EXPECT_FLOAT_EQ(at(LearningRateSchedule::kConstant, 2, 3), 0.6F);
  EXPECT_FLOAT_EQ(at(LearningRateSchedule::kConstant, 3, 3), 0.8F);
  EXPECT_FLOAT_EQ(at(LearningRateSchedule::kLinear, 1, 3), 0.4F * 0.99F);
  EXPECT_FLOAT_EQ(at(LearningRateSchedule::kConstant, 0, 0.5), 0.8F / 1.5F);  // a fraction of a batch
  EXPECT_FLOAT_EQ(at(LearningRateSchedule::kConstant, 1, 0.5), 0.8F);
}

TEST(LearningRateTest, PlateauTakesItsFactor) {
  EXPECT_FLOAT_EQ(
      LearningRateAt(LearningRateSchedule::kPlateau, 0.8F, {.batch = 99, .total_batches = 100, .plateau_factor = 0.25}),
      0.2F);
}

TEST(LearningRateTest, NamesAreParsedBack) {
  for (const auto schedule : {LearningRateSchedule::kConstant, LearningRateSchedule::kLinear,
                              LearningRateSchedule::kCosine, LearningRateSchedule::kPlateau}) {
    EXPECT_EQ(ParseLearningRateSchedule(LearningRateScheduleName(schedule)).value(), schedule);
  }
  const auto bad = ParseLearningRateSchedule("step");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(KindOf(bad.status()), ErrorKind::kUsage);
  EXPECT_THAT(MessageOf(bad.status()), testing::HasSubstr("constant, linear, cosine or plateau"));
}

}  // namespace
}  // namespace octavo
