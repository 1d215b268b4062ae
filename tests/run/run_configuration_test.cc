#include "run/run_configuration.h"

#include <cctype>
#include <string>

#include "base/random.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

class TomlConfiguration : public ::testing::Test {
 protected:
  absl::Status Load(const std::string& text) {
    WriteFileBytes(folder_ / "a.toml", text);
    return LoadTomlConfiguration(folder_ / "a.toml", options_);
  }

  TemporaryFolder folder_;
  TrainOptions options_;
};

TEST_F(TomlConfiguration, SetsEveryField) {
  std::string text = "# a comment\n";
  for (const OptionField& field : TrainOptionFields()) {
    const std::string value = field.format(TrainOptions());
    const bool word = std::isalpha(static_cast<unsigned char>(value[0])) != 0 && value != "true" && value != "false";
    const bool quoted = field.type == OptionField::Type::kText || word;
    text += fmt::format("{} = {}{}{}\n", field.name, quoted ? "\"" : "", value, quoted ? "\"" : "");
  }
  ASSERT_OK(Load(text));
  EXPECT_EQ(ConfigurationHash(options_), ConfigurationHash(TrainOptions()));
  ASSERT_OK(Load("dim = 20\nlearning-rate = 1\nmargin = 2.5\nnegatives = \"all\"\nreciprocal = true\nmodel = 'dot'\n"));
  EXPECT_EQ(options_.dim, 20U);
  EXPECT_EQ(options_.learning_rate, 1.0);
  EXPECT_EQ(options_.margin, 2.5);
  EXPECT_EQ(options_.negatives, 0U);
  EXPECT_TRUE(options_.reciprocal);
  EXPECT_EQ(options_.model, ModelKind::kDot);
  ASSERT_OK(
      Load("\xef\xbb\xbf"
           "dim = 0x10\r\nseed = 1_000\r\n"));
  EXPECT_EQ(options_.dim, 16U);
  EXPECT_EQ(options_.seed, 1000U);
  ASSERT_OK(Load(""));
}

TEST_F(TomlConfiguration, NamesFileLineKeyAndWhatIsAllowed) {
  const std::string file = (folder_ / "a.toml").string();
  const auto check = [&](const std::string& text, const std::string& message) {
    EXPECT_ERROR(Load(text), kUsage, message) << text;
    EXPECT_ERROR(Load(text), kUsage, file) << text;
  };
  check("dim = 8\nlearning_rate = 0.1\n", "a.toml:2: unknown key \"learning_rate\"; did you mean learning-rate?");
  check("epoch = 3\n", "a.toml:1: unknown key \"epoch\"; did you mean epochs?");
  check("graph = \"g\"\n", "unknown key \"graph\"");
  check("Dim = 3\n", "did you mean dim?");
  check("\"\" = 3\n", "unknown key \"\"");
  check("\"\\u001b[31m\" = 3\n", "unknown key \"\\x1B[31m\"");
  check("[train]\ndim = 3\n",
        "a.toml:1: found the table \"train\"; expected all keys at the top level, not in [train]");
  check("[[train]]\ndim = 3\n", "a.toml:1: found the table \"train\"; expected all keys at the top level");
  check("[dim]\nx = 3\n", "expected a whole number from 1 to 65536");
  check("\ndim = \"8\"\n", "a.toml:2: dim: found ");
  check("learning-rate = \"0.5\"\n", "a.toml:1: learning-rate: found '0.5'; expected a number");
  check("negatives = \"64\"\n", "a.toml:1: negatives: found '64'; expected ");
  check("dim = 8.0\n", "expected a whole number");
  check("dim = true\n", "expected a whole number");
  check("dim = [8]\n", "expected a whole number");
  check("dim = 1979-05-27\n", "found 1979-05-27; expected a whole number");
  check("dim = 0\n", "a.toml:1: dim: found \"0\"; expected a whole number from 1 to 65536");
  check("dim = -1\n", "found \"-1\"");
  check("reciprocal = 1\n", "expected true or false");
  check("reciprocal = \"true\"\n", "expected true or false");
  check("learning-rate = nan\n", "expected a number from 0 to 1000");
  check("learning-rate = inf\n", "expected a number from 0 to 1000");
  check("learning-rate = true\n", "expected a number");
  check("learning-rate = \"fast\"\n", "found \"fast\"");
  check("model = 3\n", "one of dot");
  check("model = \"TransX\"\n", "one of dot");
}

