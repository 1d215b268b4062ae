// Trainings by several ranks: the bytes and the events of one process, for any number of ranks, for a common folder and
// private ones, and whatever interrupts them.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "checkpoint/state_file.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/train/rank_trainings.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// Nine fine partitions, the last one short.
const TinyTraining& TeamsTraining() {
  static const TinyTraining training({.nodes = 8500, .relations = 5, .edges = 12000, .valid_share = 0.05});
  return training;
}

TrainOptions TeamsOptions(std::uint64_t lanes, std::uint64_t partitions = 0, std::uint64_t resident = 0) {
  TrainOptions options = TinyOptions();
  options.batch = 300;
  options.chunk = 60;
  options.lanes = lanes;
  options.partitions = partitions;
  options.resident = resident;
  options.learning_rate_schedule = LearningRateSchedule::kLinear;
  return options;
}

struct Named {
  std::string name;
  TrainOptions options;
};

std::vector<Named> Trainings() {
  std::vector<Named> all;
  TrainOptions options = TeamsOptions(4);
  options.reciprocal = true;
  all.push_back({"complex with reciprocal relations", options});
  options = TeamsOptions(4, 3, 2);
  options.model = ModelKind::kDistMult;
  options.optimizer = OptimizerKind::kAdagrad;
  options.regularizer = RegularizerKind::kL2;
  options.regularization = 0.05;
  all.push_back({"distmult, adagrad, states of a lane", options});
  options = TeamsOptions(2, 4, 2);
  options.model = ModelKind::kTransE;
  options.norm = Norm::kL2;
  options.optimizer = OptimizerKind::kSgd;
  options.accumulate = 2;
  all.push_back({"transe, sgd, accumulated", options});
  options = TeamsOptions(4);
  options.model = ModelKind::kDot;
  options.optimizer = OptimizerKind::kAdam;
  options.prefetch = PrefetchMode::kOff;
  all.push_back({"dot without relations, adam", options});
  options = TeamsOptions(4, 3, 2);
  options.storage = NpyElement::kBfloat16;
  options.accumulate = 3;
  options.dim = 6;
  all.push_back({"bf16, accumulated, states of a lane", options});
  return all;
}

// In memory: a hundred trainings would else wait for the disk.
fs::path RunFolder(const std::string& name) {
  static const TemporaryFolder runs(FastPlace());
  return runs / name;
}

std::string NewName() {
  static int count = 0;
  return "run" + std::to_string(++count);
}

enum class Disks { kShared, kPrivate, kTwo };

// The folders of the ranks of a new run: one, each its own, or two that are common to every second rank.
std::vector<fs::path> NewFolders(Disks disks, std::size_t ranks) {
  const std::string name = NewName();
  std::vector<fs::path> folders;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::size_t number = disks == Disks::kShared ? 0 : disks == Disks::kPrivate ? rank : rank % 2;
    folders.push_back(RunFolder(name + "-" + std::to_string(number)));
  }
  return folders;
}

// A run of one process.
struct ExpectedRun {
  RunBytes bytes;
  std::vector<std::string> events;
  std::vector<std::string> names;
};

ExpectedRun TrainAlone(const TrainOptions& options) {
  const fs::path run = RunFolder(NewName());
  EXPECT_OK(StartRun(TeamsTraining().graph_folder(), run, options, /*overwrite=*/false, {.memory = kPlenty}, {}));
  ExpectedRun expected{.bytes = ReadRunBytes(run), .events = EventsOf(run), .names = NamesIn(run)};
  fs::remove_all(run);
  return expected;
}

void ExpectSame(const fs::path& run, const ExpectedRun& expected) {
  EXPECT_TRUE(ReadRunBytes(run) == expected.bytes);
  EXPECT_EQ(EventsOf(run), expected.events);
  EXPECT_EQ(NamesIn(run), expected.names);
}

void RemoveAll(const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) fs::remove_all(folder);
}

