#include "tune/search_space.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

class SearchSpaceTest : public ::testing::Test {
 protected:
  absl::StatusOr<SearchSpace> Load(const std::string& text) {
    WriteFileBytes(folder_ / "a.toml", text);
    return LoadSearchSpace(folder_ / "a.toml");
  }
  // "name: values" of each option.
  std::vector<std::string> Described(const std::string& text) {
    const auto space = Load(text);
    EXPECT_OK(space);
    std::vector<std::string> lines;
    if (!space.ok()) return lines;
    for (const SpaceOption& option : space->options) {
      lines.push_back(std::string(option.field->name) + ": " + Describe(option));
    }
    return lines;
  }

  TemporaryFolder folder_;
};

TEST_F(SearchSpaceTest, ReadsValuesChoicesAndRanges) {
  EXPECT_EQ(
      Described(R"(# a comment
regularizer = ["n3", "none"]
learning-rate = { min = 0.01, max = 1, log = true }
dim = 200
batch = { min = 100, max = 1050, step = 100 }
negatives = ["all", 512]
reciprocal = [true, false]
dropout = { min = 0.0, max = 0.5 }
chunk = { min = 16, max = 256, log = true }
margin = ["auto", 3]
seed = [1, 2]
)"),
      (std::vector<std::string>{"dim: 200", "reciprocal: [true, false]", "margin: [auto, 3]", "negatives: [all, 512]",
                                "dropout: 0 to 0.5", "regularizer: [n3, none]", "learning-rate: 0.01 to 1, log",
                                "batch: 100 to 1000 by 100", "chunk: 16 to 256, log", "seed: [1, 2]"}));
}

TEST_F(SearchSpaceTest, KnowsWhatVaries) {
  const auto space = Load(
      "dim = { min = 8, max = 8 }\nbatch = [64]\nchunk = [16, 32]\nmodel = \"dot\"\n"
      "learning-rate = { min = 1, max = 1.0 }\nnegatives = { min = 8, max = 15, step = 8 }\n");
  ASSERT_OK(space);
  for (const SpaceOption& option : space->options) {
    EXPECT_EQ(option.Varies(), option.field->name == "chunk") << option.field->name;
  }
}

TEST_F(SearchSpaceTest, SaysTheSameHoweverItIsWritten) {
  const std::vector<std::string> described = Described("dim = [8, 16]\nlearning-rate = { min = 0.10, max = 1.0 }\n");
  EXPECT_EQ(described, Described("learning-rate.max = 1\nlearning-rate.min = 1e-1\ndim = [0x8, 16] # two\n"));
  EXPECT_EQ(described, Described("dim = [8,\n16]\n[learning-rate]\nlog = false\nmax = 1\nmin = 0.1\n"));
  EXPECT_NE(described, Described("dim = [16, 8]\nlearning-rate = { min = 0.10, max = 1.0 }\n"));
}

TEST_F(SearchSpaceTest, NamesFileLineKeyWhatWasFoundAndWhatIsExpected) {
  const std::string file = (folder_ / "a.toml").string();
  const auto check = [&](const std::string& text, const std::string& message) {
    EXPECT_ERROR(Load(text), kUsage, message) << text;
    EXPECT_ERROR(Load(text), kUsage, file) << text;
  };
  check("dim = [8, 16]\nlearning_rate = 0.1\n", "a.toml:2: unknown key \"learning_rate\"; did you mean learning-rate?");
  check("dim = [8,\n 0]\n", "a.toml:2: dim: found \"0\"; expected a whole number from 1 to 65536");
  check("dim = [8, \"16\"]\n", "a.toml:1: dim: found ");
  check("dim = [8, [16]]\n", "expected a whole number from 1 to 65536");
  check("dim = []\n", "a.toml:1: dim: found []; expected at least one value");
  check("dim = [8, 16, 0x8]\n", "a.toml:1: dim: found 8 twice; expected each value once");
  check("dim = 0\n", "found \"0\"; expected a whole number from 1 to 65536");
  check("dim = true\n", "expected a whole number");
  check("\ndim = { min = 9, max = 8 }\n", "a.toml:2: dim: found min 9 above max 8; expected min no larger than max");
  check("learning-rate = { min = 1, max = 0.1 }\n", "found min 1 above max 0.1; expected min no larger than max");
  check("learning-rate = { min = 0, max = 0.1, log = true }\n", "found log with min 0; expected min above 0");
  check("seed = { min = 0, max = 9, log = true }\n", "found log with min 0; expected min above 0");
  check("learning-rate = { min = 0.1 }\n", "found a range without max; expected min and max");
  check("learning-rate = { max = 0.1 }\n", "found a range without min; expected min and max");
  check("learning-rate = {}\n", "found a range without min");
  check("learning-rate = { min = 0.1, max = 2000 }\n",
        "a.toml:1: learning-rate: max: found \"2000\"; expected a number from 0 to 1000");
  check("[learning-rate]\nmin = 0.1\nmax = nan\n", "a.toml:3: learning-rate: max: found \"nan\"");
  check("dim = { min = 8.0, max = 16 }\n", "min: found 8.0; expected a whole number");
  check("dim = { min = 8, max = 16, steps = 8 }\n", "found \"steps\" in a range; expected min, max and log, or step");
  check("dim = { min = 8, max = 16, step = 0 }\n", "step: found 0; expected a whole number from 1");
  check("dim = { min = 8, max = 16, step = -1 }\n", "step: found -1");
  check("dim = { min = 8, max = 16, log = 1 }\n", "log: found 1; expected true or false");
  check("learning-rate = { min = 0, max = 1, step = 1 }\n", "found \"step\" in a range; expected min, max and log");
  check("model = { min = 1, max = 2 }\n", "model: found a range; expected one of dot");
  check("reciprocal = { min = 1, max = 2 }\n", "found a range; expected true or false");
  check("negatives = { min = \"all\", max = 16 }\n", "found \"all\" as an end of a range; expected numbers");
  check("margin = { min = 1, max = \"auto\" }\n", "found \"auto\" as an end of a range; expected numbers");
  check("epochs = [10, 20]\n", "epochs: found in a search space; expected the flags --epochs-least and --epochs");
  check("validation-sample = 5\n", "expected the flag --validation-sample");
  check("patience = 5\n", "patience: found in a search space");
  check("keep = \"best\"\n", "keep: found in a search space");
  check("validate-every = [1, 2]\n", "validate-every: found [1, 2]; expected one value");
  check("", "nothing varies; expected an array or a range of values for one key or more");
  check("dim = 8\nbatch = [64]\n", "nothing varies");
  check("dim 8\n", "a.toml:1:");
  check(std::string(20'000, '.'), "a.toml");
  EXPECT_ERROR(LoadSearchSpace(folder_ / "absent.toml"), kUsage, "absent.toml");
}

}  // namespace
}  // namespace octavo
