#include "tune/verify_search.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "graph/verify.h"
#include "gtest/gtest.h"
#include "run/trained_run.h"
#include "run/verify_run.h"
#include "tables/mmap_gradient_accumulator.h"
#include "tests/train/tiny_training.h"
#include "tune/search.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<ValidationScores> ByEpochs(const fs::path& run, const TrainOptions&, std::uint64_t) {
  ASSIGN_OR_RETURN(const TrainedRun opened, OpenTrainedRun(run));
  return ValidationScores{.mrr = static_cast<double>(opened.epochs_done) / 100, .triples = 10};
}

// A graph, a run with a best one in it, and a search.
class VerifySearchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    TrainOptions options = TinyOptions();
    options.validate_every = 1;
    options.keep = Keep::kBest;
    ASSERT_OK(training_.Start(options, "run", {.memory = kPlenty, .validate = ByEpochs}));
    TuneOptions search;
    search.graph = training_.graph_folder();
    search.folder = paths_.folder();
    search.trials = 2;
    search.epochs_least = 1;
    search.epochs = 2;
    search.reduction_factor = 2;
    WriteFileBytes(training_.folder() / "space.toml",
                   "dim = [4, 8]\nnegatives = 8\nbatch = 28\nchunk = 6\ndurability = \"process\"\n");
    ASSERT_OK_AND_ASSIGN(search.space, LoadSearchSpace(training_.folder() / "space.toml"));
    SearchCallbacks callbacks;
    callbacks.settings = [](const TrainOptions&, const Graph&) -> absl::StatusOr<TrainSettings> {
      return TrainSettings{.memory = kPlenty, .validate = ByEpochs};
    };
    ASSERT_OK(RunSearch(search, callbacks, nullptr));
  }

  std::uint64_t Damages() {
    report_ = std::make_unique<CheckReport>();
    EXPECT_OK(VerifySearch(paths_, {}, *report_));
    texts_.clear();
    for (const Finding& finding : report_->findings()) texts_ += DescribeFinding(finding) + "\n";
    for (const std::string& note : report_->notes()) texts_ += "note: " + note + "\n";
    return report_->damage_count();
  }
  bool Says(const std::string& text) const { return texts_.find(text) != std::string::npos; }

  const TinyTraining training_{{.valid_share = 0.1}};
  const SearchPaths paths_{training_.folder() / "search"};
  std::unique_ptr<CheckReport> report_;
  std::string texts_;
};

TEST_F(VerifySearchTest, AWholeSearchIsWhole) {
  EXPECT_EQ(Damages(), 0U) << texts_;
  EXPECT_TRUE(report_->notes().empty()) << texts_;
  EXPECT_EQ(report_->files().size(), 9U) << "tune.jsonl, best.toml, the seven files of a run";
}

TEST_F(VerifySearchTest, DamageIsNamedWithItsPlace) {
  const std::string log = FileBytes(paths_.Log());
  WriteFileBytes(paths_.Log(), log.substr(0, log.size() - 1) + "J");
  EXPECT_EQ(Damages(), 1U) << texts_;
  EXPECT_TRUE(Says("tune.jsonl: line 4: another byte than a line end")) << texts_;
  WriteFileBytes(paths_.Log(), "");
  EXPECT_EQ(Damages(), 1U) << texts_;
  EXPECT_TRUE(Says("tune.jsonl: line 1: no complete line")) << texts_;
  fs::remove(paths_.Log());
  EXPECT_EQ(Damages(), 1U) << texts_;
  EXPECT_TRUE(Says("tune.jsonl: no such file")) << texts_;
  WriteFileBytes(paths_.Log(), log);
  WriteFileBytes(paths_.Preset(), FileBytes(paths_.Preset()) + "dim = 9\n");
  EXPECT_EQ(Damages(), 1U) << texts_;
  EXPECT_TRUE(Says("best.toml: ")) << texts_;
}

