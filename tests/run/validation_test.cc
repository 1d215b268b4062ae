#include "run/validation.h"

#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

TrainOptions Options() {
  TrainOptions options;
  options.validate_every = 2;
  options.learning_rate_schedule = LearningRateSchedule::kPlateau;
  options.plateau_patience = 2;
  options.plateau_factor = 0.5;
  options.patience = 4;
  return options;
}

// The progress after validations at epochs 2, 4, ...
ValidationProgress ProgressAfter(const TrainOptions& options, const std::vector<double>& mrrs) {
  ValidationProgress progress;
  std::uint64_t epoch = 0;
  for (const double mrr : mrrs) progress = AfterValidation(options, progress, epoch += 2, mrr);
  return progress;
}

TEST(Validation, IsDueAfterEveryNthEpochOnce) {
  TrainOptions options = Options();
  EXPECT_FALSE(IsValidationDue(options, {}, 0));
  EXPECT_FALSE(IsValidationDue(options, {}, 1));
  EXPECT_TRUE(IsValidationDue(options, {}, 2));
  EXPECT_FALSE(IsValidationDue(options, {.validated_epoch = 2}, 2));
  EXPECT_TRUE(IsValidationDue(options, {.validated_epoch = 2}, 4));
  options.validate_every = 0;
  EXPECT_FALSE(IsValidationDue(options, {}, 2));
}

TEST(Validation, KeepsTheFirstOfEquals) {
  const ValidationProgress progress = ProgressAfter(Options(), {0.1, 0.3, 0.3, 0.2});
  EXPECT_EQ(progress.best_epoch, 4U);
  EXPECT_EQ(progress.best_mrr, 0.3);
  EXPECT_EQ(progress.validated_epoch, 8U);
}

TEST(Validation, AnMrrOfZeroIsTheBestOfNone) { EXPECT_EQ(ProgressAfter(Options(), {0.0}).best_epoch, 2U); }

TEST(Validation, AFallComesAfterPatienceAndWaitsForItAgain) {
  const TrainOptions options = Options();
  EXPECT_EQ(ProgressAfter(options, {0.3, 0.2}).falls, 0U);
  EXPECT_EQ(ProgressAfter(options, {0.3, 0.2, 0.2}).falls, 1U);
  EXPECT_EQ(ProgressAfter(options, {0.3, 0.2, 0.2, 0.2}).falls, 1U);
  EXPECT_EQ(ProgressAfter(options, {0.3, 0.2, 0.2, 0.2, 0.2}).falls, 2U);
  EXPECT_EQ(PlateauFactor(options, ProgressAfter(options, {0.3, 0.2, 0.2, 0.2, 0.2})), 0.25);
  // A better one in between restarts the count.
  EXPECT_EQ(ProgressAfter(options, {0.3, 0.2, 0.4, 0.2}).falls, 0U);
  EXPECT_EQ(ProgressAfter(options, {0.3, 0.2, 0.4, 0.2, 0.2}).falls, 1U);
}

TEST(Validation, OnlyPlateauFalls) {
  TrainOptions options = Options();
  options.learning_rate_schedule = LearningRateSchedule::kConstant;
  EXPECT_EQ(PlateauFactor(options, ProgressAfter(options, {0.3, 0.2, 0.2, 0.2})), 1.0);
}

TEST(Validation, StopsAfterPatienceWithoutABetterOne) {
  TrainOptions options = Options();
  EXPECT_FALSE(StopsEarly(options, {}, 0));
  EXPECT_FALSE(StopsEarly(options, ProgressAfter(options, {0.3, 0.2, 0.2, 0.2}), 8));
  const ValidationProgress progress = ProgressAfter(options, {0.3, 0.2, 0.2, 0.2, 0.2});
  EXPECT_TRUE(StopsEarly(options, progress, 10));
  EXPECT_FALSE(StopsEarly(options, progress, 11)) << "training continued";
  EXPECT_FALSE(StopsEarly(options, WithNewPatience(progress), 10));
  options.patience = 0;
  EXPECT_FALSE(StopsEarly(options, progress, 10));
}

}  // namespace
}  // namespace octavo
