#include "run/verify_run.h"

#include <filesystem>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "run/run_configuration.h"
#include "tests/support/damage.h"
#include "tests/train/tiny_training.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

class VerifyRunTest : public ::testing::Test {
 protected:
  void SetUp() override { training_.Train(TinyOptions()); }

  std::uint64_t Damages() {
    report_ = std::make_unique<CheckReport>();
    const absl::StatusOr<CheckedCommit> commit = VerifyRun(training_.run_folder(), {}, *report_);
    EXPECT_OK(commit);
    texts_.clear();
    for (const Finding& finding : report_->findings()) texts_ += DescribeFinding(finding) + "\n";
    for (const std::string& note : report_->notes()) texts_ += "note: " + note + "\n";
    return report_->damage_count();
  }
  bool Says(const std::string& text) const { return texts_.find(text) != std::string::npos; }
  RunPaths paths() const { return RunPaths(training_.run_folder()); }

  const TinyTraining training_;
  std::unique_ptr<CheckReport> report_;
  std::string texts_;
};

TEST_F(VerifyRunTest, AWholeRunIsWhole) {
  EXPECT_EQ(Damages(), 0U) << texts_;
  EXPECT_EQ(report_->files().size(), 7U);
  EXPECT_TRUE(report_->notes().empty());
}

// May change: bytes of run.json that leave its object the same except for the keys outside its hash (epochs, durability
// and similar, the graph's path); bytes of metrics.jsonl that leave each line a JSON object, and everything after the
// last commit there; LOCK, which is text for people.
TEST_F(VerifyRunTest, EveryDamageOfTheSmallFilesIsFoundAndNamed) {
  const std::uint64_t hash = ConfigurationHash(ReadRunConfiguration(paths().Configuration())->options);
  ForEachDamage(paths().Configuration(), 0, 400, [&](const std::string& what, const std::string&) {
    const std::uint64_t damages = Damages();
    const absl::StatusOr<RunConfiguration> read = ReadRunConfiguration(paths().Configuration());
    if (read.ok() && ConfigurationHash(read->options) == hash && read->options.epochs >= 2) {
      EXPECT_EQ(damages, 0U) << what << "\n" << texts_;
    } else {
      EXPECT_GT(damages, 0U) << what;
      EXPECT_TRUE(Says("run.json: ")) << what << "\n" << texts_;
    }
  });
  const std::uint64_t committed = fs::file_size(paths().Metrics());
  ForEachDamage(paths().Metrics(), 0, 400, [&](const std::string& what, const std::string& bytes) {
    bool objects = bytes.size() >= committed && bytes[committed - 1] == '\n';
    for (std::size_t at = 0; objects && at < committed; at = bytes.find('\n', at) + 1) {
      objects = nlohmann::json::parse(bytes.substr(at, bytes.find('\n', at) - at), nullptr, false).is_object();
    }
    EXPECT_EQ(Damages() > 0, !objects) << what << "\n" << texts_;
    EXPECT_TRUE(objects || Says("metrics.jsonl: ")) << what << "\n" << texts_;
  });
  EXPECT_EQ(Damages(), 0U) << texts_;
}

TEST_F(VerifyRunTest, EventsAfterTheCommitAreNoDamage) {
  WriteFileBytes(paths().Metrics(), FileBytes(paths().Metrics()) + "{\"event\": \"epo");
  EXPECT_EQ(Damages(), 0U) << texts_;
}

TEST_F(VerifyRunTest, MissingFilesAreDamage) {
  for (const fs::path& path : {paths().Configuration(), paths().State(), paths().Metrics(),
                               paths().Table(TableName::kEmbeddings, 0), paths().Table(TableName::kRelations, 0)}) {
    const std::string whole = FileBytes(path);
    fs::remove(path);
    EXPECT_EQ(Damages(), 1U) << texts_;
    EXPECT_TRUE(Says(path.string() + ": no such file")) << texts_;
    WriteFileBytes(path, whole);
  }
}

TEST_F(VerifyRunTest, AnotherConfigurationIsDamage) {
  nlohmann::json json = nlohmann::json::parse(FileBytes(paths().Configuration()));
  json.erase("checksum");  // with one, a text that was changed is damaged
  json["options"]["seed"] = 99;
  WriteFileBytes(paths().Configuration(), json.dump());
  EXPECT_EQ(Damages(), 1U) << texts_;
  EXPECT_TRUE(Says("run.json: a configuration with hash ")) << texts_;
  json["options"]["seed"] = TinyOptions().seed;
  json["options"]["storage"] = "bf16";
  WriteFileBytes(paths().Configuration(), json.dump());
  EXPECT_EQ(Damages(), 1U) << texts_;
  EXPECT_TRUE(Says("run.json: a configuration with hash ")) << texts_;
  json["options"].erase("storage");
  json["options"]["epochs"] = 1;
  WriteFileBytes(paths().Configuration(), json.dump());
  EXPECT_EQ(Damages(), 1U) << texts_;
  EXPECT_TRUE(Says("1 epoch; expected at least the 2 that were begun")) << texts_;
}

TEST_F(VerifyRunTest, AGraphThatIsGoneIsSaidAndAnotherOneIsDamage) {
  fs::rename(training_.graph_folder(), training_.folder() / "moved");
  EXPECT_EQ(Damages(), 0U) << texts_;
  EXPECT_TRUE(Says("was not compared with its graph")) << texts_;
  MakeTinyGraph({.seed = 8}, training_.graph_folder());
  EXPECT_EQ(Damages(), 1U) << texts_;
  EXPECT_TRUE(Says("fingerprint")) << texts_;
}

// A run that a training commits is intact from its first commit on, and checking changes no byte of it.
TEST(VerifyRun, BesideATraining) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  options.epochs = 4;
  int checks = 0;
  const auto check = [&] {
    const std::string state = FileBytes(RunPaths(training.run_folder()).State());
    CheckReport report;
    ASSERT_OK_AND_ASSIGN(const CheckedCommit commit, VerifyRun(training.run_folder(), {}, report));
    EXPECT_EQ(report.damage_count(), 0U) << DescribeFinding(report.findings()[0]);
    EXPECT_EQ(FileBytes(RunPaths(training.run_folder()).State()), state);
    ++checks;
  };
  ASSERT_OK(training.Start(
      options, "run", {.memory = kPlenty},
      {.on_batch = [&](const TrainProgress&) { check(); }, .on_epoch = [&](const EpochEvent&) { check(); }}));
  EXPECT_GE(checks, 8);
  check();
}

}  // namespace
}  // namespace octavo
