#include "tune/preset_file.h"

#include "gtest/gtest.h"
#include "run/run_configuration.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"
#include "tune/trial_draw.h"

namespace octavo {
namespace {

TEST(PresetText, IsReadByTrainAndGivesTheTrial) {
  const TemporaryFolder folder;
  WriteFileBytes(folder / "space.toml", R"(
model = ["complex", "distmult"]
reciprocal = true
negatives = ["all", 16]
learning-rate = { min = 1e-6, max = 1.0, log = true }
learning-rate-schedule = ["constant", "plateau"]
margin = "auto"
dropout = { min = 0, max = 0.9 }
)");
  ASSERT_OK_AND_ASSIGN(const SearchSpace space, LoadSearchSpace(folder / "space.toml"));
  TrainOptions base;
  base.epochs = 9;
  base.seed = 5;
  base.validate_every = 3;
  base.validation_sample = 100;
  ASSERT_OK_AND_ASSIGN(const auto trials, DrawTrials(space, base, 1, 40));
  int plateaus = 0;
  for (const TrialDraw& trial : trials) {
    WriteFileBytes(folder / "best.toml", PresetText(space, trial.options, "One line.\nTwo lines."));
    TrainOptions read;
    ASSERT_OK(LoadTomlConfiguration(folder / "best.toml", read));
    TrainOptions expected = trial.options;
    if (trial.options.learning_rate_schedule == LearningRateSchedule::kPlateau) {
      ++plateaus;
    } else {
      expected.validate_every = expected.validation_sample = 0;
    }
    for (const OptionField& field : TrainOptionFields()) {
      EXPECT_EQ(field.format(read), field.format(expected)) << field.name;
    }
  }
  EXPECT_TRUE(0 < plateaus && plateaus < 40);
}

TEST(PresetText, SaysOnlyWhatTheSpaceSays) {
  const TemporaryFolder folder;
  WriteFileBytes(folder / "space.toml", "dim = [8, 16]\nmodel = \"dot\"\ndurability = \"process\"\n");
  ASSERT_OK_AND_ASSIGN(const SearchSpace space, LoadSearchSpace(folder / "space.toml"));
  TrainOptions options;
  options.model = ModelKind::kDot;
  options.dim = 16;
  EXPECT_EQ(PresetText(space, options, "The best.\nOf two."),
            "# The best.\n# Of two.\nmodel = \"dot\"\ndim = 16\nepochs = 10\nseed = 1\n");
}

}  // namespace
}  // namespace octavo
