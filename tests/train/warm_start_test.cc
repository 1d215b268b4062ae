// Warm starts: which rows a run starts with, and which it keeps.
#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/state_file.h"
#include "export/vector_formats.h"
#include "gtest/gtest.h"
#include "io/checksum.h"
#include "io/failpoint.h"
#include "io/file_events.h"
#include "nlohmann/json.hpp"
#include "oneapi/tbb/global_control.h"
#include "run/initial_vectors.h"
#include "run/run_configuration.h"
#include "run/trained_edges.h"
#include "run/verify_run.h"
#include "tests/support/child_process.h"
#include "tests/support/heap_peak.h"
#include "tests/train/warm_graphs.h"
#include "train/memory_estimate.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

TrainOptions WarmOptions() {
  TrainOptions options = TinyOptions();
  options.reciprocal = true;
  options.optimizer = OptimizerKind::kAdagrad;
  return options;
}

// Freezing, and edges of new nodes.
TrainOptions FrozenOptions() {
  TrainOptions options = WarmOptions();
  options.freeze = Freeze::kOld;
  options.edges = TrainEdges::kNew;
  return options;
}

class WarmStart : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_OK(SetFailpoints("")); }

  // The initial tables of a run: it is stopped before its first batch.
  NamedTables Begin(const TrainOptions& options, const InitialSource& init, InitialEvent* event = nullptr) {
    std::atomic<int> stop = init.given() ? 0 : 1;
    fs::remove_all(graphs_.run("begun"));
    EXPECT_OK(StartRun(graphs_.grown_graph(), graphs_.run("begun"), options, false, {.memory = kPlenty, .stop = &stop},
                       {.on_initial =
                            [&](const InitialEvent& e) {
                              stop = 1;
                              if (event != nullptr) *event = e;
                            }},
                       init));
    return TablesOf(graphs_.run("begun"), graphs_.grown_graph(), options.reciprocal);
  }
  NamedTables Source(bool reciprocal = true) const {
    return TablesOf(graphs_.run("source"), graphs_.old_graph(), reciprocal);
  }

  const WarmGraphs graphs_;
};

TEST_F(WarmStart, TakesOverRowsByNameAndBeginsTheOthersAsEver) {
  graphs_.TrainOld(WarmOptions());
  InitialEvent event;
  const NamedTables fresh = Begin(WarmOptions(), {});
  const NamedTables begun = Begin(WarmOptions(), {.source = graphs_.run("source")}, &event);
  const NamedTables source = Source();
  EXPECT_EQ(Compare(begun.embeddings, source.embeddings), (Shared{29, 29}));
  EXPECT_EQ(Compare(begun.optimizer, source.optimizer), (Shared{29, 29}));
  EXPECT_EQ(Compare(begun.relations, source.relations), (Shared{4, 4}));
  EXPECT_EQ(Compare(begun.relation_optimizer, source.relation_optimizer), (Shared{4, 4}));
  EXPECT_EQ(Compare(begun.embeddings, fresh.embeddings), (Shared{39, 10}));
  EXPECT_EQ(Compare(begun.optimizer, fresh.optimizer), (Shared{39, 10}));
  EXPECT_EQ(Compare(begun.relations, fresh.relations), (Shared{6, 2}));
  EXPECT_EQ(event.vectors, 30U);
  EXPECT_EQ(event.nodes, 29U);
  EXPECT_EQ(event.all_nodes, 39U);
  EXPECT_EQ(event.relation_rows, 4U);
  EXPECT_TRUE(event.optimizer_state);
  ASSERT_OK_AND_ASSIGN(const RunConfiguration configuration,
                       ReadRunConfiguration(RunPaths(graphs_.run("begun")).Configuration()));
  EXPECT_EQ(configuration.init.source, graphs_.run("source"));
  const auto line = nlohmann::json::parse(FileBytes(RunPaths(graphs_.run("begun")).Metrics()));
  EXPECT_EQ(line["event"], "init");
  EXPECT_EQ(line["nodes"], 29);
  CheckReport report;
  ASSERT_OK(VerifyRun(graphs_.run("begun"), {}, report));
  EXPECT_EQ(report.damage_count(), 0U);
}

