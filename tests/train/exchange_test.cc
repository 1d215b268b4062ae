// Trainings whose tables are mapped, populated or read: the same bytes, and damage found in time.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "checkpoint/state_file.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "run/run_configuration.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/train/tiny_training.h"

namespace octavo {
namespace {

constexpr ExchangeMode kModes[] = {ExchangeMode::kAuto, ExchangeMode::kMapped, ExchangeMode::kDirect};

const TinyTraining& Training() {
  static const TinyTraining training({.nodes = 6500, .relations = 3, .edges = 9000});
  return training;
}

TrainOptions Options(std::uint64_t partitions, std::uint64_t resident) {
  TrainOptions options = TinyOptions();
  options.batch = 300;
  options.chunk = 100;
  options.epochs = 3;
  options.partitions = partitions;
  options.resident = resident;
  return options;
}

TEST(Exchange, EachWayGivesTheSameBytes) {
  for (const NpyElement storage : {NpyElement::kFloat32, NpyElement::kBfloat16}) {
    for (const auto& [partitions, resident, mapped] :
         {std::tuple(1, 1, Loading::kMapped), {7, 7, Loading::kMapped}, {7, 3, Loading::kPopulated}}) {
      TrainOptions options = Options(static_cast<std::uint64_t>(partitions), static_cast<std::uint64_t>(resident));
      options.storage = storage;
      options.exchange = ExchangeMode::kDirect;
      const RunBytes expected = Training().Train(options, NextRunName());
      for (const ExchangeMode mode : kModes) {
        options.exchange = mode;
        const std::string run = NextRunName();
        std::vector<EpochEvent> events;
        std::vector<LoadingChoice> choices;
        TrainCallbacks callbacks;
        callbacks.on_epoch = [&](const EpochEvent& event) { events.push_back(event); };
        callbacks.on_loading = [&](const LoadingChoice& choice) { choices.push_back(choice); };
        ASSERT_OK(Training().Start(options, run, {.memory = kPlenty}, callbacks));
        EXPECT_EQ(ReadRunBytes(Training().run_folder(run)), expected);
        ASSERT_EQ(choices.size(), 1U);
        if (mode == ExchangeMode::kMapped) {
          EXPECT_EQ(choices[0].loading, mapped);
        }
        for (const EpochEvent& event : events) {
          EXPECT_EQ(event.exchange, choices[0].loading);
          EXPECT_EQ(event.read_bytes, event.planned_read_bytes) << "what is mapped is read once, by its verification";
        }
      }
    }
  }
}

// The mode of a run is the one of its last resume, and not part of the run's identity.
TEST(Exchange, AResumeWithAnotherModeGivesTheSameBytes) {
  for (const std::uint64_t resident : {7U, 3U}) {
    TrainOptions options = Options(7, resident);
    const RunBytes expected = Training().Train(options, NextRunName());
    const std::string run = NextRunName();
    std::atomic<int> stop = 0;
    int batches = 0;
    TrainCallbacks callbacks;
    callbacks.on_batch = [&](const TrainProgress&) { stop = ++batches % 11 == 0 ? 1 : 0; };
    TrainSettings settings = {.memory = kPlenty, .stop = &stop};
    auto outcome = Training().Start(options, run, settings, callbacks);
    for (std::size_t resumes = 0; outcome.ok() && !outcome->finished; ++resumes) {
      stop = 0;
      settings.exchange = kModes[resumes % 3];
      outcome = Training().Resume(0, run, settings, callbacks);
      const auto configuration = ReadRunConfiguration(RunPaths(Training().run_folder(run)).Configuration());
      ASSERT_OK(configuration);
      EXPECT_EQ(configuration->options.exchange, kModes[resumes % 3]);
      ASSERT_LT(resumes, 500U);
    }
    ASSERT_OK(outcome);
    EXPECT_EQ(ReadRunBytes(Training().run_folder(run)), expected);
  }
}

// A new run's tables are divided by its memory: with more of it, from the next epoch on, they are mapped.
TEST(Exchange, AnotherDivisionChoosesAnew) {
  TrainOptions options = Options(0, 0);
  options.partitions = 7;
  options.resident = 3;
  const std::string run = NextRunName();
  std::atomic<int> stop = 0;
  TrainCallbacks callbacks;
  callbacks.on_batch = [&](const TrainProgress& progress) { stop = progress.epoch == 1 ? 1 : 0; };
  ASSERT_OK(Training().Start(options, run, {.memory = kPlenty, .stop = &stop}, callbacks));
  const RunPaths paths(Training().run_folder(run));
  ASSERT_OK_AND_ASSIGN(RunConfiguration configuration, ReadRunConfiguration(paths.Configuration()));
  configuration.options.partitions = configuration.options.resident = 0;
  ASSERT_OK(WriteRunConfiguration(paths.Configuration(), configuration));
  std::vector<Loading> loadings;
  std::vector<Loading> trained;
  callbacks = {};
  callbacks.on_loading = [&](const LoadingChoice& choice) { loadings.push_back(choice.loading); };
  callbacks.on_epoch = [&](const EpochEvent& event) { trained.push_back(event.exchange); };
  ASSERT_OK(Training().Resume(0, run, {.memory = kPlenty, .divide_anew = true}, callbacks));
  EXPECT_EQ(loadings, (std::vector{Loading::kDirect, Loading::kMapped}));
  EXPECT_EQ(trained, (std::vector{Loading::kDirect, Loading::kMapped, Loading::kMapped}));
}

// A run of one epoch of three, in `run`.
void TrainOneEpoch(const std::string& run) {
  std::atomic<int> stop = 0;
  TrainCallbacks callbacks;
  callbacks.on_epoch = [&](const EpochEvent&) { stop = 1; };
  TrainOptions options = Options(0, 0);
  options.exchange = ExchangeMode::kMapped;
  ASSERT_OK(Training().Start(options, run, {.memory = kPlenty, .stop = &stop}, callbacks));
}

TEST(Exchange, DamagedMappedRowsEndTheTrainingBeforeItCommits) {
  const std::string run = NextRunName();
  TrainOneEpoch(run);
  const RunPaths paths(Training().run_folder(run));
  ASSERT_OK_AND_ASSIGN(const Manifest manifest, ReadNewestManifest(paths.State()));
  const std::filesystem::path table =
      paths.Table(TableName::kEmbeddings, static_cast<int>(manifest.partitions[3].slot));
  FlipByte(table, 4096 + 3 * 1024 * 8 * 4 + 77);
  int batches = 0;
  TrainCallbacks callbacks;
  callbacks.on_batch = [&](const TrainProgress&) { ++batches; };
  // The first batches are delayed, so that the damage is found long before the epoch's end.
  ASSERT_OK(SetFailpoints("train.batch:2=sleep,train.batch:3=sleep,train.batch:4=sleep"));
  EXPECT_ERROR(Training().Resume(0, run, {.memory = kPlenty}, callbacks), kCorrupt,
               table.string() + ": partition 3 (byte 102400 on): checksum");
  ASSERT_OK(SetFailpoints(""));
  EXPECT_LT(batches, 9) << "an error ends the training at the next batch, of 30 in an epoch";
  ASSERT_OK_AND_ASSIGN(const Manifest after, ReadNewestManifest(paths.State()));
  EXPECT_EQ(after.header.generation, manifest.header.generation);
  // After a repair the run continues to the same bytes.
  FlipByte(table, 4096 + 3 * 1024 * 8 * 4 + 77);
  ASSERT_OK(Training().Resume(0, run));
  EXPECT_EQ(ReadRunBytes(paths.folder()), Training().Train(Options(0, 0), NextRunName()));
}

TEST(Exchange, AStopWaitsForTheVerification) {
  const std::string run = NextRunName();
  TrainOneEpoch(run);
  const RunPaths paths(Training().run_folder(run));
  ASSERT_OK_AND_ASSIGN(const Manifest manifest, ReadNewestManifest(paths.State()));
  const std::filesystem::path table = paths.Table(TableName::kOptimizer, static_cast<int>(manifest.partitions[6].slot));
  FlipByte(table, std::filesystem::file_size(table) - 1);
  std::atomic<int> stop = 0;
  TrainCallbacks callbacks;
  callbacks.on_batch = [&](const TrainProgress&) { stop = 1; };
  // Each of the first partitions takes a tenth of a second; the stop comes long before the last.
  ASSERT_OK(SetFailpoints("table.check:1=sleep,table.check:2=sleep,table.check:3=sleep,table.check:4=sleep"));
  EXPECT_ERROR(Training().Resume(0, run, {.memory = kPlenty, .stop = &stop}, callbacks), kCorrupt,
               table.string() + ": partition 6");
  ASSERT_OK(SetFailpoints(""));
  ASSERT_OK_AND_ASSIGN(const Manifest after, ReadNewestManifest(paths.State()));
  EXPECT_EQ(after.header.generation, manifest.header.generation);
}

TEST(Exchange, AFailedReadOfMappedRowsNamesTheCommitToGoOnFrom) {
  const std::string run = NextRunName();
  TrainOneEpoch(run);
  ASSERT_OK(SetFailpoints("table.check:3=eio"));
  EXPECT_ERROR(Training().Resume(0, run), kRuntime, "failpoint table.check");
  ASSERT_OK(SetFailpoints(""));
  ASSERT_OK(Training().Resume(0, run));
  EXPECT_EQ(ReadRunBytes(Training().run_folder(run)), Training().Train(Options(0, 0), NextRunName()));
}

}  // namespace
}  // namespace octavo
