#include "run/options.h"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

using Type = OptionField::Type;

bool Accepts(const OptionField& field, std::string_view text) {
  TrainOptions options;
  const bool accepted = field.parse(options, text);
  // A refused value changes nothing.
  if (!accepted) {
    EXPECT_EQ(ConfigurationHash(options), ConfigurationHash(TrainOptions())) << field.name << " " << text;
  }
  return accepted;
}

// A value other than the default for each field.
std::string OtherValue(const OptionField& field) {
  const std::string standard = field.format(TrainOptions());
  std::vector<std::string> candidates = {"true", "2", "0.5"};
  // The names follow "one of ".
  std::string name;
  for (const char c : field.allowed + ",") {
    if (c == ',' || c == ' ') {
      candidates.push_back(std::exchange(name, ""));
    } else {
      name += c;
    }
  }
  for (const std::string& text : candidates) {
    if (text != standard && Accepts(field, text)) return text;
  }
  return standard;
}

TEST(TrainOptionFields, NamesAreUniqueAndDescribed) {
  std::set<std::string_view> names;
  for (const OptionField& field : TrainOptionFields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_FALSE(field.help.empty()) << field.name;
    EXPECT_FALSE(field.allowed.empty()) << field.name;
    EXPECT_EQ(FindTrainOption(field.name), &field);
  }
  EXPECT_EQ(FindTrainOption("epoch"), nullptr);
  EXPECT_EQ(FindTrainOption(""), nullptr);
}

TEST(TrainOptionFields, ReadBackWhatTheyWrite) {
  for (const OptionField& field : TrainOptionFields()) {
    TrainOptions options;
    ASSERT_TRUE(field.parse(options, field.format(TrainOptions()))) << field.name;
    EXPECT_EQ(field.format(options), field.format(TrainOptions())) << field.name;
    EXPECT_EQ(ConfigurationHash(options), ConfigurationHash(TrainOptions())) << field.name;
    const std::string other = OtherValue(field);
    ASSERT_NE(other, field.format(TrainOptions())) << field.name;
    ASSERT_TRUE(field.parse(options, other)) << field.name;
    EXPECT_EQ(field.format(options), other) << field.name;
  }
}

TEST(TrainOptionFields, RefuseWhatIsNoValue) {
  for (const OptionField& field : TrainOptionFields()) {
    for (const std::string_view text :
         {"", " ", "1 ", " 1", "nan", "NaN", "inf", "-inf", "-1", "1e400", "0x10", "1,5", "one", "TRUE", "true ",
          "99999999999999999999999999", "-99999999999999999999999999", "18446744073709551616", "1\n"}) {
      EXPECT_FALSE(Accepts(field, text)) << field.name << " took \"" << text << '"';
    }
    EXPECT_FALSE(Accepts(field, std::string_view("1\0", 2))) << field.name;
    if (field.type == Type::kWholeNumber || field.type == Type::kWholeNumberOrText) {
      EXPECT_FALSE(Accepts(field, "1.5")) << field.name;
      EXPECT_FALSE(Accepts(field, "1e3")) << field.name;
    }
  }
}

struct Limits {
  std::string_view name;
  std::string_view least;
  std::string_view below;
  std::string_view most;
  std::string_view above;
};

TEST(TrainOptionFields, KeepTheirLimits) {
  for (const Limits& limits : std::vector<Limits>{
           {"dim", "1", "0", "65536", "65537"},
           {"negatives", "1", "0", "16777216", "16777217"},
           {"batch", "1", "0", "16777216", "16777217"},
           {"chunk", "1", "0", "1048576", "1048577"},
           {"accumulate", "1", "0", "1048576", "1048577"},
           {"epochs", "1", "0", "1000000", "1000001"},
           {"seed", "0", "-1", "18446744073709551615", "18446744073709551616"},
           {"learning-rate", "0", "-1e-300", "1000", "1000.0000001"},
           {"relation-rate-factor", "0", "-1e-300", "1000", "1000.0000001"},
           {"degree-fraction", "0", "-0.1", "1", "1.0000001"},
           {"typed-fraction", "0", "-0.1", "1", "1.0000001"},
           {"sampling-correction", "0", "-0.1", "1", "1.0000001"},
           {"answer-weighting", "0", "-0.1", "1", "1.0000001"},
           {"regularization", "0", "-1e-9", "1000000", "1000000.1"},
           {"margin", "0", "-1", "1000", "1001"},
           {"initial-scale", "0", "-1", "1000", "1001"},
           {"adversarial-temperature", "0", "-1", "1000", "1001"},
           {"checkpoint-minutes", "0", "-1", "1000000", "1000001"},
       }) {
    const OptionField* field = FindTrainOption(limits.name);
    ASSERT_NE(field, nullptr) << limits.name;
    EXPECT_TRUE(Accepts(*field, limits.least)) << limits.name;
    EXPECT_FALSE(Accepts(*field, limits.below)) << limits.name;
    EXPECT_TRUE(Accepts(*field, limits.most)) << limits.name;
    EXPECT_FALSE(Accepts(*field, limits.above)) << limits.name;
  }
}

