#include "train/trainer.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "run/new_run.h"
#include "run/run_configuration.h"
#include "tests/train/some_trainings.h"
#include "tests/train/tiny_training.h"

namespace octavo {
namespace {

TEST(Trainer, FinishedRunHasTheFilesOfTheContract) {
  const TinyTraining training;
  training.Train(TinyOptions());
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(training.run_folder())) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"LOCK", "STATE", "embeddings.npy", "metrics.jsonl", "optimizer.npy",
                                             "relations.npy", "relations.optimizer.npy", "run.json"}));
}

TEST(Trainer, LearnsSomething) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  options.epochs = 30;
  training.Train(options);
  const auto events = Events(training.run_folder());
  ASSERT_EQ(events.size(), 30U);
  EXPECT_LT(events.back()["loss"], 0.7 * events.front()["loss"].get<double>());
}

TEST(Trainer, SameBytesForAnyNumberOfThreads) {
  const TinyTraining training({.nodes = 400, .relations = 5, .edges = 3000, .weights = true});
  for (TrainOptions options : SomeTrainings()) {
    options.batch = 700;
    options.chunk = 64;
    options.dim = 32;
    std::vector<RunBytes> runs;
    for (const int threads : {1, 2, 4}) {
      runs.push_back(WithThreads(threads, [&] { return training.Train(options); }));
      std::filesystem::remove_all(training.run_folder());
    }
    EXPECT_TRUE(runs[0] == runs[1]);
    EXPECT_TRUE(runs[0] == runs[2]);
    EXPECT_GT(runs[0].embeddings.size(), 400U * 32 * ElementBytes(options.storage));
  }
}

// Rounding must not affect learning: the loss of each epoch is within 2 % of that with floats.
TEST(Trainer, Bfloat16LearnsAsFloatsDo) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  options.epochs = 30;
  const RunBytes floats = training.Train(options, "floats");
  options.storage = NpyElement::kBfloat16;
  const RunBytes words = training.Train(options, "words");
  EXPECT_EQ(words.embeddings.size() - kNpyHeaderBytes, (floats.embeddings.size() - kNpyHeaderBytes) / 2);
  EXPECT_EQ(words.optimizer.size(), floats.optimizer.size());
  EXPECT_EQ(words.relations.size(), floats.relations.size());
  const auto expected = Events(training.run_folder("floats"));
  const auto found = Events(training.run_folder("words"));
  ASSERT_EQ(found.size(), 30U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double loss = expected[i]["loss"];
    EXPECT_NEAR(found[i]["loss"].get<double>(), loss, 0.02 * loss) << "epoch " << i + 1;
  }
}

// With 4 of 8 partitions in memory, too: rows come and go as words.
TEST(Trainer, Bfloat16InPartitionsIsTheSameForAnyThreadsAndStops) {
  const TinyTraining training({.nodes = 8000, .relations = 3, .edges = 9000});
  TrainOptions options = TouchyOptions();
  options.storage = NpyElement::kBfloat16;
  options.partitions = 8;
  options.resident = 4;
  options.batch = 700;
  options.chunk = 64;
  options.epochs = 2;
  const RunBytes one = WithThreads(1, [&] { return training.Train(options, "one"); });
  for (const int threads : {2, 4}) {
    EXPECT_TRUE(WithThreads(threads, [&] { return training.Train(options, "threads" + std::to_string(threads)); }) ==
                one);
  }
  std::atomic<int> stop = 0;
  int windows = 0;
  ASSERT_OK_AND_ASSIGN(
      const TrainOutcome outcome,
      training.Start(options, "stopped", {.memory = kPlenty, .stop = &stop},
                     {.on_batch = [&](const TrainProgress&) { stop = ++windows == 7 ? 1 : 0; }, .on_epoch = {}}));
  EXPECT_FALSE(outcome.finished);
  ASSERT_OK(training.Resume(0, "stopped"));
  EXPECT_TRUE(ReadRunBytes(training.run_folder("stopped")) == one);
}

TEST(Trainer, AnotherSeedIsAnotherTraining) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  const RunBytes one = training.Train(options, "one");
  EXPECT_TRUE(training.Train(options, "same") == one);
  options.seed = 2;
  EXPECT_FALSE(training.Train(options, "two") == one);
}