TEST_F(WarmStart, TakesOverTheStateWhereTheOptimizerIsTheSame) {
  graphs_.TrainOld(WarmOptions());
  const NamedTables fresh = Begin(WarmOptions(), {});
  const NamedTables none = Begin(WarmOptions(), {.source = graphs_.run("source"), .optimizer_state = false});
  EXPECT_EQ(none.optimizer, fresh.optimizer);
  EXPECT_EQ(none.relation_optimizer, fresh.relation_optimizer);
  EXPECT_EQ(Compare(none.embeddings, Source().embeddings), (Shared{29, 29}));
  TrainOptions other = WarmOptions();
  other.optimizer = OptimizerKind::kRowAdagrad;
  InitialEvent event;
  const NamedTables begun = Begin(other, {.source = graphs_.run("source")}, &event);
  EXPECT_FALSE(event.optimizer_state);
  EXPECT_EQ(begun.optimizer.at("n1"), std::string(4, '\0'));
}

// Adam's estimates keep their age: the number of updates is copied with them.
TEST_F(WarmStart, GoesOnCountingAdamsUpdates) {
  TrainOptions options = WarmOptions();
  options.optimizer = OptimizerKind::kAdam;
  graphs_.TrainOld(options);
  Begin(options, {.source = graphs_.run("source")});
  ASSERT_OK_AND_ASSIGN(const Manifest source, ReadNewestManifest(RunPaths(graphs_.run("source")).State()));
  ASSERT_OK_AND_ASSIGN(const Manifest begun, ReadNewestManifest(RunPaths(graphs_.run("begun")).State()));
  EXPECT_GT(source.header.progress.step, 0U);
  EXPECT_EQ(begun.header.progress.step, source.header.progress.step);
}

TEST_F(WarmStart, RelationsOfAnotherModelOrWithoutInversesBeginAnew) {
  TrainOptions options = WarmOptions();
  options.reciprocal = false;
  graphs_.TrainOld(options);
  const NamedTables fresh = Begin(WarmOptions(), {});
  const NamedTables begun = Begin(WarmOptions(), {.source = graphs_.run("source")});
  EXPECT_EQ(Compare(begun.relations, Source(false).relations), (Shared{2, 2}));
  EXPECT_EQ(begun.relations.at("r0^-1"), fresh.relations.at("r0^-1"));
  options.model = ModelKind::kDistMult;
  InitialEvent event;
  const NamedTables other = Begin(options, {.source = graphs_.run("source")}, &event);
  EXPECT_EQ(event.relation_rows, 0U);
  EXPECT_EQ(Compare(other.embeddings, Source(false).embeddings), (Shared{29, 29}));
}

TEST_F(WarmStart, StorageMayDiffer) {
  TrainOptions words = WarmOptions();
  words.storage = NpyElement::kBfloat16;
  graphs_.TrainOld(words);
  EXPECT_EQ(Compare(Begin(words, {.source = graphs_.run("source")}).embeddings, Source().embeddings), (Shared{29, 29}));
  const NamedTables floats = Begin(WarmOptions(), {.source = graphs_.run("source")});
  for (const auto& [name, bytes] : Source().embeddings) {
    if (name == "n0") continue;
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_EQ(floats.embeddings.at(name).substr(4 * i, 4), std::string(2, '\0') + bytes.substr(2 * i, 2)) << name;
    }
  }
}

// By the same values in three formats, with memory for all of them or for few.
TEST_F(WarmStart, TakesVectorsOfFiles) {
  std::vector<std::string> names;
  std::vector<std::vector<float>> rows;
  NamedRows expected;
  RandomStream random(1, RandomPurpose::kSplit, 0, 0);
  for (int i = 5; i < 3000; ++i) {
    names.push_back(fmt::format("n{}", i));
    rows.emplace_back(8);
    for (float& value : rows.back()) value = random.NextNormal();
    expected[names.back()] = {reinterpret_cast<const char*>(rows.back().data()), 32};
  }
  const NamedTables fresh = Begin(WarmOptions(), {});
  for (const VectorFormat format : {VectorFormat::kNpy, VectorFormat::kWord2Vec, VectorFormat::kWord2VecBinary}) {
    ASSERT_OK_AND_ASSIGN(std::string text, VectorHeader(format, VectorElement::kFloat32, rows.size(), 8));
    std::string lines;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      AppendVector(format, names[i], rows[i], text);
      lines += names[i] + "\n";
    }
    WriteFileBytes(graphs_ / "vectors", text);
    WriteFileBytes(graphs_ / "names", lines);
    const fs::path names_file = format == VectorFormat::kNpy ? graphs_ / "names" : fs::path();
    InitialEvent event;
    const NamedTables begun = Begin(WarmOptions(), {.source = graphs_ / "vectors", .names = names_file}, &event);
    EXPECT_EQ(Compare(begun.embeddings, expected), (Shared{35, 35})) << VectorFormatName(format);
    EXPECT_EQ(Compare(begun.embeddings, fresh.embeddings), (Shared{39, 4}));
    EXPECT_EQ(begun.relations, fresh.relations);
    EXPECT_EQ(begun.optimizer, fresh.optimizer);
    EXPECT_EQ(event.nodes, 35U);
    EXPECT_EQ(event.vectors, rows.size());
  }
}