TEST(SetTrainOption, NamesKeyValueAndWhatIsAllowed) {
  TrainOptions options;
  EXPECT_ERROR(SetTrainOption(options, *FindTrainOption("dim"), "0", "--dim"), kUsage,
               "--dim: found \"0\"; expected a whole number from 1 to 65536");
  EXPECT_ERROR(SetTrainOption(options, *FindTrainOption("learning-rate"), "nan", "a.toml:3: learning-rate"), kUsage,
               "a.toml:3: learning-rate: found \"nan\"; expected a number from 0 to 1000");
  EXPECT_ERROR(SetTrainOption(options, *FindTrainOption("model"), "trance", "--model"), kUsage,
               "one of dot, distmult, complex, transe, rotate, source-context, rescal");
  EXPECT_ERROR(SetTrainOption(options, *FindTrainOption("negatives"), "-1", "--negatives"), kUsage,
               "a whole number from 1 to 16777216, or all");
  EXPECT_ERROR(SetTrainOption(options, *FindTrainOption("margin"), "-1", "--margin"), kUsage, "or auto");
  EXPECT_ERROR(SetTrainOption(options, *FindTrainOption("seed"), "\x1b[31m\n", "--seed"), kUsage,
               "found \"\\x1B[31m\\n\"");
}

TEST(ConfigurationHash, ChangesWithIdentityFieldsOnly) {
  std::set<std::uint64_t> hashes = {ConfigurationHash(TrainOptions())};
  for (const OptionField& field : TrainOptionFields()) {
    TrainOptions options;
    ASSERT_TRUE(field.parse(options, OtherValue(field)));
    EXPECT_EQ(hashes.insert(ConfigurationHash(options)).second, field.identity) << field.name;
  }
  for (const std::string_view name : {"epochs", "prefetch", "exchange", "checkpoint-minutes", "durability"}) {
    EXPECT_FALSE(FindTrainOption(name)->identity) << name;
  }
}

// Stored in STATE: the hash of an old run must stay valid, also in a program with more options.
TEST(ConfigurationHash, OfTheDefaultsStaysWhatItIs) {
  EXPECT_EQ(ConfigurationHash(TrainOptions()), 0xC7E13088288C5343U);
  EXPECT_TRUE(FindTrainOption("storage")->recent);
  EXPECT_TRUE(FindTrainOption("precision")->recent);
  EXPECT_TRUE(FindTrainOption("degree-by-weight")->recent);
  EXPECT_TRUE(FindTrainOption("exchange")->recent);
  TrainOptions options;
  options.seed = 2;
  EXPECT_NE(ConfigurationHash(options), ConfigurationHash(TrainOptions()));
}

TEST(TrainOptions, MarginDependsOnTheLoss) {
  TrainOptions options;
  options.loss = LossKind::kRanking;
  EXPECT_EQ(options.loss_spec(100).margin, 1.0F);
  options.loss = LossKind::kSelfAdversarial;
  EXPECT_EQ(options.loss_spec(100).margin, 9.0F);
  options.loss = LossKind::kLogistic;
  EXPECT_EQ(options.loss_spec(100).margin, 0.0F);
  options.margin = 2.5;
  EXPECT_EQ(options.loss_spec(100).margin, 2.5F);
}

TEST(TrainOptions, ADrawnNegativeCountsForSeveralNodes) {
  TrainOptions options;
  options.negatives = 100;
  EXPECT_EQ(options.loss_spec(1'000'000).log_negative_count, 0);
  options.sampling_correction = 1;
  EXPECT_NEAR(options.loss_spec(1'000'000).log_negative_count, std::log(10'000), 1e-12);
  options.sampling_correction = 0.5;
  EXPECT_NEAR(options.loss_spec(1'000'000).log_negative_count, std::log(100), 1e-12);
  EXPECT_EQ(options.loss_spec(99).log_negative_count, 0) << "nodes are drawn several times";
  options.negatives = 0;  // all
  EXPECT_EQ(options.loss_spec(1'000'000).log_negative_count, 0);
}

}  // namespace
}  // namespace octavo