TEST_F(VerifySearchTest, WhatAKillLeavesIsNoDamage) {
  const std::string log = FileBytes(paths_.Log());
  WriteFileBytes(paths_.Log(), log.substr(0, log.size() - 9));
  fs::remove(paths_.Preset());
  fs::create_directory(paths_.Trial(7).folder());
  fs::create_directory(paths_.Trial(8).folder());
  fs::copy(training_.run_folder("run") / "run.json", paths_.Trial(7).Configuration());
  EXPECT_EQ(Damages(), 0U) << texts_;
  EXPECT_TRUE(Says("tune.jsonl: the last line has no end")) << texts_;
  EXPECT_TRUE(Says("best.toml: not there yet")) << texts_;
  EXPECT_TRUE(Says("trial-007: a trial before its first commit")) << texts_;
  EXPECT_TRUE(Says("trial-008: a trial before its first commit")) << texts_;
}

// What a changed byte means to nobody: LOCK is text for people, and gradients.map is scratch after its header.
bool HasMeaning(const fs::path& file, std::size_t at) {
  return file.filename() != "LOCK" && (file.filename() != "gradients.map" || at < 4096);
}

// The bytes to the next that is flipped: one by one, in large files after the first 128 every 211th. A torn slot of
// STATE is waited for, so there are fewer.
std::size_t StepOf(const fs::path& file, std::size_t at, std::size_t bytes) {
  if (file.filename() == "STATE") return 331;
  return at < 128 || bytes < 2000 ? 1 : 211;
}

// Flips a bit of bytes of each file below `folder`, and wants `verify` to find damage.
void ExpectEveryByteMatters(const fs::path& folder, const std::set<std::string>& files,
                            const std::function<absl::Status(CheckReport&)>& verify) {
  std::set<std::string> found;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  for (const fs::path& path : paths) {
    found.insert(path.filename());
    const std::string whole = FileBytes(path);
    for (std::size_t at = 0; at < whole.size(); at += StepOf(path, at, whole.size())) {
      if (!HasMeaning(path, at)) continue;
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
      WriteFileBytes(path, damaged);
      CheckReport report;
      const absl::Status status = verify(report);
      EXPECT_TRUE(!status.ok() || report.damage_count() > 0) << path << ", byte " << at << " of " << whole.size();
    }
    WriteFileBytes(path, whole);
  }
  EXPECT_EQ(found, files);
}

TEST_F(VerifySearchTest, EveryByteOfAGraphMatters) {
  ExpectEveryByteMatters(training_.graph_folder(),
                         {"graph.json", "nodes.hash", "nodes.names", "nodes.offsets", "relations.tsv", "test.cells",
                          "train.cells", "valid.cells"},
                         [&](CheckReport& report) { return VerifyGraph(training_.graph_folder(), {}, report); });
}

TEST_F(VerifySearchTest, EveryByteOfARunMatters) {
  const RunPaths run(training_.run_folder("run"));
  ASSERT_OK(MmapGradientAccumulator::Create(run.Gradients(), 4, {.block_floats = 64, .accumulated_rows = 0}));
  ExpectEveryByteMatters(run.folder(),
                         {"LOCK", "STATE", "embeddings.npy", "gradients.map", "metrics.jsonl", "optimizer.npy",
                          "relations.npy", "relations.optimizer.npy", "run.json"},
                         [&](CheckReport& report) {
                           RETURN_IF_ERROR(VerifyRun(run.folder(), {}, report).status());
                           return VerifyRun(run.Best().folder(), {}, report).status();
                         });
}

TEST_F(VerifySearchTest, EveryByteOfASearchMatters) {
  ExpectEveryByteMatters(paths_.folder(),
                         {"LOCK", "STATE", "best.toml", "embeddings.npy", "metrics.jsonl", "optimizer.npy",
                          "relations.npy", "relations.optimizer.npy", "run.json", "tune.jsonl"},
                         [&](CheckReport& report) { return VerifySearch(paths_, {}, report); });
}

}  // namespace
}  // namespace octavo
