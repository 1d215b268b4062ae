// Power cuts at every instant of a run, by the model of a disk (tests/support/crash_disk.h): whatever a cut leaves, the
// run opens at the last acknowledged commit or at the one under way, holds exactly that, and continues.
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/run_tables.h"
#include "gtest/gtest.h"
#include "io/file_events.h"
#include "tests/checkpoint/small_run.h"
#include "tests/support/crash_disk.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;
using Kind = FileEvent::Kind;

constexpr std::uint64_t kNothing = ~std::uint64_t{0};  // no commit was acknowledged

// The actions of a program, and the step that it had acknowledged at each (kNothing before the first).
struct Recording {
  FolderContents before;
  std::vector<RecordedEvent> events;
  std::vector<std::uint64_t> acknowledged;  // for each event, and one more for the end
};

Recording Record(const fs::path& folder, std::uint64_t acknowledged,
                 const std::function<void(const std::function<void(std::uint64_t)>&)>& program) {
  Recording recording;
  recording.before = ReadFolder(folder);
  FileJournal journal(folder);
  program([&](std::uint64_t step) {
    recording.acknowledged.resize(journal.events().size(), acknowledged);
    acknowledged = step;
  });
  recording.events = journal.events();
  recording.acknowledged.resize(recording.events.size() + 1, acknowledged);
  return recording;
}

// The commit of the step after the acknowledged one may already be on the disk.
bool MayStandAt(std::uint64_t step, std::uint64_t acknowledged) {
  return acknowledged == kNothing ? step == 0 : step == acknowledged || step == acknowledged + 1;
}

// How partitions are loaded, and the number of lanes.
using Way = std::pair<Loading, std::uint64_t>;

class CrashStatesTest : public ::testing::TestWithParam<Way> {
 protected:
  // Checks one state that a cut can leave; returns what is wrong, or "".
  std::string Examine(const FolderContents& contents, std::uint64_t acknowledged) {
    ++states_;
    return verdicts_.Of(contents, acknowledged,
                        [this](const FolderContents& cut, std::uint64_t commits) { return ExamineNew(cut, commits); });
  }

  std::string ExamineNew(const FolderContents& contents, std::uint64_t acknowledged) {
    WriteFolder(cut_.path(), contents);
    const RunPaths paths(cut_.path());
    if (!contents.contains("STATE")) return acknowledged == kNothing ? "" : "the run is gone";
    // Nothing is cut here, so nothing need be synced.
    auto tables = RunTables::Open(paths, shape_, /*sync=*/false);
    if (!tables.ok()) return std::string(MessageOf(tables.status()));
    (*tables)->LoadBy(GetParam().first);
    const std::uint64_t step = (*tables)->progress().step;
    if (!MayStandAt(step, acknowledged)) return "it stands at step " + std::to_string(step);
    const auto open = ReadOpen(**tables);
    if (!open.ok()) return std::string(MessageOf(open.status()));
    if (*open != after_[step]) return "other rows than those of step " + std::to_string(step);
    if (step == kSteps) return "";
    if (const absl::Status status = TrainStep(**tables, step + 1, shape_); !status.ok())
      return std::string(MessageOf(status));
    const auto next = ReadCommitted(paths);
    if (!next.ok()) return std::string(MessageOf(next.status()));
    return *next == after_[step + 1] ? "" : "it continues to other rows";
  }

  // Cuts the power after each event. Returns the first error, or "".
  std::string Cut(const Recording& recording, std::size_t random_cuts) {
    CrashDisk disk(recording.before);
    for (std::size_t i = 0; i <= recording.events.size(); ++i) {
      RandomStream random(1, RandomPurpose::kSplit, 2, i);
      std::string wrong;
      ForEachCut(disk, random_cuts, random, [&](const FolderContents& contents) {
        if (wrong.empty()) wrong = Examine(contents, recording.acknowledged[i]);
      });
      if (!wrong.empty()) return "after event " + std::to_string(i) + ": " + wrong;
      if (i < recording.events.size()) disk.Apply(recording.events[i]);
    }
    return "";
  }

  // The same on a disk that ignores the syncs for which `forgets` returns true. What is not synced is lost there: all
  // of it, or all except one thing.
  std::string CutForgetful(const Recording& recording, const std::function<bool(const RecordedEvent&)>& forgets) {
    CrashDisk disk(recording.before);
    RandomStream random(1, RandomPurpose::kSplit, 2, 0);
    bool forgot = false;
    for (std::size_t i = 0; i < recording.events.size(); ++i) {
      const bool forgets_this = forgets(recording.events[i]);
      forgot |= forgets_this;
      if (!forgets_this) disk.Apply(recording.events[i]);
      if (!forgot) continue;
      for (std::size_t kept = 0; kept <= disk.unsynced(); ++kept) {
        const auto fate = [&](std::size_t k) {
          return k + 1 == kept ? CrashDisk::Fate::kKept : CrashDisk::Fate::kLost;
        };
        if (const std::string wrong = Examine(disk.Cut(fate, random), recording.acknowledged[i + 1]); !wrong.empty()) {
          return wrong;
        }
      }
    }
    return "";
  }

