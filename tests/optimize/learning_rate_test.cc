#include "optimize/learning_rate.h"

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(LearningRateTest, StartsAtBaseAndFollowsItsCurve) {
  EXPECT_EQ(LearningRateAt(LearningRateSchedule::kConstant, 0.1F, 0, 4), 0.1F);
  EXPECT_EQ(LearningRateAt(LearningRateSchedule::kConstant, 0.1F, 3, 4), 0.1F);
  EXPECT_EQ(LearningRateAt(LearningRateSchedule::kLinear, 0.1F, 0, 4), 0.1F);
  EXPECT_FLOAT_EQ(LearningRateAt(LearningRateSchedule::kLinear, 0.1F, 3, 4), 0.025F);
  EXPECT_EQ(LearningRateAt(LearningRateSchedule::kCosine, 0.1F, 0, 4), 0.1F);
  EXPECT_FLOAT_EQ(LearningRateAt(LearningRateSchedule::kCosine, 0.1F, 2, 4), 0.05F);
  EXPECT_FLOAT_EQ(LearningRateAt(LearningRateSchedule::kCosine, 0.1F, 3, 4), 0.0146446609F);
}

TEST(LearningRateTest, DecaysToZeroAndNeverBelow) {
  for (const auto schedule : {LearningRateSchedule::kLinear, LearningRateSchedule::kCosine}) {
    float last = 1.0F;
    for (std::uint64_t batch = 0; batch < 1000; ++batch) {
      const float rate = LearningRateAt(schedule, 1.0F, batch, 1000);
      EXPECT_GT(rate, 0.0F);
      EXPECT_LE(rate, last);
      last = rate;
    }
    EXPECT_LT(last, 0.002F);
  }
}

TEST(LearningRateTest, NamesAreParsedBack) {
  for (const auto schedule :
       {LearningRateSchedule::kConstant, LearningRateSchedule::kLinear, LearningRateSchedule::kCosine}) {
    EXPECT_EQ(ParseLearningRateSchedule(LearningRateScheduleName(schedule)).value(), schedule);
  }
  const auto bad = ParseLearningRateSchedule("step");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(KindOf(bad.status()), ErrorKind::kUsage);
  EXPECT_THAT(MessageOf(bad.status()), testing::HasSubstr("constant, linear or cosine"));
}

}  // namespace
}  // namespace octavo