// More edges than a pool, and many windows.
TEST(Trainer, SameBytesHoweverEdgesAreRead) {
  const TinyTraining training({.nodes = 3000, .relations = 40, .edges = kPoolEdges + kPoolEdges / 8});
  TrainOptions options = TinyOptions();
  options.model = ModelKind::kDot;
  options.dim = 2;
  options.negatives = 2;
  options.batch = 50'000;
  options.chunk = 1'000;
  options.prefetch = PrefetchMode::kOff;
  const RunBytes off = training.Train(options, "off");
  ASSERT_EQ(Events(training.run_folder("off")).size(), 2U);
  EXPECT_GT(Events(training.run_folder("off"))[0]["edges"], kPoolEdges);
  options.prefetch = PrefetchMode::kOn;
  EXPECT_TRUE(training.Train(options, "on") == off);
  // A pool of 11 windows, one of the rest; all but the very first are read ahead.
  const auto prefetched = [&](const char* run, int epoch) {
    const auto event = Events(training.run_folder(run))[static_cast<std::size_t>(epoch)];
    return std::pair(event["windows"].get<int>(), event["prefetched_windows"].get<int>());
  };
  EXPECT_EQ(prefetched("off", 1), std::pair(12, 0));
  EXPECT_EQ(prefetched("on", 0), std::pair(12, 11));
  EXPECT_EQ(prefetched("on", 1), std::pair(12, 12));
  options.prefetch = PrefetchMode::kAuto;
  EXPECT_TRUE(training.Train(options, "auto") == off);
  // Stopped in the second pool of the second epoch.
  std::atomic<int> stop = 0;
  options.prefetch = PrefetchMode::kOn;
  ASSERT_OK_AND_ASSIGN(const TrainOutcome outcome,
                       training.Start(options, "stopped", {.memory = kPlenty, .stop = &stop},
                                      {.on_batch =
                                           [&](const TrainProgress& progress) {
                                             if (progress.epoch == 2 && progress.batch == 11) stop = 1;
                                           },
                                       .on_epoch = {}}));
  EXPECT_FALSE(outcome.finished);
  ASSERT_OK(training.Resume(0, "stopped"));
  EXPECT_TRUE(ReadRunBytes(training.run_folder("stopped")) == off);
}

// Also if a batch is one chunk, whose updates an older program made one batch late.
TEST(Trainer, PipelinedIsAnotherNameOfSync) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  for (const std::uint64_t chunk : {options.chunk, options.batch}) {
    options.chunk = chunk;
    options.schedule = Schedule::kSync;
    const RunBytes sync = training.Train(options, fmt::format("sync{}", chunk));
    options.schedule = Schedule::kPipelined;
    const std::string name = fmt::format("pipelined{}", chunk);
    EXPECT_TRUE(training.Train(options, name) == sync);
    ASSERT_OK_AND_ASSIGN(const RunConfiguration run,
                         ReadRunConfiguration(RunPaths(training.run_folder(name)).Configuration()));
    EXPECT_EQ(run.options.schedule, Schedule::kSync) << "an older program continues with the same bits";
  }
}

// A run of an older program has `pipelined` in its run.json, which is part of its identity.
TEST(Trainer, ResumingARunOfLateUpdatesWarnsOnceAndTrainsAsSync) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  for (const std::uint64_t chunk : {options.batch, options.chunk}) {
    options.chunk = chunk;
    options.schedule = Schedule::kSync;
    const RunBytes sync = training.Train(options, fmt::format("sync{}", chunk));
    options.schedule = Schedule::kPipelined;
    NewRun run;
    ASSERT_OK_AND_ASSIGN(run.graph, Graph::Open(training.graph_folder()));
    run.configuration = {.options = options, .graph = training.graph_folder()};
    run.division = {1, 1};
    const std::string name = fmt::format("older{}", chunk);
    std::filesystem::create_directory(training.run_folder(name));
    ASSERT_OK(BeginRun(run, RunPaths(training.run_folder(name)), /*sync=*/false));
    std::vector<std::string> warnings;
    const TrainCallbacks callbacks{.on_warning = [&](std::string_view text) { warnings.emplace_back(text); }};
    ASSERT_OK(training.Resume(0, name, {.memory = kPlenty}, callbacks));
    EXPECT_TRUE(ReadRunBytes(training.run_folder(name)) == sync);
    ASSERT_EQ(warnings.size(), chunk == options.batch ? 1U : 0U);
    if (!warnings.empty()) {
      EXPECT_NE(warnings[0].find("from here on its bits are those of schedule sync"), std::string::npos);
    }
    ASSERT_OK(training.Resume(0, name, {.memory = kPlenty}, callbacks));
    EXPECT_LE(warnings.size(), 1U) << "nothing is left to train";
  }
}