TEST_F(TomlConfiguration, SyntaxErrorsHaveTheirPlace) {
  EXPECT_ERROR(Load("dim = 8\nepochs 3\n"), kUsage, "a.toml:2:8: ");
  EXPECT_ERROR(Load("dim = 8\ndim = 9\n"), kUsage, "a.toml:2");
  EXPECT_ERROR(Load("dim = \n"), kUsage, "a.toml:1:");
  EXPECT_ERROR(Load("dim = 1e400\n"), kUsage, "a.toml:1");
  EXPECT_ERROR(Load("seed = 18446744073709551615\n"), kUsage, "a.toml:1");
  EXPECT_ERROR(Load("model = \"dot\n"), kUsage, "a.toml:1:");
  EXPECT_ERROR(Load(std::string("dim\0= 3", 7)), kUsage, "a.toml:1:");
  EXPECT_ERROR(Load("dim = \xff\xfe"), kUsage, "a.toml:1:");
  EXPECT_ERROR(Load(std::string(10'000, '[')), kUsage, "a.toml:1:");
  EXPECT_ERROR(Load("dim = " + std::string(10'000, '[')), kUsage, "a.toml:1:");
}

TEST_F(TomlConfiguration, GarbageIsAnErrorNotACrash) {
  RandomStream random(3, RandomPurpose::kSplit, 0, 0);
  for (int round = 0; round < 300; ++round) {
    std::string text = "dim = 8\nmodel = \"dot\"\nlearning-rate = 0.5\n";
    for (int i = 0; i < 4; ++i) text[random.Below(text.size())] = static_cast<char>(random.Below(256));
    const absl::Status status = Load(text);
    if (!status.ok()) {
      EXPECT_EQ(KindOf(status), ErrorKind::kUsage) << status.ToString();
    }
  }
}

TEST_F(TomlConfiguration, RefusesFilesThatAreNone) {
  EXPECT_ERROR(Load(std::string(2'000'000, '#')), kUsage, "a.toml");
  EXPECT_ERROR(LoadTomlConfiguration(folder_ / "absent.toml", options_), kUsage, "absent.toml");
  EXPECT_ERROR(LoadTomlConfiguration(folder_.path(), options_), kUsage, folder_.path().string());
}

// Each dot of a key took stack, and a key with 20,000 of them crashed the program. The largest file that is read has
// fewer.
TEST_F(TomlConfiguration, RefusesKeysOfManyDots) {
  const auto dots = [](std::size_t count) {
    std::string text;
    while (count-- > 0) text += ".a";
    return text;
  };
  EXPECT_ERROR(Load("dim" + dots(8'000) + " = 1\n"), kUsage, "a.toml:1: dim: found ");
  EXPECT_ERROR(Load("[a" + dots(8'000) + "]\n"), kUsage, "a.toml:1: found the table \"a\"");
  EXPECT_ERROR(Load("dim" + dots(400'000) + " = 1\n"), kUsage, "expected at most 16384");
}

class RunJson : public ::testing::Test {
 protected:
  RunJson() {
    configuration_.options.dim = 24;
    configuration_.options.learning_rate = 0.1 + 0.2;  // needs 17 digits
    configuration_.options.negatives = 0;
    configuration_.options.reciprocal = true;
    configuration_.options.seed = ~std::uint64_t{0};
    configuration_.options.epochs = 77;
    configuration_.graph = "/some where/a \"graph\" \xc3\xa4";
  }
  absl::StatusOr<RunConfiguration> Read(const nlohmann::json& json) {
    WriteFileBytes(path_, json.dump());
    return ReadRunConfiguration(path_);
  }
  nlohmann::json Written() {
    EXPECT_OK(WriteRunConfiguration(path_, configuration_));
    nlohmann::json json = nlohmann::json::parse(FileBytes(path_));
    EXPECT_EQ(json.erase("checksum"), 1U);
    return json;
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "run.json";
  RunConfiguration configuration_;
};

TEST_F(RunJson, ComesBackAsItWas) {
  ASSERT_OK(WriteRunConfiguration(path_, configuration_));
  ASSERT_OK_AND_ASSIGN(const RunConfiguration read, ReadRunConfiguration(path_));
  EXPECT_EQ(read.graph, configuration_.graph);
  for (const OptionField& field : TrainOptionFields()) {
    EXPECT_EQ(field.format(read.options), field.format(configuration_.options)) << field.name;
  }
  EXPECT_EQ(ConfigurationHash(read.options), ConfigurationHash(configuration_.options));
}

TEST_F(RunJson, HoldsNumbersAndSwitchesAsSuch) {
  const nlohmann::json options = Written()["options"];
  EXPECT_EQ(options.size(), TrainOptionFields().size());
  EXPECT_TRUE(options["dim"].is_number_integer());
  EXPECT_TRUE(options["learning-rate"].is_number());
  EXPECT_TRUE(options["reciprocal"].is_boolean());
  EXPECT_EQ(options["negatives"], "all");
  EXPECT_EQ(options["margin"], "auto");
  EXPECT_EQ(options["seed"], ~std::uint64_t{0});
}

TEST_F(RunJson, RefusesDamage) {
  const nlohmann::json whole = Written();
  const auto check = [&](auto change, const std::string& text) {
    nlohmann::json json = whole;
    change(json);
    EXPECT_ERROR(Read(json), kCorrupt, text);
    EXPECT_ERROR(Read(json), kCorrupt, "run.json");
  };
  check([](auto& j) { j.erase("graph"); }, "graph");
  check([](auto& j) { j.erase("options"); }, "options");
  check([](auto& j) { j.erase("format"); }, "format");
  check([](auto& j) { j["formats"] = 2; }, "unknown key \"formats\"");
  check([](auto& j) { j["format"] = 2; }, "format 2");
  check([](auto& j) { j["format"] = "1"; }, "format");
  check([](auto& j) { j["graph"] = 3; }, "graph");
  check([](auto& j) { j["options"] = nlohmann::json::array(); }, "options");
  check([](auto& j) { j["options"]["dimm"] = 3; }, "unknown option \"dimm\"");
  check([](auto& j) { j["options"]["dim"] = 0; }, "a whole number from 1 to 65536");
  check([](auto& j) { j["options"]["dim"] = -1; }, "dim");
  check([](auto& j) { j["options"]["dim"] = nullptr; }, "dim");
  check([](auto& j) { j["options"]["dim"] = nlohmann::json::object(); }, "dim");
  check([](auto& j) { j["options"]["model"] = true; }, "model");
  check([](auto& j) { j = nlohmann::json::array(); }, "run.json");
  // Silently replaced by its default, a missing entry would make it another training.
  for (const OptionField& field : TrainOptionFields()) {
    if (field.recent) continue;
    check([&](auto& j) { j["options"].erase(std::string(field.name)); }, std::string(field.name));
  }
}

TEST_F(RunJson, NoticesEveryChangedByte) {
  Written();
  const std::string text = FileBytes(path_);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    WriteFileBytes(path_, damaged);
    EXPECT_ERROR(ReadRunConfiguration(path_), kCorrupt, "run.json") << at;
  }
}

// A run of a program that lacked the option stays valid.
TEST_F(RunJson, OfAnOlderProgramIsReadWithTheDefaultOfARecentOption) {
  nlohmann::json json = Written();
  json["options"].erase("storage");
  ASSERT_OK_AND_ASSIGN(const RunConfiguration read, Read(json));
  EXPECT_EQ(read.options.storage, NpyElement::kFloat32);
  EXPECT_EQ(ConfigurationHash(read.options), ConfigurationHash(configuration_.options));
  configuration_.options.storage = NpyElement::kBfloat16;
  EXPECT_EQ(Written()["options"]["storage"], "bf16");
  EXPECT_NE(ConfigurationHash(read.options), ConfigurationHash(configuration_.options));
}

TEST_F(RunJson, RefusesEveryTruncation) {
  Written();
  const std::string whole = FileBytes(path_);
  for (std::size_t size = 0; size + 2 < whole.size(); ++size) {
    WriteFileBytes(path_, whole.substr(0, size));
    EXPECT_ERROR(ReadRunConfiguration(path_), kCorrupt, "run.json") << size;
  }
  WriteFileBytes(path_, std::string(3'000'000, ' ') + whole);
  EXPECT_FALSE(ReadRunConfiguration(path_).ok());
  WriteFileBytes(path_, std::string(500'000, '['));
  EXPECT_ERROR(ReadRunConfiguration(path_), kCorrupt, "run.json");
  std::filesystem::remove(path_);
  EXPECT_FALSE(ReadRunConfiguration(path_).ok());
}

// A learning rate of -0 was read back as 0: another configuration, and the run could not be resumed.
TEST_F(RunJson, HasNoNegativeZero) {
  ASSERT_OK(SetTrainOption(configuration_.options, *FindTrainOption("learning-rate"), "-0.0", "here"));
  ASSERT_OK(WriteRunConfiguration(path_, configuration_));
  ASSERT_OK_AND_ASSIGN(const RunConfiguration read, ReadRunConfiguration(path_));
  EXPECT_EQ(ConfigurationHash(read.options), ConfigurationHash(configuration_.options));
}

// The message quoted any value in full: control bytes, a megabyte of text, or nested arrays until the stack overflowed.
TEST_F(RunJson, MessagesAreShortAndPrintable) {
  const nlohmann::json whole = Written();
  nlohmann::json json = whole;
  json["format"] = "\x7f";
  EXPECT_ERROR(Read(json), kCorrupt, "format \\x7F;");
  json["format"] = std::string(100'000, 'x');
  EXPECT_LT(MessageOf(Read(json).status()).size(), 300U);
  const std::string nested = std::string(400'000, '[') + std::string(400'000, ']');
  std::string text = whole.dump();
  WriteFileBytes(path_, text.replace(text.find("\"format\":1"), 10, "\"format\":" + nested));
  EXPECT_ERROR(ReadRunConfiguration(path_), kCorrupt, "format an array");
  text = whole.dump();
  WriteFileBytes(path_, text.replace(text.find("\"dim\":24"), 8, "\"dim\":" + nested));
  EXPECT_ERROR(ReadRunConfiguration(path_), kCorrupt, "dim: \"an array\" where ");
}

// JSON is UTF-8: the folder's name would be read back as another one, and the run could not be resumed.
TEST_F(RunJson, RefusesAGraphFolderThatItCannotName) {
  configuration_.graph = "/some/\xff";
  EXPECT_ERROR(WriteRunConfiguration(path_, configuration_), kUsage, "/some/\\xFF");
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace octavo