void ExpectRanksGiveTheBytesOfOneProcess(const TrainOptions& options) {
  const ExpectedRun expected = TrainAlone(options);
  for (const Disks disks : {Disks::kShared, Disks::kPrivate, Disks::kTwo}) {
    for (std::size_t ranks = 1; ranks <= options.lanes; ++ranks) {
      if ((disks == Disks::kPrivate && ranks == 1) || (disks == Disks::kTwo && ranks != 3)) continue;
      SCOPED_TRACE(::testing::Message() << ranks << " ranks, disks " << static_cast<int>(disks));
      const std::vector<fs::path> folders = NewFolders(disks, ranks);
      const std::vector<RankEnd> ends = TrainTogether(TeamsTraining(), {.folders = folders, .seed = ranks}, &options);
      for (const RankEnd& end : ends) {
        ASSERT_OK(end.status);
        EXPECT_TRUE(end.outcome.finished);
        EXPECT_EQ(end.outcome.generation, ends[0].outcome.generation);
        ASSERT_EQ(end.events.size(), options.epochs);
        for (std::size_t i = 0; i < end.events.size(); ++i) {
          EXPECT_EQ(ToJson(end.events[i]), ToJson(ends[0].events[i])) << "every rank has one event";
          EXPECT_EQ(end.events[i].ranks, ranks);
          EXPECT_EQ(end.events[i].partition_loads, end.events[i].planned_partition_loads);
          if (ranks == 1) {
            EXPECT_EQ(end.events[i].moved_bytes, 0U);
          }
          if (ranks == options.lanes) {
            EXPECT_GT(end.events[i].moved_bytes, 0U);
          }
        }
      }
      ExpectSame(folders[0], expected);
      for (std::size_t rank = 1; rank < ranks; ++rank) EXPECT_EQ(EventsOf(folders[rank]), expected.events);
      RemoveAll(folders);
    }
  }
}

TEST(TeamTraining, GivesTheBytesOfOneProcess) {
  for (const auto& [name, options] : Trainings()) {
    SCOPED_TRACE(name);
    ExpectRanksGiveTheBytesOfOneProcess(options);
  }
}

// Trains with stops after random numbers of windows at random ranks, each time with other ranks.
class Interrupted {
 public:
  Interrupted(const TrainOptions& options, Disks disks, std::uint64_t seed)
      : options_(options), disks_(disks), random_(seed) {}

  // Returns the folder that has the run at the end, or "" after an error.
  fs::path Train() {
    folders_ = NewFolders(disks_, disks_ == Disks::kShared ? options_.lanes : 2 + random_() % (options_.lanes - 1));
    Choose();
    bool started = false;
    for (int part = 0; part < 200; ++part) {
      const std::vector<RankEnd> ends = RunPart(started ? nullptr : &options_);
      started = true;
      for (const RankEnd& end : ends) {
        EXPECT_OK(end.status);
        if (!end.status.ok()) return {};
        EXPECT_EQ(end.outcome.finished, ends[0].outcome.finished);
      }
      if (ends[0].outcome.finished) return now_[0];
      ++stops_;
      const auto manifest = ReadNewestManifest(RunPaths(now_[0]).State());
      EXPECT_OK(manifest);
      if (manifest.ok() && manifest->round.open == 1) ++within_;
      Choose();
    }
    ADD_FAILURE() << "it does not end";
    return {};
  }

  int stops() const { return stops_; }
  int within() const { return within_; }
  void Remove() const { RemoveAll(folders_); }

 private:
  // Another number of ranks in the common folder; the same folders for other ranks, and sometimes another machine.
  void Choose() {
    now_ = folders_;
    if (disks_ == Disks::kShared) {
      now_.resize(1 + random_() % folders_.size());
      return;
    }
    std::ranges::shuffle(now_, random_);
    if (stops_ == 0 || folders_.size() == options_.lanes || random_() % 2 == 0) return;
    folders_.push_back(folders_[0].string() + "-" + std::to_string(folders_.size()));
    now_.push_back(folders_.back());
  }