// Every optimizer, schedule and storage, with several partitions and with commits and resumes in between.
TEST(FrozenRows, StayBitForBit) {
  const WarmGraphs graphs(2400, 2600);
  int round = 0;
  for (const OptimizerKind optimizer :
       {OptimizerKind::kAdagrad, OptimizerKind::kAdam, OptimizerKind::kSgd, OptimizerKind::kRowAdagrad}) {
    TrainOptions options = WarmOptions();
    options.optimizer = optimizer;
    options.batch = 400;
    options.chunk = 100;
    options.partitions = 3;
    options.resident = 2;
    options.regularizer = RegularizerKind::kN3;
    options.regularization = 0.01;
    if (round % 2 == 1) options.storage = NpyElement::kBfloat16;
    if (round == 1) options.chunk = options.batch;
    if (round == 2) options.schedule = Schedule::kAsync;
    if (round == 3) options.accumulate = 2;
    graphs.TrainOld(options);
    const NamedTables source = TablesOf(graphs.run("source"), graphs.old_graph(), true);
    options.freeze = Freeze::kOld;
    options.edges = round % 2 == 0 ? TrainEdges::kNew : TrainEdges::kAll;
    NamedTables unbroken;
    for (const bool broken : {false, true}) {
      SCOPED_TRACE(fmt::format("round {}, broken {}", round, broken));
      const std::string run = fmt::format("run{}{}", round, broken);
      std::atomic<int> stop = 0;
      const TrainSettings settings = {.memory = kPlenty, .stop = &stop};
      const TrainCallbacks callbacks = {.on_batch = [&](const TrainProgress&) { stop = broken ? 1 : 0; }};
      ASSERT_OK_AND_ASSIGN(TrainOutcome outcome, graphs.Grow(options, run, settings, callbacks));
      int resumes = 0;
      for (; !outcome.finished; ++resumes) {
        stop = 0;
        ASSERT_OK_AND_ASSIGN(outcome, ResumeRun(graphs.run(run), 0, settings, callbacks));
      }
      EXPECT_EQ(resumes > 2, broken);
      const NamedTables tables = TablesOf(graphs.run(run), graphs.grown_graph(), true);
      EXPECT_EQ(Compare(tables.embeddings, source.embeddings), (Shared{2399, 2399}));
      EXPECT_EQ(Compare(tables.optimizer, source.optimizer), (Shared{2399, 2399}));
      EXPECT_EQ(Compare(tables.relations, source.relations), (Shared{4, 4}));
      EXPECT_EQ(Compare(tables.relation_optimizer, source.relation_optimizer), (Shared{4, 4}));
      EXPECT_TRUE(!broken || options.schedule == Schedule::kAsync || tables == unbroken);
      if (!broken) unbroken = tables;
      EXPECT_FALSE(fs::exists(RunPaths(graphs.run(run)).TrainedEdges()));
    }
    ++round;
  }
}