  // A whole run from nothing.
  Recording RecordRun() {
    const TemporaryFolder folder(FastPlace());
    return Record(folder.path(), kNothing, [&](const auto& acknowledge) {
      ASSERT_OK(TrainToTheEnd(RunPaths(folder.path()), shape_, /*sync=*/true, acknowledge, GetParam().first));
    });
  }

  static std::vector<Contents> AllContents(const RunShape& shape) {
    std::vector<Contents> all;
    for (std::uint64_t step = 0; step <= kSteps + 1; ++step) all.push_back(ContentsAfter(step, shape));
    return all;
  }

  const RunShape shape_ = SmallShape(GetParam().second);
  const std::vector<Contents> after_ = AllContents(shape_);
  const TemporaryFolder cut_{FastPlace()};
  std::size_t states_ = 0;
  CutVerdicts verdicts_;
};

TEST_P(CrashStatesTest, NoCutLosesACommit) {
  const Recording recording = RecordRun();
  EXPECT_EQ(Cut(recording, 2), "");
  EXPECT_GE(states_, 2000U);
  EXPECT_GE(verdicts_.size(), 1000U);
  std::printf("%zu states, %zu of them different, after %zu events\n", states_, verdicts_.size(),
              recording.events.size());
}

// The second cut comes while the run is opened after the first, or in the step that follows.
TEST_P(CrashStatesTest, NoSecondCutDoesEither) {
  const Recording recording = RecordRun();
  CrashDisk disk;
  RandomStream random(3, RandomPurpose::kSplit, 3, 0);
  std::size_t cuts = 0;
  for (std::size_t i = 0; i < recording.events.size(); ++i) {
    disk.Apply(recording.events[i]);
    if (i % 19 != 0) continue;
    const FolderContents first =
        disk.Cut([&](std::size_t) { return static_cast<CrashDisk::Fate>(random.Below(3)); }, random);
    if (!first.contains("STATE")) continue;
    const TemporaryFolder folder(FastPlace());
    WriteFolder(folder.path(), first);
    const std::uint64_t acknowledged = recording.acknowledged[i + 1];
    const Recording again = Record(folder.path(), acknowledged, [&](const auto& acknowledge) {
      ASSERT_OK_AND_ASSIGN(const auto tables, RunTables::Open(RunPaths(folder.path()), shape_, /*sync=*/true));
      tables->LoadBy(GetParam().first);
      // Opening rewrites and syncs the manifest that it chose: from then on that commit is durable.
      acknowledge(tables->progress().step);
      if (tables->progress().step == kSteps) return;
      ASSERT_OK(TrainStep(*tables, tables->progress().step + 1, shape_));
      acknowledge(tables->progress().step);
    });
    EXPECT_EQ(Cut(again, 1), "") << "first cut after event " << i;
    ++cuts;
  }
  EXPECT_GE(cuts, 6U);
}

// The model must find faults: a program that lacks one of its syncs loses something.
TEST_P(CrashStatesTest, EverySyncIsNeeded) {
  const Recording recording = RecordRun();
  std::map<std::string, int> syncs;
  for (const RecordedEvent& event : recording.events) {
    if (event.kind == Kind::kSync || event.kind == Kind::kSyncFolder) ++syncs[event.name];
  }
  std::vector<std::string> names = {
      "embeddings.npy", "embeddings.other.npy", "optimizer.npy",           "optimizer.other.npy",
      "relations.npy",  "relations.other.npy",  "relations.optimizer.npy", "relations.optimizer.other.npy",
      "STATE",          "STATE.partial"};
  if (GetParam().second > 1) {
    for (const std::string name : {"relations.lanes.npy", "relations.lanes.other.npy", "relations.lanes.optimizer.npy",
                                   "relations.lanes.optimizer.other.npy"}) {
      names.push_back(name);
    }
  }
  for (const std::string& name : names) {
    EXPECT_GT(syncs[name], 0) << name;
    const auto forgets = [&](const RecordedEvent& event) { return event.kind == Kind::kSync && event.name == name; };
    EXPECT_NE(CutForgetful(recording, forgets), "") << name;
  }
  EXPECT_GT(syncs[""], 0);
  const auto forgets = [](const RecordedEvent& event) { return event.kind == Kind::kSyncFolder; };
  EXPECT_NE(CutForgetful(recording, forgets), "");
}

INSTANTIATE_TEST_SUITE_P(Ways, CrashStatesTest,
                         ::testing::Values(Way{Loading::kMapped, 1}, Way{Loading::kDirect, 1},
                                           Way{Loading::kDirect, 2}),
                         [](const auto& way) {
                           return std::string(LoadingName(way.param.first)) + (way.param.second > 1 ? "_lanes" : "");
                         });

}  // namespace
}  // namespace octavo
