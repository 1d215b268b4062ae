#include "tune/trial_times.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

// Four trials of 27 epochs in rungs that end at 3, 9 and 27. Trial 1 is larger: 2,700 seconds are expected of it.
class TrialTimesTest : public ::testing::Test {
 protected:
  TrialTimesTest() {
    for (std::uint64_t i = 0; i < trials_.size(); ++i) {
      trials_[i].number = i;
      trials_[i].options.epochs = 27;
    }
    trials_[1].expected_seconds = 2700;
  }
  // The next trial has ended its rung: `seconds` in all so far, `fixed` of them in starts and validations.
  void End(double seconds, double fixed, double mrr = 0.5) {
    const Halving::Task task = *halving_.Next();
    Trial& trial = trials_[task.trial];
    trial.epochs_done = EndOfRung(trial, halving_.rungs(), task.rung);
    trial.seconds = seconds;
    trial.fixed_seconds = fixed;
    trial.timed_rungs = fixed > 0 ? task.rung + 1 : 0;
    halving_.AddResult(mrr);
  }

  std::vector<Trial> trials_{4};
  Halving halving_{MakeReferenceRungs(4, 27, 3), Halving::Kind::kReference};
  const TimePlan plan_{10000};
  const TrialTimes times_{trials_, halving_, plan_};
};

TEST_F(TrialTimesTest, NothingIsKnownBeforeTheFirstResultButWhatIsExpected) {
  EXPECT_EQ(times_.ThroughRung(trials_[0], 0), 0);
  EXPECT_EQ(times_.AfterRung(trials_[0], 0), 0);
  EXPECT_EQ(times_.ThroughRung(trials_[1], 0), 300);
  EXPECT_EQ(times_.AfterRung(trials_[1], 0), 2400);
}

TEST_F(TrialTimesTest, AValidationCountsOnceInARung) {
  End(3 + 60, 60);
  EXPECT_EQ(times_.Whole(trials_[0]), 27 + 60);
  EXPECT_EQ(times_.ThroughRung(trials_[0], 1), 6 + 60);
  EXPECT_EQ(times_.AfterRung(trials_[0], 0), 24 + 2 * 60);
  EXPECT_EQ(times_.AfterRung(trials_[0], 1), 18 + 60);
  EXPECT_EQ(times_.AfterRung(trials_[0], 2), 0);
}

TEST_F(TrialTimesTest, OthersTakeWhatThoseBeforeTook) {
  End(3 + 60, 60);
  EXPECT_EQ(times_.ThroughRung(trials_[1], 0), 300 + 60) << "its epochs are expected, its validation is not";
  EXPECT_EQ(times_.ThroughRung(trials_[2], 0), 3 + 60);
  End(600 + 100, 100);
  EXPECT_EQ(times_.AfterRung(trials_[1], 0), 4800 + 2 * 100);
  EXPECT_EQ(times_.ThroughRung(trials_[2], 0), 3 + 60) << "the larger one says nothing about the others";
  End(9 + 20, 20);
  EXPECT_EQ(times_.ThroughRung(trials_[2], 1), 18 + 20);
  EXPECT_EQ(times_.ThroughRung(trials_[3], 0), 6 + 40);
}

TEST_F(TrialTimesTest, IfOnlyTheLargerOneHasAResultNothingIsKnownOfTheOthers) {
  halving_.AddFailure();
  trials_[0].failure = "diverged";
  End(300 + 100, 100);
  EXPECT_EQ(times_.ThroughRung(trials_[2], 0), 0);
  EXPECT_EQ(times_.AfterRung(trials_[2], 0), 0);
}

// As in logs of before: the validation is part of the epochs.
TEST_F(TrialTimesTest, AResultWithoutTheTimeOfItsValidationHasItInItsEpochs) {
  End(3 + 60, 0);
  End(300, 0);
  End(6 + 40, 40);
  EXPECT_EQ(times_.ThroughRung(trials_[0], 1), 6 * 21);
  EXPECT_EQ(times_.AfterRung(trials_[0], 0), 24 * 21);
  EXPECT_EQ(times_.ThroughRung(trials_[2], 1), 12 + 40);
}

// The second validation was stopped once after 30 seconds.
TEST_F(TrialTimesTest, AValidationThatWasStoppedIsNoEpoch) {
  End(3 + 30 + 60, 30 + 60);
  EXPECT_EQ(times_.Whole(trials_[0]), 27 + 90);
  EXPECT_EQ(times_.ThroughRung(trials_[0], 1), 6 + 90);
  trials_[0].timed_rungs = 0;
  EXPECT_EQ(times_.ThroughRung(trials_[1], 0), 300) << "one that has no result says nothing about the others";
}

TEST_F(TrialTimesTest, TheRestOfTheFirstFollows) {
  End(3 + 60, 60);
  EXPECT_EQ(times_.Later({.rung = 0, .trial = 1}, false, 0), 24 + 2 * 60);
  EXPECT_EQ(times_.Later({.rung = 0, .trial = 0}, false, 0), 0) << "it is the task itself";
  trials_[0].failure = "diverged";
  EXPECT_EQ(times_.Later({.rung = 0, .trial = 1}, false, 0), 0);
}

TEST_F(TrialTimesTest, TheRestOfALargerOneThatIsAmongTheBestFollows) {
  End(3, 0);
  EXPECT_EQ(times_.Later({.rung = 0, .trial = 2}, false, 0), 24) << "it has not begun";
  End(300, 0, 0.6);
  EXPECT_EQ(times_.Later({.rung = 0, .trial = 2}, false, 0), 24 + 2400);
  EXPECT_EQ(times_.Later({.rung = 0, .trial = 2}, false, 8000), 24) << "it will have to leave";
  EXPECT_EQ(times_.Later({.rung = 0, .trial = 2}, true, 0), 24 + 2400 + 2700) << "it may be the best";
}

TEST_F(TrialTimesTest, TheBestIsTrainedAgainOnAllEdges) {
  End(3 + 60, 60);
  trials_[1].expected_seconds = 0;
  EXPECT_EQ(times_.Later({.rung = 0, .trial = 1}, true, 0), 24 + 2 * 60 + 27 + 60);
  End(6 + 60, 60, 0.6);
  EXPECT_EQ(times_.Later({.rung = 0, .trial = 2}, true, 0), 24 + 2 * 60 + 54 + 60) << "the best takes 54";
}

}  // namespace
}  // namespace octavo