TEST_F(WarmStart, NewRowsAreTrainedAndOldOnesWithoutFreezing) {
  graphs_.TrainOld(WarmOptions());
  const NamedTables begun = Begin(WarmOptions(), {.source = graphs_.run("source")});
  ASSERT_OK(graphs_.Grow(FrozenOptions(), "frozen"));
  const NamedTables frozen = TablesOf(graphs_.run("frozen"), graphs_.grown_graph(), true);
  EXPECT_EQ(Compare(frozen.embeddings, begun.embeddings), (Shared{39, 29}));
  EXPECT_EQ(Compare(frozen.relations, begun.relations), (Shared{6, 4}));
  ASSERT_OK(graphs_.Grow(WarmOptions(), "free"));
  const NamedTables free = TablesOf(graphs_.run("free"), graphs_.grown_graph(), true);
  EXPECT_EQ(Compare(free.embeddings, begun.embeddings), (Shared{39, 0}));
}

TEST_F(WarmStart, HasTheSameBitsForAnyNumberOfThreads) {
  graphs_.TrainOld(WarmOptions());
  RunBytes one;
  for (const std::size_t threads : {1U, 2U, 7U}) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
    const std::string run = fmt::format("run{}", threads);
    ASSERT_OK(graphs_.Grow(FrozenOptions(), run));
    if (threads == 1) one = ReadRunBytes(graphs_.run(run));
    EXPECT_TRUE(ReadRunBytes(graphs_.run(run)) == one) << threads;
  }
}

// Killed at each point between the folder and the first commits: started again or resumed, it equals the uninterrupted
// run.
TEST_F(WarmStart, AKillLosesNothing) {
  graphs_.TrainOld(WarmOptions());
  ASSERT_OK(graphs_.Grow(FrozenOptions(), "unbroken"));
  const RunBytes unbroken = ReadRunBytes(graphs_.run("unbroken"));
  const auto events = LinesOf(RunPaths(graphs_.run("unbroken")).Metrics()).size();
  for (const std::string place :
       {"initial.rows", "initial.state", "initial.seal", "commit.C1", "commit.C5", "train.batch"}) {
    SCOPED_TRACE(place);
    const ChildEnd end = RunChild([&] {
      const oneapi::tbb::global_control serial(oneapi::tbb::global_control::max_allowed_parallelism, 1);
      if (!SetFailpoints(place + ":1=kill").ok()) return 2;
      return graphs_.Grow(FrozenOptions(), "run").ok() ? 0 : 1;
    });
    ASSERT_EQ(end.signal, SIGKILL) << end.code;
    const bool begun = fs::exists(RunPaths(graphs_.run("run")).State());
    EXPECT_EQ(begun, !place.starts_with("initial"));
    ASSERT_OK(begun ? ResumeRun(graphs_.run("run"), 0, {.memory = kPlenty}, {}) : graphs_.Grow(FrozenOptions(), "run"));
    EXPECT_TRUE(ReadRunBytes(graphs_.run("run")) == unbroken);
    EXPECT_EQ(LinesOf(RunPaths(graphs_.run("run")).Metrics()).size(), events);
    fs::remove_all(graphs_.run("run"));
  }
  // A failing disk is an error, and everything created is removed.
  for (const std::string place : {"initial.rows", "initial.state", "initial.seal"}) {
    ASSERT_OK(SetFailpoints(place + ":1=eio"));
    EXPECT_ERROR(graphs_.Grow(FrozenOptions(), "run"), kRuntime, place);
    ASSERT_OK(SetFailpoints(""));
    EXPECT_FALSE(fs::exists(RunPaths(graphs_.run("run")).KnownRows()));
    EXPECT_FALSE(fs::exists(RunPaths(graphs_.run("run")).Table(TableName::kEmbeddings, 0)));
    EXPECT_OK(graphs_.Grow(FrozenOptions(), "run"));
    fs::remove_all(graphs_.run("run"));
  }
}