TEST(Trainer, ExplodingRateStopsWithBatchAndRelationNamed) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  options.optimizer = OptimizerKind::kSgd;
  options.learning_rate = 1000;
  options.epochs = 50;
  for (const NpyElement storage : {NpyElement::kFloat32, NpyElement::kBfloat16}) {
    options.storage = storage;
    const auto outcome = training.Start(options);
    EXPECT_ERROR(outcome, kRuntime, "not finite");
    EXPECT_ERROR(outcome, kRuntime, "batch ");
    EXPECT_ERROR(outcome, kRuntime, "\"r");
    EXPECT_TRUE(AllFinite(training.run_folder()));
    std::filesystem::remove_all(training.run_folder());
  }
}

// The last update of an epoch was committed unchecked: a finite loss can have a gradient that is not finite.
TEST(Trainer, NeverCommitsWhatIsNotFinite) {
  const TinyTraining training({.weights = true, .weight_scale = 1e38});
  for (const ModelKind model : {ModelKind::kDot, ModelKind::kComplEx, ModelKind::kTransE}) {
    for (const auto& [batch, storage] : {std::pair(100U, NpyElement::kFloat32), std::pair(50U, NpyElement::kFloat32),
                                         std::pair(50U, NpyElement::kBfloat16)}) {
      TrainOptions options = TinyOptions();
      options.model = model;
      options.optimizer = OptimizerKind::kSgd;
      options.learning_rate = 1000;
      options.batch = batch;
      options.storage = storage;
      const auto outcome = training.Start(options);
      EXPECT_ERROR(outcome, kRuntime, "not finite");
      EXPECT_ERROR(outcome, kRuntime, "epoch 1, batch ");
      EXPECT_TRUE(AllFinite(training.run_folder())) << ModelName(model) << " " << batch;
      std::filesystem::remove_all(training.run_folder());
    }
  }
}

TEST(Trainer, EventsCountTheirWork) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  options.learning_rate_schedule = LearningRateSchedule::kLinear;
  training.Train(options);
  const auto events = Events(training.run_folder());
  ASSERT_EQ(events.size(), 2U);
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(training.graph_folder()));
  for (const nlohmann::json& event : events) {
    EXPECT_EQ(event["edges"], graph->description().train_edges);
    EXPECT_GT(event["loss"], 0);
    EXPECT_GT(event["seconds"], 0);
    EXPECT_GT(event["edges_per_second"], 0);
    EXPECT_GT(event["compute_seconds"], 0);
    EXPECT_GT(event["peak_rss_bytes"], 1 << 20);
    EXPECT_EQ(event["planned_read_bytes"], event["read_bytes"]);
    EXPECT_GT(event["written_bytes"], 0);
    EXPECT_LE(event["written_bytes"], event["planned_written_bytes"]);
    EXPECT_LE(event["compute_seconds"].get<double>() + event["apply_seconds"].get<double>(), event["seconds"]);
  }
  EXPECT_EQ(events[0]["partition_loads"], 1);
  EXPECT_EQ(events[1]["partition_loads"], 0);
  // 4 batches an epoch: the last of the second is at 7/8.
  EXPECT_NEAR(events[1]["learning_rate"], 0.1 / 8, 1e-8);
}

TEST(Trainer, ProgressGoesFromTheFirstWindowToTheLast) {
  const TinyTraining training;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
  TrainOptions options = TinyOptions();
  options.accumulate = 3;
  std::uint64_t batches = 0;
  ASSERT_OK(training.Start(options, "run", {.memory = kPlenty},
                           {.on_batch =
                                [&](const TrainProgress& progress) {
                                  seen.emplace_back(progress.epoch, progress.batch);
                                  batches = progress.batches;
                                  EXPECT_EQ(progress.epochs, 2U);
                                  EXPECT_GT(progress.loss, 0);
                                },
                            .on_epoch = {}}));
  EXPECT_EQ(batches, 4U);
  EXPECT_EQ(seen, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1, 3}, {1, 4}, {2, 3}, {2, 4}}));
}

}  // namespace
}  // namespace octavo
