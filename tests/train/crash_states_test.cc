// Power cuts at every instant of a whole training, by the model of a disk (tests/support/crash_disk.h): run.json,
// metrics.jsonl and the tables together. Whatever a cut leaves, the training ends with the bits of an uninterrupted
// one.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/state_file.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/crash_disk.h"
#include "tests/train/tiny_training.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// Three partitions, of all tables or of a lane, two of them resident; commits within epochs and at their ends.
TrainOptions Options(std::uint64_t lanes) {
  TrainOptions options = TinyOptions();
  options.batch = 300;
  options.chunk = 100;
  options.epochs = 2;
  options.optimizer = lanes == 1 ? OptimizerKind::kAdam : OptimizerKind::kRowAdagrad;
  options.lanes = lanes;
  options.partitions = 3;
  options.resident = 2;
  options.durability = Durability::kFull;
  return options;
}

// The fields that do not depend on time, of each event of metrics.jsonl.
std::vector<std::string> Losses(const fs::path& run) {
  std::vector<std::string> losses;
  std::ifstream file(RunPaths(run).Metrics());
  for (std::string line; std::getline(file, line);) {
    const auto event = nlohmann::json::parse(line);
    losses.push_back(event["epoch"].dump() + " " + event["loss"].dump() + " " + event["edges"].dump());
  }
  return losses;
}

std::vector<std::string> Names(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

// With several lanes, too.
class TrainingCrashStatesTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  static TinyGraph GraphFor(std::uint64_t lanes) {
    return {.nodes = 2500 + (lanes - 1) * 2000, .relations = 3, .edges = 2600 + (lanes - 1) * 2000};
  }
  fs::path unbroken() const { return runs_ / "unbroken"; }
  fs::path cut() const { return runs_ / "cut"; }

  // Trains and records; `acknowledged` gets the newest acknowledged generation, for each event and for the end.
  void Record() {
    fs::create_directory(unbroken());
    FileJournal journal(unbroken());
    std::uint64_t generation = 0;
    const auto acknowledge = [&] {
      acknowledged_.resize(journal.events().size(), generation);
      generation = ReadNewestManifest(RunPaths(unbroken()).State())->header.generation;
    };
    std::atomic<bool> commit{false};
    TrainCallbacks callbacks;
    callbacks.on_batch = [&](const TrainProgress& progress) { commit = progress.batch % 3 == 1; };
    callbacks.on_commit = [&](std::uint64_t) { acknowledge(); };
    callbacks.on_epoch = [&](const EpochEvent&) { acknowledge(); };
    ASSERT_OK(StartRun(training_.graph_folder(), unbroken(), Options(GetParam()), /*overwrite=*/false,
                       {.memory = kPlenty, .commit = &commit}, callbacks));
    acknowledge();
    events_ = journal.events();
    acknowledged_.resize(events_.size() + 1, generation);
  }

  // Continues from what a cut has left; returns what is wrong, or "".
  std::string Examine(const FolderContents& contents, std::uint64_t acknowledged) {
    return verdicts_.Of(contents, acknowledged,
                        [this](const FolderContents& cut, std::uint64_t commits) { return ExamineNew(cut, commits); });
  }

  std::string ExamineNew(const FolderContents& contents, std::uint64_t acknowledged) const {
    WriteFolder(cut(), contents);
    const bool is_run = contents.contains("STATE");
    if (!is_run && acknowledged > 0) return "the run is gone";
    if (is_run) {
      const auto manifest = ReadNewestManifest(RunPaths(cut()).State());
      if (!manifest.ok()) return std::string(MessageOf(manifest.status()));
      if (manifest->header.generation < acknowledged) return "an older commit stands";
    }
    const auto outcome = is_run ? ResumeRun(cut(), 0, {.memory = kPlenty}, {})
                                : StartRun(training_.graph_folder(), cut(), Options(GetParam()), /*overwrite=*/false,
                                           {.memory = kPlenty}, {});
    if (!outcome.ok()) return std::string(MessageOf(outcome.status()));
    if (ReadRunBytes(cut()) != ReadRunBytes(unbroken())) return "other tables";
    if (Losses(cut()) != Losses(unbroken())) return "other losses";
    return Names(cut()) == Names(unbroken()) ? "" : "other files";
  }

  const TinyTraining training_{GraphFor(GetParam())};
  const TemporaryFolder runs_{FastPlace()};
  std::vector<RecordedEvent> events_;
  std::vector<std::uint64_t> acknowledged_;
  CutVerdicts verdicts_;
};

TEST_P(TrainingCrashStatesTest, WhateverACutLeavesTheTrainingEndsTheSame) {
  Record();
  fs::create_directory(cut());
  EXPECT_GE(acknowledged_.back(), 6U) << "commits within epochs";
  CrashDisk disk;
  std::size_t states = 0;
  RandomStream random(5, RandomPurpose::kSplit, 4, 0);
  for (std::size_t i = 0; i <= events_.size(); ++i) {
    // One or two of the many cuts after each event; tests/checkpoint covers every instant of the tables' commits.
    std::vector<FolderContents> cuts;
    ForEachCut(disk, 3, random, [&](const FolderContents& contents) { cuts.push_back(contents); });
    for (int n = 0; n < 2; ++n, ++states) {
      const std::string wrong = Examine(cuts[random.Below(cuts.size())], acknowledged_[i]);
      ASSERT_EQ(wrong, "") << "after event " << i;
    }
    if (i < events_.size()) disk.Apply(events_[i]);
  }
  EXPECT_GE(states, 200U);
  EXPECT_GE(verdicts_.size(), 100U);
}

// If the sync of an epoch's events is forgotten, the events are lost while the epoch's commit remains.
TEST_P(TrainingCrashStatesTest, TheSyncOfTheMetricsIsNeeded) {
  Record();
  fs::create_directory(cut());
  CrashDisk disk;
  RandomStream random(6, RandomPurpose::kSplit, 4, 0);
  for (const RecordedEvent& event : events_) {
    if (event.kind != FileEvent::Kind::kSync || event.name != "metrics.jsonl") disk.Apply(event);
  }
  const FolderContents nothing_unsynced = disk.Cut([](std::size_t) { return CrashDisk::Fate::kLost; }, random);
  EXPECT_NE(Examine(nothing_unsynced, acknowledged_.back()), "");
}

INSTANTIATE_TEST_SUITE_P(Lanes, TrainingCrashStatesTest, ::testing::Values(1, 2));

}  // namespace
}  // namespace octavo
