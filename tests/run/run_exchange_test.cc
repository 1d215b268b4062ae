// At every operation of a growth over a graph and its run, either the old pair or the new pair is intact.
#include "run/run_exchange.h"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "checkpoint/commit_copy.h"
#include "checkpoint/run_lock.h"
#include "gtest/gtest.h"
#include "io/atomic_file.h"
#include "io/failpoint.h"
#include "io/file.h"
#include "oneapi/tbb/global_control.h"
#include "run/run_configuration.h"
#include "run/run_folder.h"
#include "run/trained_run.h"
#include "tests/support/child_process.h"
#include "tests/train/warm_graphs.h"
#include "train/trainer.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

class RunExchange : public ::testing::Test {
 protected:
  RunExchange() {
    graphs_.TrainOld(TinyOptions());
    EXPECT_OK(Grow());
    unbroken_ = ReadRunBytes(run_.folder());
    for (const fs::path& folder : {graph_, run_.folder()}) fs::remove_all(folder);
    EXPECT_OK(Import({.inputs = {graphs_.old_graph().string() + ".tsv"}, .graph = graph_, .columns = kColumns}));
    TrainOptions other = TinyOptions();
    other.seed = 99;
    EXPECT_OK(StartRun(graph_, run_.folder(), other, false, {.memory = kPlenty}, {}));
    EXPECT_OK(CopyCommit(run_, run_.Best(), {.validation = {}, .event = "{\"event\":\"best\"}"}, /*sync=*/false));
    older_ = ReadRunBytes(run_.folder());
    fs::create_directory(graphs_ / "kept");
    for (const fs::path& folder : {graph_, run_.folder()}) {
      fs::copy(folder, graphs_ / "kept" / folder.filename(), fs::copy_options::recursive);
    }
  }
  void TearDown() override { EXPECT_OK(SetFailpoints("")); }

  // The older graph and run, and nothing else.
  void Begin() const {
    fs::remove_all(graphs_ / "pair");
    fs::copy(graphs_ / "kept", graphs_ / "pair", fs::copy_options::recursive);
  }
  // The steps of octavo grow, on both.
  absl::Status Grow() const {
    ASSIGN_OR_RETURN(RunFolder place, RunFolder::Take(run_.folder(), /*overwrite=*/true));
    std::optional<AtomicFolder> graph;
    RETURN_IF_ERROR(Import({.inputs = {graphs_.grown_graph().string() + ".tsv"},
                            .graph = graph_,
                            .overwrite = true,
                            .columns = kColumns},
                           nullptr, &graph)
                        .status());
    return GrowRun(*std::move(graph), std::move(place), TinyOptions(), {.memory = kPlenty}, {},
                   {.source = graphs_.run("source")})
        .status();
  }
  bool OlderStands() const { return OpenTrainedRun(run_.folder()).ok() && ReadRunBytes(run_.folder()) == older_; }
  // Continues after a stop, by the command that the error names, to the new pair alone; returns whether the older pair
  // was intact.
  bool GoOn() const {
    const bool older = OlderStands();
    if (older) {
      EXPECT_OK(Grow());
    } else {
      if (const auto run = OpenTrainedRun(run_.folder()); !run.ok()) {
        const std::string command = "octavo resume --run " + run_.folder().string();
        EXPECT_ERROR(run, kUsage, command);
        EXPECT_ERROR(CheckResume(run_.folder(), 0, {.memory = kPlenty}), kUsage, command);
      }
      EXPECT_OK(ResumeRun(run_.folder(), 0, {.memory = kPlenty}, {}));
    }
    EXPECT_OK(OpenTrainedRun(run_.folder()));
    EXPECT_TRUE(ReadRunBytes(run_.folder()) == unbroken_);
    EXPECT_EQ(std::distance(fs::directory_iterator(graphs_ / "pair"), {}), 2);
    EXPECT_FALSE(fs::exists(run_.Replacement().folder()));
    EXPECT_FALSE(fs::exists(run_.Best().folder()));
    return older;
  }

  static constexpr const char* kColumns = "head,relation,tail";
  const WarmGraphs graphs_;
  const fs::path graph_ = graphs_ / "pair/graph";
  const RunPaths run_{graphs_ / "pair/run"};
  RunBytes older_, unbroken_;
};