  std::vector<RankEnd> RunPart(const TrainOptions* options) {
    std::vector<std::atomic<int>> stops(now_.size());
    const int chosen = static_cast<int>(random_() % now_.size());
    const std::uint64_t after = 1 + random_() % (20 / now_.size());
    std::atomic<std::uint64_t> windows = 0;
    RankJob job{.folders = now_, .seed = random_(), .ranks_of_one = random_() % 2 == 0};
    job.change = [&](int rank, TrainSettings& settings, TrainCallbacks& callbacks) {
      settings.stop = &stops[static_cast<std::size_t>(rank)];
      if (rank != chosen) return;
      callbacks.on_batch = [&, rank](const TrainProgress&) {
        if (++windows == after) stops[static_cast<std::size_t>(rank)] = 1;
      };
    };
    return TrainTogether(TeamsTraining(), job, options);
  }

  const TrainOptions options_;
  const Disks disks_;
  std::mt19937_64 random_;
  std::vector<fs::path> folders_;
  std::vector<fs::path> now_;  // of the ranks
  int stops_ = 0;
  int within_ = 0;
};

TEST(TeamTraining, StopsAnywhereAndResumesByOtherRanksGiveTheSameBytes) {
  const std::vector<Named> trainings = Trainings();
  for (const std::size_t which : {0U, 2U, 4U}) {
    TrainOptions options = trainings[which].options;
    const ExpectedRun expected = TrainAlone(options);
    int stops = 0;
    int within = 0;
    for (const Disks disks : {Disks::kShared, Disks::kPrivate}) {
      for (std::uint64_t seed = 1; seed <= 1; ++seed) {
        SCOPED_TRACE(::testing::Message()
                     << trainings[which].name << ", disks " << static_cast<int>(disks) << ", seed " << seed);
        Interrupted interrupted(options, disks, 10 * which + seed);
        const fs::path run = interrupted.Train();
        ASSERT_FALSE(run.empty());
        ExpectSame(run, expected);
        stops += interrupted.stops();
        within += interrupted.within();
        interrupted.Remove();
      }
    }
    EXPECT_GE(stops, 4) << trainings[which].name;
    EXPECT_GE(within, 2) << "stopped within a round";
  }
}

// Commits after every window, by rank 0.
TEST(TeamTraining, CommitsWithinARoundChangeNothing) {
  TrainOptions options = TeamsOptions(4, 3, 2);
  options.epochs = 1;
  const ExpectedRun expected = TrainAlone(options);
  options.checkpoint_minutes = 1e-9;
  for (const Disks disks : {Disks::kShared, Disks::kPrivate}) {
    const std::vector<fs::path> folders = NewFolders(disks, 3);
    std::atomic<int> commits = 0;
    RankJob job{.folders = folders};
    job.change = [&](int rank, TrainSettings&, TrainCallbacks& callbacks) {
      if (rank == 1) callbacks.on_commit = [&](std::uint64_t) { ++commits; };
    };
    for (const RankEnd& end : TrainTogether(TeamsTraining(), job, &options)) ASSERT_OK(end.status);
    EXPECT_GE(commits, 8);
    ExpectSame(folders[0], expected);
    RemoveAll(folders);
  }
}