TEST_F(WarmStart, RefusesWhatDoesNotFit) {
  graphs_.TrainOld(WarmOptions());
  TrainOptions options = WarmOptions();
  options.dim = 10;
  EXPECT_ERROR(graphs_.Grow(options, "run"), kUsage, "source: vectors of 8 numbers; expected 10");
  const auto start = [&](const TrainOptions& o, const std::string& run, bool overwrite, const InitialSource& init) {
    return StartRun(graphs_.grown_graph(), graphs_.run(run), o, overwrite, {.memory = kPlenty}, {}, init);
  };
  EXPECT_ERROR(start(FrozenOptions(), "run", false, {}), kUsage, "freeze old has no meaning without --init");
  TrainOptions edges = WarmOptions();
  edges.edges = TrainEdges::kNew;
  EXPECT_ERROR(start(edges, "run", false, {}), kUsage, "edges new has no meaning without --init");
  EXPECT_ERROR(start(WarmOptions(), "source", true, {.source = graphs_.run("source")}), kUsage, "another folder");
  EXPECT_ERROR(start(WarmOptions(), "run", false, {.source = graphs_.old_graph()}), kUsage, "");
  EXPECT_ERROR(start(WarmOptions(), "run", false, {.source = graphs_.run("source"), .names = "names"}), kUsage,
               "names");
  EXPECT_FALSE(fs::exists(graphs_.run("run")));
  // Every node and relation is old.
  EXPECT_ERROR(StartRun(graphs_.old_graph(), graphs_.run("run"), FrozenOptions(), false, {.memory = kPlenty}, {},
                        {.source = graphs_.run("source")}),
               kUsage, "expected edges all");
  // It was noticed after the first commit, which left a run without a batch.
  EXPECT_FALSE(fs::exists(RunPaths(graphs_.run("run")).State()));
  EXPECT_FALSE(fs::exists(RunPaths(graphs_.run("run")).TrainedEdges()));
  WriteFileBytes(graphs_ / "twice", "3 8\nn1 1 1 1 1 1 1 1 1\nn2 1 1 1 1 1 1 1 1\nn1 2 2 2 2 2 2 2 2\n");
  EXPECT_ERROR(start(WarmOptions(), "run", true, {.source = graphs_ / "twice"}), kInput,
               "twice:4: found \"n1\" again, first at " + (graphs_ / "twice").string() + ":2");
}

// The older run was removed before the source was read.
TEST_F(WarmStart, AnOlderRunStandsUntilTheNewOneDoes) {
  graphs_.TrainOld(WarmOptions());
  ASSERT_OK(graphs_.Grow(FrozenOptions(), "unbroken"));
  const RunBytes unbroken = ReadRunBytes(graphs_.run("unbroken"));
  TrainOptions other = WarmOptions();
  other.seed = 99;
  const RunPaths run(graphs_.run("run"));
  const auto begin_older = [&] {
    fs::remove_all(run.folder());
    ASSERT_OK(StartRun(graphs_.grown_graph(), run.folder(), other, false, {.memory = kPlenty}, {}));
    WriteFileBytes(run.folder() / "diary", "mine");
  };
  const auto overwrite = [&](const InitialSource& init) {
    return StartRun(graphs_.grown_graph(), run.folder(), FrozenOptions(), true, {.memory = kPlenty}, {}, init);
  };
  const InitialSource source = {.source = graphs_.run("source")};
  begin_older();
  const RunBytes older = ReadRunBytes(run.folder());
  const auto expect_older = [&] {
    EXPECT_TRUE(ReadRunBytes(run.folder()) == older);
    EXPECT_FALSE(fs::exists(run.Replacement().folder()));
    CheckReport report;
    ASSERT_OK(VerifyRun(run.folder(), {}, report));
    EXPECT_EQ(report.damage_count(), 0U);
  };
  const std::string row = " 1 1 1 1 1 1 1 1\n";
  for (const auto& [text, wrong] : {std::pair("3 8\nn1" + row + "n2" + row + "n1" + row, " again, first at "),
                                    std::pair("2 8\nn1" + row + "n2 1 1 1 1 1 1 1 nan\n", "expected a finite number"),
                                    std::pair("3 8\nn1" + row + "n2" + row, "expected 3 vectors")}) {
    WriteFileBytes(graphs_ / "vectors", text);
    EXPECT_ERROR(overwrite({.source = graphs_ / "vectors"}), kInput, wrong);
    expect_older();
  }
  for (const std::string place : {"initial.rows", "initial.state", "initial.seal", "file.allocate"}) {
    ASSERT_OK(SetFailpoints(place + ":1=enospc"));
    EXPECT_ERROR(overwrite(source), kRuntime, "");
    ASSERT_OK(SetFailpoints(""));
    expect_older();
  }
  for (const std::string place : {"initial.rows", "initial.seal", "replace.P1", "replace.P2", "replace.P3",
                                  "replace.P4", "restart.R2", "train.batch"}) {
    SCOPED_TRACE(place);
    begin_older();
    const ChildEnd end = RunChild([&] {
      const oneapi::tbb::global_control serial(oneapi::tbb::global_control::max_allowed_parallelism, 1);
      if (!SetFailpoints(place + ":1=kill").ok()) return 2;
      return overwrite(source).ok() ? 0 : 1;
    });
    ASSERT_EQ(end.signal, SIGKILL) << end.code;
    if (place.starts_with("initial") || place == "replace.P1") {
      EXPECT_TRUE(ReadRunBytes(run.folder()) == older);
      ASSERT_OK(overwrite(source));
    } else {
      ASSERT_OK(ResumeRun(run.folder(), 0, {.memory = kPlenty}, {}));
    }
    EXPECT_TRUE(ReadRunBytes(run.folder()) == unbroken);
    EXPECT_FALSE(fs::exists(run.Replacement().folder()));
    EXPECT_EQ(FileBytes(run.folder() / "diary"), "mine");
  }
}

