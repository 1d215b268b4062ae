#include "tune/trial_draw.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/number.h"
#include "gtest/gtest.h"
#include "run/option_rules.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

class DrawTrialsTest : public ::testing::Test {
 protected:
  SearchSpace Space(const std::string& text) {
    WriteFileBytes(folder_ / "a.toml", text);
    auto space = LoadSearchSpace(folder_ / "a.toml");
    EXPECT_OK(space);
    return space.ok() ? *std::move(space) : SearchSpace();
  }
  // The values that `count` searches with one trial each draw for the only key of the space.
  std::vector<std::string> Values(const std::string& text, std::uint64_t count) {
    const SearchSpace space = Space(text);
    TrainOptions base;
    base.chunk = 1;
    std::vector<std::string> values;
    for (std::uint64_t seed = 0; seed < count; ++seed) {
      const auto trials = DrawTrials(space, base, seed, 1);
      EXPECT_OK(trials);
      values.push_back((*trials)[0].values[0]);
    }
    return values;
  }
  std::vector<double> Numbers(const std::string& text, std::uint64_t count) {
    std::vector<double> numbers;
    for (const std::string& value : Values(text, count)) numbers.push_back(ParseRealNumber(value).value());
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

  TemporaryFolder folder_;
};

// The largest distance between the drawn and the expected distribution function (Kolmogorov and Smirnov). With 2,000
// numbers it exceeds 0.044 once in a thousand times; the seeds are fixed.
template <typename Cdf>
double Distance(const std::vector<double>& sorted, const Cdf& cdf) {
  double distance = 0;
  const auto n = static_cast<double>(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double expected = cdf(sorted[i]);
    distance = std::max({distance, std::abs(static_cast<double>(i) / n - expected),
                         std::abs(static_cast<double>(i + 1) / n - expected)});
  }
  return distance;
}
constexpr std::uint64_t kDraws = 2000;
constexpr double kFar = 0.044 + 0.001;  // for the digits that are cut off

TEST_F(DrawTrialsTest, RealNumbersAreUniform) {
  const auto numbers = Numbers("learning-rate = { min = 0.2, max = 0.7 }\n", kDraws);
  EXPECT_LT(Distance(numbers, [](double x) { return (x - 0.2) / 0.5; }), kFar);
  EXPECT_GE(numbers.front(), 0.2);
  EXPECT_LE(numbers.back(), 0.7);
}

TEST_F(DrawTrialsTest, RealNumbersAreUniformInTheirLogarithm) {
  const auto numbers = Numbers("learning-rate = { min = 0.001, max = 1, log = true }\n", kDraws);
  EXPECT_LT(Distance(numbers, [](double x) { return std::log10(x) / 3 + 1; }), kFar);
  EXPECT_GE(numbers.front(), 0.001);
  EXPECT_LE(numbers.back(), 1.0);
}

TEST_F(DrawTrialsTest, RealNumbersHaveThreeDigits) {
  for (const std::string& value : Values("learning-rate = { min = 0.001, max = 1, log = true }\n", 100)) {
    EXPECT_LE(value.size(), std::string("0.00123").size()) << value;
  }
  for (const std::string& value : Values("learning-rate = { min = 100, max = 101 }\n", 100)) {
    EXPECT_LE(value.size(), std::string("100.123").size()) << value;
  }
  for (const std::string& value : Values("learning-rate = { min = 0.123456, max = 0.123457 }\n", 20)) {
    const double number = ParseRealNumber(value).value();
    EXPECT_TRUE(0.123456 <= number && number <= 0.123457) << value;
  }
}

TEST_F(DrawTrialsTest, WholeNumbersAreEquallyOften) {
  std::map<std::string, int> counts;
  for (const std::string& value : Values("batch = { min = 300, max = 1000, step = 100 }\n", kDraws)) ++counts[value];
  EXPECT_EQ(counts.size(), 8U);
  // Standard deviation 15.
  for (const auto& [value, count] : counts) EXPECT_NEAR(count, 250, 60) << value;
  EXPECT_TRUE(counts.contains("300") && counts.contains("1000"));
}

TEST_F(DrawTrialsTest, WholeNumbersGoByTheirLogarithm) {
  std::map<std::string, int> counts;
  for (const std::string& value : Values("batch = { min = 1, max = 4, log = true }\n", kDraws)) ++counts[value];
  ASSERT_EQ(counts.size(), 4U);
  for (const int n : {1, 2, 3, 4}) {
    const double expected = kDraws * std::log((n + 1.0) / n) / std::log(5.0);
    EXPECT_NEAR(counts[std::to_string(n)], expected, 4 * std::sqrt(expected)) << n;
  }
  for (const std::string& value : Values("dim = { min = 64, max = 512, step = 64, log = true }\n", 200)) {
    EXPECT_EQ(ParseWholeNumber(value).value() % 64, 0U);
  }
}

TEST_F(DrawTrialsTest, ChoicesAreEquallyOften) {
  std::map<std::string, int> counts;
  for (const std::string& value : Values("optimizer = [\"adagrad\", \"adam\", \"sgd\"]\n", kDraws)) ++counts[value];
  ASSERT_EQ(counts.size(), 3U);
  for (const auto& [value, count] : counts) EXPECT_NEAR(count, kDraws / 3.0, 85) << value;  // deviation 21
}

TEST_F(DrawTrialsTest, ATrialIsAFunctionOfSeedNumberAndKey) {
  const std::string rate = "learning-rate = { min = 0.001, max = 1, log = true }\n";
  ASSERT_OK_AND_ASSIGN(const auto few, DrawTrials(Space(rate), TrainOptions(), 7, 4));
  ASSERT_OK_AND_ASSIGN(const auto many,
                       DrawTrials(Space("dim = { min = 2, max = 2000, step = 2 }\n" + rate), TrainOptions(), 7, 9));
  ASSERT_EQ(few.size(), 4U);
  ASSERT_EQ(many.size(), 9U);
  // More trials or another key do not change what is drawn for this one.
  for (std::size_t t = 0; t < few.size(); ++t) EXPECT_EQ(few[t].values[0], many[t].values[1]);
  ASSERT_OK_AND_ASSIGN(const auto other, DrawTrials(Space(rate), TrainOptions(), 8, 4));
  EXPECT_FALSE(few == other);
  for (std::size_t t = 1; t < few.size(); ++t) EXPECT_NE(few[t].values, few[0].values);
}

TEST_F(DrawTrialsTest, SetsTheOptionsOverTheBase) {
  TrainOptions base;
  base.epochs = 77;
  base.dim = 6;
  ASSERT_OK_AND_ASSIGN(const auto trials,
                       DrawTrials(Space("model = \"dot\"\nbatch = { min = 300, max = 400 }\n"), base, 1, 3));
  for (const TrialDraw& trial : trials) {
    EXPECT_EQ(trial.options.epochs, 77U);
    EXPECT_EQ(trial.options.dim, 6U);
    EXPECT_EQ(trial.options.model, ModelKind::kDot);
    EXPECT_EQ(std::to_string(trial.options.batch), trial.values[1]);
  }
}

TEST_F(DrawTrialsTest, WhatDoesNotFitIsDrawnAnew) {
  const SearchSpace space = Space(
      "batch = [64, 256]\nchunk = [64, 128]\nregularizer = [\"none\", \"n3\"]\n"
      "regularization = [0, 0.1]\nreciprocal = [true, false]\nmodel = [\"dot\", \"complex\"]\n");
  ASSERT_OK_AND_ASSIGN(const auto trials, DrawTrials(space, TrainOptions(), 1, 100));
  for (const TrialDraw& trial : trials) {
    EXPECT_OK(ValidateTrainOptions(trial.options));
    EXPECT_FALSE(trial.options.reciprocal && trial.options.model == ModelKind::kDot);
  }
  // Three for batch and chunk, two for the regularizer, three for the model: all of them, each once.
  EXPECT_EQ(trials.size(), 18U);
  for (std::size_t a = 0; a < trials.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) EXPECT_FALSE(trials[a] == trials[b]);
  }
}

TEST_F(DrawTrialsTest, ASpaceWhereNothingFitsIsRefusedWithTheReason) {
  EXPECT_ERROR(DrawTrials(Space("batch = [8, 16]\nchunk = 32\n"), TrainOptions(), 1, 4), kUsage,
               "a.toml: none of 1000 points of the space can be trained; the last one: chunk is 32 and batch");
}

}  // namespace
}  // namespace octavo