// More epochs after the end: second files are gone, and several ranks make them again.
TEST(TeamTraining, AFinishedRunIsContinuedByAnyRanks) {
  TrainOptions options = TeamsOptions(4);
  options.learning_rate_schedule = LearningRateSchedule::kConstant;
  options.epochs = 3;
  const ExpectedRun expected = TrainAlone(options);
  options.epochs = 1;
  for (const Disks disks : {Disks::kShared, Disks::kPrivate}) {
    SCOPED_TRACE(static_cast<int>(disks));
    std::vector<fs::path> folders = NewFolders(disks, 4);
    for (const RankEnd& end : TrainTogether(TeamsTraining(), {.folders = folders}, &options)) ASSERT_OK(end.status);
    for (const std::uint64_t epochs : {2U, 3U}) {
      std::ranges::reverse(folders);
      for (const RankEnd& end : TrainTogether(TeamsTraining(), {.folders = folders, .epochs = epochs}, nullptr)) {
        ASSERT_OK(end.status);
        EXPECT_TRUE(end.outcome.finished);
      }
    }
    ExpectSame(folders[0], expected);
    // Where the run is finished all of its rows are in one folder, so one process can go on.
    EXPECT_OK(ResumeRun(folders[0], 4, {.memory = kPlenty}, {}));
    RemoveAll(folders);
  }
}

// An error at one rank ends the job. What it leaves is continued, at a commit that every folder has.
TEST(TeamTraining, AnErrorAnywhereAndAResumeGiveTheSameBytes) {
  TrainOptions options = TeamsOptions(4, 3, 2);
  options.epochs = 1;
  const ExpectedRun expected = TrainAlone(options);
  options.checkpoint_minutes = 1e-9;  // after every window of rank 0
  std::mt19937_64 random(4);
  int rolled_back = 0;
  int turn = 0;
  for (const std::string place : {"train.batch", "train.lanes", "commit.C2", "commit.C3", "commit.lanes", "commit.C5",
                                  "commit.C6", "commit.C7", "ranks.send", "ranks.receive"}) {
    // Two of the three kinds of disks for each place.
    for (const Disks disks : {Disks::kShared, Disks::kPrivate, Disks::kTwo}) {
      if (++turn % 3 == 0) continue;
      const std::string failpoint = place + ":" + std::to_string(4 + random() % 14) + "=eio";
      SCOPED_TRACE(::testing::Message() << failpoint << ", disks " << static_cast<int>(disks));
      std::vector<fs::path> folders = NewFolders(disks, 3);
      ASSERT_OK(SetFailpoints(failpoint));
      std::vector<RankEnd> ends = TrainTogether(TeamsTraining(), {.folders = folders, .seed = random()}, &options);
      ASSERT_OK(SetFailpoints(""));
      const bool failed = std::ranges::any_of(ends, [](const RankEnd& end) { return !end.status.ok(); });
      EXPECT_TRUE(failed) << "the place is passed";
      std::vector<std::uint64_t> generations;
      for (const fs::path& folder : folders) {
        const auto manifest = ReadNewestManifest(RunPaths(folder).State());
        ASSERT_OK(manifest);
        generations.push_back(manifest->header.generation);
      }
      const auto [least, most] = std::ranges::minmax(generations);
      EXPECT_LE(most - least, 1U);
      if (most != least) ++rolled_back;
      std::ranges::shuffle(folders, random);
      ends = TrainTogether(TeamsTraining(), {.folders = folders, .seed = random()}, nullptr);
      for (const RankEnd& end : ends) ASSERT_OK(end.status);
      ExpectSame(folders[0], expected);
      RemoveAll(folders);
    }
  }
  EXPECT_GE(rolled_back, 1) << "one folder had a commit that another had not";
}

// Rank 0 at least tells why; whether the others hear of it before it ends the job is a matter of time.
TEST(TeamTraining, RanksNeedLanes) {
  const TrainOptions options = TeamsOptions(2);
  const auto ends = TrainTogether(TeamsTraining(), {.folders = NewFolders(Disks::kShared, 3)}, &options);
  EXPECT_TRUE(std::ranges::any_of(ends, [](const RankEnd& end) {
    return bool{
        IsError(end.status, ErrorKind::kUsage, "3 ranks for 2 lanes; expected at most as many ranks as --lanes")};
  }));
}

}  // namespace
}  // namespace octavo