TEST_F(WarmStart, EndsBeforeItsFirstCommitWhereItIsToldToStop) {
  graphs_.TrainOld(WarmOptions());
  std::atomic<int> stop = SIGINT;
  EXPECT_TRUE(absl::IsCancelled(graphs_.Grow(FrozenOptions(), "run", {.memory = kPlenty, .stop = &stop}).status()));
  EXPECT_FALSE(fs::exists(RunPaths(graphs_.run("run")).State()));
  EXPECT_FALSE(fs::exists(RunPaths(graphs_.run("run")).Table(TableName::kEmbeddings, 0)));
  EXPECT_OK(graphs_.Grow(FrozenOptions(), "run"));
}

// In its first epoch a warm start has only the event of its start, and was treated as a run that had trained nothing.
TEST_F(WarmStart, ARunWhoseStateIsLostIsLeftAlone) {
  graphs_.TrainOld(WarmOptions());
  std::atomic<int> stop = 0;
  ASSERT_OK_AND_ASSIGN(const TrainOutcome outcome,
                       graphs_.Grow(FrozenOptions(), "run", {.memory = kPlenty, .stop = &stop},
                                    {.on_batch = [&](const TrainProgress&) { stop = 1; }}));
  EXPECT_EQ(outcome.epochs_done, 0U);
  const RunPaths run(graphs_.run("run"));
  fs::remove(run.State());
  const std::string rows = FileBytes(run.Table(TableName::kEmbeddings, 1));
  EXPECT_ERROR(graphs_.Grow(FrozenOptions(), "run"), kUsage, "does not belong to a run");
  EXPECT_EQ(FileBytes(run.Table(TableName::kEmbeddings, 1)), rows);
}

TEST_F(WarmStart, CountsTheRelationsInItsMemory) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += fmt::format("a\tr{}\tb\n", i);
  WriteFileBytes(graphs_ / "many.tsv", text);
  ASSERT_OK(Import({.inputs = {graphs_ / "many.tsv"}, .graph = graphs_ / "many"}));
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(graphs_ / "many"));
  std::string row = "a";
  for (int i = 0; i < 64; ++i) row += " 1";
  WriteFileBytes(graphs_ / "vectors", "1 64\n" + row + "\n");
  TrainOptions options = WarmOptions();
  options.dim = 64;
  const RunPaths paths(graphs_.run("run"));
  const auto open = [&](std::uint64_t memory) {
    return InitialVectors::Open({.source = graphs_ / "vectors"}, *graph, options, memory, paths);
  };
  // Rows and state of 40,000 relation rows: 20,480,000 bytes. The estimate lacked the program and the buffers.
  EXPECT_ERROR(open(std::uint64_t{70} << 20), kUsage, "for the relations of both sides");
  EXPECT_OK(open(std::uint64_t{80} << 20));
}

