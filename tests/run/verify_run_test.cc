#include "run/verify_run.h"

#include <filesystem>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "run/run_configuration.h"
#include "tables/mmap_gradient_accumulator.h"
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

// May change: everything after the last commit in metrics.jsonl; LOCK, which is text for people.
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
  const std::string events = FileBytes(paths().Metrics());
  ForEachDamage(paths().Metrics(), 0, 400, [&](const std::string& what, const std::string& bytes) {
    const bool same = bytes.starts_with(events);
    EXPECT_EQ(Damages() > 0, !same) << what << "\n" << texts_;
    EXPECT_TRUE(same || Says("metrics.jsonl: ")) << what << "\n" << texts_;
  });
  EXPECT_EQ(Damages(), 0U) << texts_;
}

TEST_F(VerifyRunTest, EventsAfterTheCommitAreNoDamage) {
  WriteFileBytes(paths().Metrics(), FileBytes(paths().Metrics()) + "{\"event\": \"epo");
  EXPECT_EQ(Damages(), 0U) << texts_;
}

// Lines were checked one by one, and only for being JSON.
TEST_F(VerifyRunTest, AnEventThatWasMovedOrChangedByHandIsDamage) {
  const std::string events = FileBytes(paths().Metrics());
  const std::size_t second = events.find('\n') + 1;
  WriteFileBytes(paths().Metrics(), events.substr(second) + events.substr(0, second));
  EXPECT_EQ(Damages(), 2U) << texts_;
  EXPECT_TRUE(Says("metrics.jsonl: line 1: checksum ")) << texts_;
  std::string changed = events;
  changed[changed.find("\"loss\":") + 9] ^= 1;
  WriteFileBytes(paths().Metrics(), changed);
  EXPECT_EQ(Damages(), 1U) << texts_;
  // Events of older versions have no checksums.
  std::string older;
  for (std::size_t at = 0; at < events.size(); at = events.find('\n', at) + 1) {
    const std::string line = events.substr(at, events.find('\n', at) - at);
    older += line.substr(0, line.rfind(",\"checksum\"")) + "}" +
             std::string(line.size() - line.rfind(",\"checksum\"") - 1, ' ') + "\n";
  }
  ASSERT_EQ(older.size(), events.size());
  WriteFileBytes(paths().Metrics(), older);
  EXPECT_EQ(Damages(), 0U) << texts_;
}

TEST_F(VerifyRunTest, ADamagedHeaderOfGradientsIsDamage) {
  ASSERT_OK(MmapGradientAccumulator::Create(paths().Gradients(), 4, {.block_floats = 64, .accumulated_rows = 0}));
  EXPECT_EQ(Damages(), 0U) << texts_;
  std::string bytes = FileBytes(paths().Gradients());
  bytes[16] ^= 1;
  WriteFileBytes(paths().Gradients(), bytes);
  EXPECT_EQ(Damages(), 1U) << texts_;
  EXPECT_TRUE(Says("gradients.map: header: damaged")) << texts_;
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
