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
  const std::string text = PresetText(space, options, "The best.\nOf two.");
  const std::string options_text = "# The best.\n# Of two.\nmodel = \"dot\"\ndim = 16\nepochs = 10\nseed = 1\n";
  EXPECT_EQ(text.substr(0, options_text.size()), options_text);
  EXPECT_TRUE(text.substr(options_text.size()).starts_with("# checksum "));
}

// A changed preset was taken for what the search had found.
TEST(CheckPreset, EveryFlippedBitIsNoticed) {
  const TemporaryFolder folder;
  WriteFileBytes(folder / "space.toml", "dim = [8, 16]\n");
  ASSERT_OK_AND_ASSIGN(const SearchSpace space, LoadSearchSpace(folder / "space.toml"));
  const std::string whole = PresetText(space, TrainOptions(), "The best.");
  for (const bool sealed : {false, true}) {
    WriteFileBytes(folder / "best.toml", whole);
    EXPECT_OK(CheckPreset(folder / "best.toml", sealed));
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::string damaged = whole;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      WriteFileBytes(folder / "best.toml", damaged);
      EXPECT_FALSE(CheckPreset(folder / "best.toml", sealed).ok()) << damaged;
    }
  }
  const std::string older = whole.substr(0, whole.rfind("# checksum"));
  WriteFileBytes(folder / "best.toml", older);
  EXPECT_OK(CheckPreset(folder / "best.toml", /*sealed=*/false));
  EXPECT_ERROR(CheckPreset(folder / "best.toml", /*sealed=*/true), kCorrupt, "expected \"# checksum ");
}

}  // namespace
}  // namespace octavo