// The sorted embeddings were held while the optimizer state was read.
TEST_F(WarmStart, HoldsOneTableAtATime) {
  const WarmGraphs graphs(6000, 6100);
  // The order of another seed, so that rows have to be sorted.
  const auto second_seed = [](std::string_view name, std::uint64_t seed) {
    return seed == 0 ? 0 : HashName(name, seed);
  };
  ASSERT_OK(Import({.inputs = {graphs.old_graph().string() + ".tsv"},
                    .graph = graphs / "seeded",
                    .columns = "head,relation,tail",
                    .node_hash = second_seed}));
  TrainOptions options = WarmOptions();
  options.dim = 64;
  options.batch = 7000;
  options.chunk = 1000;
  options.epochs = 1;
  ASSERT_OK(StartRun(graphs / "seeded", graphs.run("source"), options, false, {.memory = kPlenty}, {}));
  ASSERT_OK_AND_ASSIGN(const auto grown, Graph::Open(graphs.grown_graph()));
  ASSERT_NE(grown->nodes().hash_seed(), 1U);
  const RunPaths paths(graphs / "");
  const HeapPeak peak;
  ASSERT_OK_AND_ASSIGN(const auto vectors,
                       InitialVectors::Open({.source = graphs.run("source")}, *grown, options, kPlenty, paths));
  std::vector<float> rows(grown->node_count() * 64);
  ASSERT_OK(vectors->CopyEmbeddings(0, rows));
  const std::uint64_t embeddings = peak.bytes();
  if (embeddings == 0) GTEST_SKIP() << "a sanitizer has its own operator new";
  ASSERT_OK(vectors->CopyOptimizer(0, rows));
  EXPECT_LT(peak.bytes(), embeddings + 200'000);
  EXPECT_GT(embeddings, 3'000'000U);
  ASSERT_OK_AND_ASSIGN(const InitialEvent event, vectors->Finish());
  EXPECT_EQ(event.nodes, 5999U);
  EXPECT_EQ(event.vectors, 6000U);
}

// The events of the files that a replacement moves, and those of them that were not on the disk then.
class MovedUnsynced : public FileListener {
 public:
  explicit MovedUnsynced(const RunPaths& from) : from_(from) { SetFileListener(this); }
  ~MovedUnsynced() override { SetFileListener(nullptr); }
  void OnFileEvent(const FileEvent& event) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    using Kind = FileEvent::Kind;
    if (event.kind == Kind::kCreate || event.kind == Kind::kWrite || event.kind == Kind::kTruncate) {
      unsynced_.insert(event.path);
    } else if (event.kind == Kind::kSync) {
      unsynced_.erase(event.path);
    } else if (event.kind == Kind::kRename && event.path.parent_path() == from_.folder()) {
      if (event.to.parent_path() == from_.folder()) {
        if (unsynced_.erase(event.path) > 0) unsynced_.insert(event.to);
      } else {
        ++moved_;
        if (unsynced_.contains(event.path)) found_.push_back(event.path.filename());
      }
    }
  }
  std::size_t moved() const { return moved_; }
  // Except scratch, and second slots, which no manifest names yet.
  std::vector<std::string> found() const {
    std::vector<std::string> found;
    for (const std::string& name : found_) {
      const fs::path path = from_.folder() / name;
      const bool scratch = path == from_.Gradients() || path == from_.TrainedEdges() || path == from_.Beginning();
      if (!scratch && !name.ends_with(".other.npy")) found.push_back(name);
    }
    return found;
  }

 private:
  const RunPaths from_;
  std::mutex mutex_;
  std::set<fs::path> unsynced_;
  std::vector<std::string> found_;
  std::size_t moved_ = 0;
};

// With --durability process the new run was not synced, and a power cut would have taken both runs.
TEST_F(WarmStart, WhatTakesTheirPlaceIsOnTheDiskBeforeOlderFilesGo) {
  graphs_.TrainOld(WarmOptions());
  ASSERT_EQ(FrozenOptions().durability, Durability::kProcess);
  ASSERT_OK(graphs_.Grow(FrozenOptions(), "run"));
  const MovedUnsynced listener(RunPaths(graphs_.run("run")).Replacement());
  ASSERT_OK(StartRun(graphs_.grown_graph(), graphs_.run("run"), FrozenOptions(), true, {.memory = kPlenty}, {},
                     {.source = graphs_.run("source")}));
  EXPECT_GE(listener.moved(), 8U);
  EXPECT_EQ(listener.found(), std::vector<std::string>());
}