// The graph was replaced first, and the older run lacked its graph until the new run was installed.
// Later, once the older run's STATE was gone, its best run was taken for that of another run: no command could go on.
TEST_F(RunExchange, AKillLeavesTheOlderPairOrTheNewOne) {
  for (const std::string place :
       {"run.lock", "partial.lock", "initial.rows", "initial.state", "initial.seal", "folder.commit", "replace.P1",
        "replace.P2", "replace.P3", "replace.P4", "restart.R2", "train.batch"}) {
    SCOPED_TRACE(place);
    Begin();
    const ChildEnd end = RunChild([&] {
      const oneapi::tbb::global_control serial(oneapi::tbb::global_control::max_allowed_parallelism, 1);
      if (!SetFailpoints(place + "=kill").ok()) return 2;
      return Grow().ok() ? 0 : 1;
    });
    ASSERT_EQ(end.signal, SIGKILL) << end.code;
    EXPECT_EQ(GoOn(), !place.starts_with("replace") && !place.starts_with("restart") && !place.starts_with("train"));
  }
}

// The graph was exchanged. The new run was then considered undecided if the older run was trained on another graph, or
// if there was none.
TEST_F(RunExchange, TheOlderRunIsNotAsked) {
  for (const std::string older : {"of another graph", "torn", "without a commit", "none"}) {
    for (const std::string place :
         {"initial.state", "initial.seal", "folder.commit", "replace.P1", "replace.P2", "replace.P3", "replace.P4"}) {
      SCOPED_TRACE(older + ", " + place);
      Begin();
      if (older == "none" || older == "without a commit") fs::remove_all(run_.folder());
      if (older == "without a commit") {
        fs::create_directory(run_.folder());
        fs::copy(graphs_ / "kept/run/run.json", run_.Configuration());
      }
      if (older == "torn") {
        ASSERT_OK(WriteWholeFileAtomically(run_.Configuration(), "{"));
      }
      if (older == "of another graph") {
        ASSERT_OK_AND_ASSIGN(RunConfiguration configuration, ReadRunConfiguration(run_.Configuration()));
        configuration.graph = graphs_.old_graph();
        ASSERT_OK(WriteRunConfiguration(run_.Configuration(), configuration));
      }
      const ChildEnd end = RunChild([&] {
        const oneapi::tbb::global_control serial(oneapi::tbb::global_control::max_allowed_parallelism, 1);
        if (!SetFailpoints(place + "=kill").ok()) return 2;
        return Grow().ok() ? 0 : 1;
      });
      ASSERT_EQ(end.signal, SIGKILL) << end.code;
      if (place.starts_with("replace")) {
        EXPECT_OK(ResumeRun(run_.folder(), 0, {.memory = kPlenty}, {}));
      } else {
        EXPECT_EQ(fs::exists(run_.State()), older != "none" && older != "without a commit");
        EXPECT_OK(Grow());
      }
      EXPECT_TRUE(ReadRunBytes(run_.folder()) == unbroken_);
      EXPECT_FALSE(fs::exists(run_.Replacement().folder()));
    }
  }
}

// The new run was removed after the older graph had already been replaced.
TEST_F(RunExchange, AGraphThatIsNotThereDecidesNothing) {
  Begin();
  ASSERT_EQ(RunChild([&] { return SetFailpoints("replace.P1=kill").ok() && Grow().ok() ? 0 : 1; }).signal, SIGKILL);
  fs::rename(graph_, graphs_ / "elsewhere");
  EXPECT_ERROR(ResumeRun(run_.folder(), 0, {.memory = kPlenty}, {}), kUsage, "graph: found no graph; expected that of");
  fs::rename(graphs_ / "elsewhere", graph_);
  EXPECT_OK(ResumeRun(run_.folder(), 0, {.memory = kPlenty}, {}));
  EXPECT_TRUE(ReadRunBytes(run_.folder()) == unbroken_);
}