// An option with too many partitions for the base was refused, though the grown graph may have enough.
TEST_F(WarmStart, PartitionsAreNoMatterOfTheBase) {
  graphs_.TrainOld(WarmOptions());
  TrainOptions options = WarmOptions();
  options.partitions = 4;
  options.resident = 2;
  const auto check = [&](const TrainSettings& settings) {
    return CheckGrownStart(graphs_.old_graph(), /*has_valid_edges=*/false, graphs_.run("run"), options,
                           /*overwrite=*/false, settings, {.source = graphs_.run("source")});
  };
  EXPECT_OK(check({.memory = kPlenty}));
  EXPECT_ERROR(check({.memory = 1 << 20}), kUsage, "--memory");
  EXPECT_ERROR(graphs_.Grow(options, "run"), kUsage, "partitions");
}

TEST_F(WarmStart, RefusesDamagedSources) {
  graphs_.TrainOld(WarmOptions());
  const RunPaths source(graphs_.run("source"));
  for (const TableName table :
       {TableName::kEmbeddings, TableName::kOptimizer, TableName::kRelations, TableName::kRelationOptimizer}) {
    const fs::path path = source.Table(table, 0);
    FlipByte(path, kNpyHeaderBytes + 3);
    EXPECT_ERROR(graphs_.Grow(WarmOptions(), "run"), kCorrupt, path.filename().string());
    EXPECT_FALSE(fs::exists(RunPaths(graphs_.run("run")).State()));
    FlipByte(path, kNpyHeaderBytes + 3);
  }
  EXPECT_OK(graphs_.Grow(WarmOptions(), "run"));
}

// Without its marks a run would train the rows that it is to keep.
TEST_F(WarmStart, RefusesToGoOnWithoutItsMarks) {
  graphs_.TrainOld(WarmOptions());
  ASSERT_OK(graphs_.Grow(FrozenOptions(), "run"));
  const fs::path marks = RunPaths(graphs_.run("run")).KnownRows();
  const std::string whole = FileBytes(marks);
  const auto expect_damage = [&] {
    EXPECT_ERROR(ResumeRun(graphs_.run("run"), 5, {.memory = kPlenty}, {}), kCorrupt, "known.rows");
    CheckReport report;
    ASSERT_OK(VerifyRun(graphs_.run("run"), {}, report));
    EXPECT_GT(report.damage_count(), 0U);
  };
  FlipByte(marks, 70);
  expect_damage();
  fs::remove(marks);
  expect_damage();
  WriteFileBytes(marks, whole);
  EXPECT_OK(ResumeRun(graphs_.run("run"), 5, {.memory = kPlenty}, {}));
}

TEST_F(WarmStart, MarksAreInTheMemoryEstimate) {
  const GraphDescription graph{.node_count = 1 << 30,
                               .relation_count = 4,
                               .partition_rows = 1 << 20,
                               .partition_count = 1024,
                               .train_edges = 1 << 20};
  const auto tables = [&](const TrainOptions& options) {
    return EstimateTrainingMemory(options, graph, 1, {1024, 2}).tables;
  };
  EXPECT_GE(tables(FrozenOptions()), tables(WarmOptions()) + (std::uint64_t{1} << 27));
  EXPECT_LE(tables(FrozenOptions()), tables(WarmOptions()) + (std::uint64_t{1} << 28) + 4096);
}

TEST_F(WarmStart, TrainedEdgesAreThoseWithSomethingNew) {
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(graphs_.grown_graph()));
  ASSERT_OK_AND_ASSIGN(const std::vector<Edge> all, graph->Edges(Split::kTrain).ReadAll());
  KnownRows known = {.nodes = RowMarks(39), .relations = RowMarks(6)};
  for (std::uint64_t node = 0; node < 30; ++node) known.nodes.Mark(node);
  for (const std::uint64_t row : {0U, 2U, 3U, 4U}) known.relations.Mark(row);  // relation 0 both ways, 1 and 2 one way
  for (const bool relations : {false, true}) {
    std::vector<Edge> expected;
    for (const Edge& edge : all) {
      const bool old = Value(edge.head) < 30 && Value(edge.tail) < 30 && (!relations || Value(edge.relation) == 0);
      if (!old) expected.push_back(edge);
    }
    ASSERT_OK_AND_ASSIGN(const CellReader cells, WriteTrainedEdges(*graph, known, relations, graphs_ / "edges.cells"));
    ASSERT_OK_AND_ASSIGN(const std::vector<Edge> found, cells.ReadAll());
    EXPECT_TRUE(found == expected);
    EXPECT_LT(found.size(), all.size());
  }
}

}  // namespace
}  // namespace octavo