// The new run was removed because another graph had its name, when the older run was already gone.
TEST_F(RunExchange, TheOnlyRunStaysIfAnotherGraphHasItsName) {
  for (const std::string place : {"replace.P2", "replace.P3"}) {
    SCOPED_TRACE(place);
    Begin();
    ASSERT_EQ(RunChild([&] { return SetFailpoints(place + "=kill").ok() && Grow().ok() ? 0 : 1; }).signal, SIGKILL);
    fs::rename(graph_, graphs_ / "elsewhere");
    fs::copy(graphs_ / "kept/graph", graph_, fs::copy_options::recursive);
    EXPECT_EQ(StageOfReplacement(run_).value(), ReplacementStage::kDecided);
    EXPECT_ERROR(ResumeRun(run_.folder(), 0, {.memory = kPlenty}, {}), kUsage,
                 "graph: found another graph; expected that of");
    EXPECT_ERROR(CheckSettled(run_), kUsage, "put it back; the older run is gone");
    fs::remove_all(graph_);
    fs::rename(graphs_ / "elsewhere", graph_);
    EXPECT_OK(ResumeRun(run_.folder(), 0, {.memory = kPlenty}, {}));
    EXPECT_TRUE(ReadRunBytes(run_.folder()) == unbroken_);
  }
}

TEST_F(RunExchange, ADiskThatFailsLeavesTheOlderPairOrTheNewOne) {
  for (const std::string place : {"folder.commit", "folder.sync", "file.rename", "replace.P1", "replace.P3"}) {
    int older = 0;
    int newer = 0;
    int successes = 0;  // in a row: what is done at best effort fails without an error
    for (int n = 1; successes < 3; ++n) {
      SCOPED_TRACE(place + ":" + std::to_string(n));
      Begin();
      ASSERT_OK(SetFailpoints(place + ":" + std::to_string(n) + "=eio"));
      const absl::Status status = Grow();
      ASSERT_OK(SetFailpoints(""));
      successes = status.ok() ? successes + 1 : 0;
      if (!status.ok()) ++(GoOn() ? older : newer);
    }
    EXPECT_EQ(older > 0, place != "replace.P1" && place != "replace.P3") << place;
    EXPECT_EQ(newer > 0, place != "folder.commit") << place;
  }
}

TEST_F(RunExchange, WhatIsLeftOfOneThatWasNotDecidedGoes) {
  Begin();
  EXPECT_EQ(StageOfReplacement(run_).value(), ReplacementStage::kNone);
  fs::copy(graphs_.run("source"), run_.Replacement().folder());
  EXPECT_EQ(StageOfReplacement(run_).value(), ReplacementStage::kMaking) << "it has another graph";
  EXPECT_OK(CheckSettled(run_));
  ASSERT_OK(SettleRun(run_));
  EXPECT_TRUE(OlderStands());
  EXPECT_EQ(StageOfReplacement(run_).value(), ReplacementStage::kNone);
}

// The lock was released before the import, which removed the graph of a training that had begun meanwhile.
TEST_F(RunExchange, APlaceIsLockedAndLeavesNothing) {
  Begin();
  {
    ASSERT_OK_AND_ASSIGN(const RunFolder place, RunFolder::Take(run_.folder(), /*overwrite=*/true));
    EXPECT_TRUE(place.has_older());
    EXPECT_ERROR(RunFolder::Take(run_.folder(), true), kBusy, "in use");
    EXPECT_ERROR(ResumeRun(run_.folder(), 5, {.memory = kPlenty}, {}), kBusy, "in use");
  }
  EXPECT_TRUE(OlderStands());
  EXPECT_ERROR(RunFolder::Take(run_.folder(), /*overwrite=*/false), kUsage, "has a run");
  {
    ASSERT_OK_AND_ASSIGN(const RunLock best, RunLock::Take(run_.Best().Lock()));
    EXPECT_ERROR(RunFolder::Take(run_.folder(), true), kBusy, "best");
  }
  { ASSERT_OK_AND_ASSIGN(const RunFolder place, RunFolder::Take(graphs_ / "new/deep/run", false)); }
  EXPECT_FALSE(fs::exists(graphs_ / "new"));
  {
    ASSERT_OK_AND_ASSIGN(RunFolder place, RunFolder::Take(graphs_ / "new/run", false));
    place.Keep();
  }
  EXPECT_TRUE(fs::exists(graphs_ / "new/run/LOCK"));
}

}  // namespace
}  // namespace octavo
