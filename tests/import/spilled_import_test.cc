// An import through temporary files makes the same files as one in memory, byte for byte, and also leaves nothing else.
#include "import/spilled_import.h"

#include <sys/stat.h>

#include <atomic>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "import/importer.h"
#include "io/failpoint.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/small_disk.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// Room for the merges, and for less than a chunk of text: each chunk becomes a portion.
MemoryPlan TinyPlan() {
  return {.workers = 2,
          .collected_bytes = std::uint64_t{64} << 10,
          .window_bytes = std::uint64_t{1} << 27,
          .max_cached_input_bytes = 0,
          .encode_bytes = std::uint64_t{1} << 20,
          .merge_bytes = std::uint64_t{64} << 20};
}

class SpilledImportTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_OK(SetFailpoints("")); }

  absl::StatusOr<ImportSummary> Make(const std::string& name, ImportOptions options) {
    options.inputs = inputs_;
    options.graph = folder_ / name;
    options.overwrite = true;
    return Import(options);
  }
  std::map<std::string, std::string> Files(const std::string& name) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_ / name)) {
      files[entry.path().filename().string()] = FileBytes(entry.path());
    }
    return files;
  }
  // Whether the files of a spilled import with `plan` are those of one in memory.
  void ExpectSame(ImportOptions options, const MemoryPlan& plan, const std::string& what) {
    ASSERT_OK_AND_ASSIGN(const ImportSummary held, Make("held", options));
    EXPECT_EQ(held.spilled_bytes, 0U);
    options.memory_plan = plan;
    ASSERT_OK_AND_ASSIGN(const ImportSummary spilled, Make("spilled", options));
    EXPECT_GT(spilled.spilled_bytes, 0U) << what;
    EXPECT_EQ(spilled.hash_seed, held.hash_seed) << what;
    const auto expected = Files("held");
    const auto found = Files("spilled");
    ASSERT_EQ(found.size(), expected.size()) << what;
    for (const auto& [name, bytes] : expected) EXPECT_TRUE(found.at(name) == bytes) << what << ": " << name;
  }
  // Writes an input: so many lines of `columns` columns about so many nodes, some with names of 64 KiB. Edges repeat.
  std::string Write(const std::string& name, int lines, int nodes, int columns, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string text;
    const auto node = [&] {
      const std::uint64_t number = random() % static_cast<std::uint64_t>(nodes);
      return random() % 2000 == 0 ? std::string(65536 - number % 5, static_cast<char>('a' + number % 3))
                                  : fmt::format("node {}", number);
    };
    for (int i = 0; i < lines; ++i) {
      text += node();
      if (columns > 2) text += fmt::format("\trel {}", random() % 7);
      text += "\t";
      text += node();
      if (columns > 3) text += fmt::format("\t{}", 0.1 * static_cast<double>(1 + random() % 8));
      text += "\n";
    }
    WriteFileBytes(folder_ / name, text);
    return (folder_ / name).string();
  }

  TemporaryFolder folder_{FastPlace()};
  std::vector<std::string> inputs_;
};

TEST_F(SpilledImportTest, WritesTheBytesOfAnImportInMemoryWhateverTheBudgets) {
  inputs_ = {Write("a.tsv", 60000, 5000, 4, 1), Write("b.tsv", 30000, 20000, 4, 2)};
  constexpr std::uint64_t kLittle = std::uint64_t{1} << 16;
  constexpr std::uint64_t kMuch = std::uint64_t{3} << 20;
  for (const auto& [collected, encode] :
       {std::pair(kLittle, std::uint64_t{20000}), std::pair(kLittle, std::uint64_t{1} << 24),
        std::pair(std::uint64_t{1} << 20, std::uint64_t{1} << 18), std::pair(kMuch, std::uint64_t{20000}),
        std::pair(kMuch, std::uint64_t{1} << 24)}) {
    MemoryPlan plan = TinyPlan();
    plan.collected_bytes = collected;
    plan.encode_bytes = encode;
    ExpectSame({.split = "0.8,0.1,0.1", .seed = encode}, plan, fmt::format("{} {}", collected, encode));
  }
}

TEST_F(SpilledImportTest, WritesTheBytesOfAnImportInMemoryForAllRules) {
  // Few nodes, so that there is one cell, and many of them.
  for (const auto& [nodes, columns] : {std::pair(300, 2), std::pair(300, 4), std::pair(70000, 3)}) {
    inputs_ = {Write("train.tsv", 40000, nodes, columns, 1)};
    // A third of the names of valid and test are new.
    const std::string valid = Write("valid.tsv", 3000, nodes + nodes / 2, columns, 2);
    const std::string test = Write("test.tsv", 3000, nodes + nodes / 2, columns, 3);
    for (const bool drop : {false, true}) {
      for (const bool merge : {false, true}) {
        MemoryPlan plan = TinyPlan();
        plan.encode_bytes = drop ? 200000 : 1000000;
        const std::string what = fmt::format("{} nodes, {} columns, drop {}, merge {}", nodes, columns, drop, merge);
        ExpectSame({.valid = valid,
                    .test = test,
                    .undirected = merge,
                    .merge_duplicates = merge,
                    .drop_self_loops = merge,
                    .drop_unseen = drop},
                   plan, what);
        ExpectSame({.split = "0.5,0.25,0.25",
                    .undirected = drop,
                    .merge_duplicates = merge,
                    .drop_self_loops = drop,
                    .drop_unseen = drop},
                   plan, fmt::format("{}, split", what));
      }
    }
  }
}

TEST_F(SpilledImportTest, LargeCellsInMemoryHaveTheSameBytes) {
  inputs_ = {Write("a.tsv", 60000, 300, 4, 1)};
  ImportOptions options{.split = "0.8,0.1,0.1"};
  ASSERT_OK(Make("held", options));
  options.memory_plan = TinyPlan();
  options.memory_plan->collected_bytes = UINT64_MAX;
  // Edges in memory leave almost none of these bytes, so that every cell is sorted edge by edge, or some of them.
  for (const std::uint64_t beside : {std::uint64_t{1}, std::uint64_t{300000}, std::uint64_t{2000000}}) {
    options.memory_plan->merge_bytes = 60000 * 16 + beside;
    ASSERT_OK_AND_ASSIGN(const ImportSummary summary, Make("pieces", options));
    EXPECT_EQ(summary.spilled_bytes, 0U);
    EXPECT_TRUE(Files("pieces") == Files("held")) << beside;
  }
}

// No collision of XXH3 is known, so the hash is replaced: with seeds 0 and 1 the names of even length collide.
std::uint64_t Bent(std::string_view name, std::uint64_t seed) {
  return seed < 2 && name.size() % 2 == 0 ? 7 : HashName(name, seed);
}

TEST_F(SpilledImportTest, ACollisionIsCuredByReadingAgainWithTheNextSeed) {
  inputs_ = {Write("a.tsv", 60000, 5000, 3, 1)};
  ExpectSame({.split = "0.8,0.1,0.1", .node_hash = Bent}, TinyPlan(), "bent");
  ImportOptions options{.memory_plan = TinyPlan(),
                        .node_hash = [](std::string_view, std::uint64_t) -> std::uint64_t { return 7; }};
  EXPECT_ERROR(Make("hopeless", options), kRuntime, "same hash");
}

TEST_F(SpilledImportTest, ACollisionOfANameThatIsDroppedCountsInMemoryToo) {
  WriteFileBytes(folder_ / "valid.tsv", "dd\tb\n");
  inputs_ = {Write("a.tsv", 60000, 1, 2, 1)};
  WriteFileBytes(inputs_[0], FileBytes(inputs_[0]) + "aa\tb\n");
  ExpectSame({.valid = (folder_ / "valid.tsv").string(), .drop_unseen = true, .node_hash = Bent}, TinyPlan(),
             "dropped");
}

TEST_F(SpilledImportTest, ACollisionOfAPipeIsAnError) {
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string text = FileBytes(Write("a.tsv", 60000, 5000, 2, 1));
  std::thread writer([&] { WriteFileBytes(pipe, text); });
  inputs_ = {pipe};
  EXPECT_ERROR(Make("piped", {.memory_plan = TinyPlan(), .node_hash = Bent}), kRuntime, "cannot be read again");
  writer.join();
}

TEST_F(SpilledImportTest, AFailureAtAnyStepLeavesNothing) {
  inputs_ = {Write("a.tsv", 60000, 5000, 3, 1)};
  const auto leftovers = [&] {
    std::string names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (entry.path().extension() != ".tsv") names += entry.path().filename().string() + " ";
    }
    return names;
  };
  int failures = 0;
  for (const std::string point : {"file.open", "file.write", "file.read", "file.flush", "file.sync"}) {
    int pass = 1;
    for (; pass < 2000; pass += 1 + pass / 4) {
      ASSERT_OK(SetFailpoints(fmt::format("{}:{}=enospc", point, pass)));
      const auto summary = Make("graph", {.memory_plan = TinyPlan()});
      ASSERT_OK(SetFailpoints(""));
      if (summary.ok()) break;
      ++failures;
      EXPECT_ERROR(summary, kRuntime, "No space left") << point << pass;
      ASSERT_EQ(leftovers(), "") << point << pass;
    }
    fs::remove_all(folder_ / "graph");
    EXPECT_LT(pass, 2000) << point;
  }
  EXPECT_GT(failures, 30);
}

TEST_F(SpilledImportTest, AFullDiskSaysHowMuchIsNeeded) {
  inputs_ = {Write("a.tsv", 200000, 5000, 3, 1)};
  const SmallDisk disk(folder_ / "disk", std::uint64_t{3} << 20);
  if (!disk.mounted()) return;
  ImportOptions options{.inputs = inputs_, .graph = disk.folder() / "graph", .memory_plan = TinyPlan()};
  const auto summary = Import(options);
  EXPECT_ERROR(summary, kRuntime, ".spill: write of");
  EXPECT_ERROR(summary, kRuntime, "No space left on device; make room there, or choose another disk; the temporary");
  const std::string message(MessageOf(summary.status()));
  const std::string before = "need about ";
  const std::size_t begin = message.find(before) + before.size();
  ASSERT_OK_AND_ASSIGN(const std::uint64_t needed,
                       ParseByteSize(message.substr(begin, message.find(" in all") - begin)));
  ASSERT_OK_AND_ASSIGN(const ImportSummary whole, Make("graph", {.memory_plan = TinyPlan()}));
  // Much of a small input is read ahead, so the estimate is rough.
  EXPECT_GT(needed, whole.spilled_bytes / 2);
  EXPECT_LT(needed, whole.spilled_bytes * 2);
  EXPECT_TRUE(fs::is_empty(disk.folder()));
}

TEST_F(SpilledImportTest, StopsInEveryStage) {
  inputs_ = {Write("a.tsv", 150000, 90000, 3, 1)};
  for (const std::string stage : {"reading", "ranking", "encoding", "writing"}) {
    std::atomic<bool> stop = false;
    ImportOptions options{.inputs = inputs_, .graph = folder_ / "graph", .memory_plan = TinyPlan()};
    options.stop = [&] { return stop.load(); };
    std::string last;
    const auto summary = Import(options, [&](const ImportProgress& progress) {
      last = progress.stage;
      if (progress.stage == stage) stop = true;
    });
    EXPECT_TRUE(absl::IsCancelled(summary.status())) << stage << summary.status();
    EXPECT_EQ(last, stage);
    EXPECT_FALSE(fs::exists(folder_ / "graph"));
  }
}

TEST_F(SpilledImportTest, TellsItsProgressAndTimes) {
  inputs_ = {Write("a.tsv", 150000, 90000, 3, 1)};
  std::map<std::string, ImportProgress> last;
  ImportOptions options{.inputs = inputs_, .graph = folder_ / "graph", .memory_plan = TinyPlan()};
  ASSERT_OK_AND_ASSIGN(const ImportSummary summary, Import(options, [&](const ImportProgress& progress) {
                         ImportProgress& before = last[std::string(progress.stage)];
                         EXPECT_GE(progress.done, before.done);
                         EXPECT_GE(progress.seconds, before.seconds);
                         EXPECT_LE(progress.done, progress.total == 0 ? 150000 : progress.total);
                         before = progress;
                       }));
  EXPECT_EQ(last.size(), 4U);
  EXPECT_EQ(last["reading"].bytes, last["reading"].total_bytes);
  EXPECT_EQ(last["ranking"].done, last["ranking"].total);
  EXPECT_EQ(last["encoding"].done, 150000U);
  EXPECT_EQ(last["writing"].done, 150000U);
  EXPECT_GT(summary.read_seconds, 0);
  EXPECT_GT(summary.rank_seconds, 0);
  EXPECT_GT(summary.encode_seconds, 0);
  EXPECT_GT(summary.write_seconds, 0);
}

TEST_F(SpilledImportTest, TooManyRelationNamesAreAnError) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += fmt::format("a\trelation {}\tb\n", i);
  WriteFileBytes(folder_ / "a.tsv", text);
  inputs_ = {(folder_ / "a.tsv").string()};
  MemoryPlan plan = TinyPlan();
  plan.collected_bytes = std::uint64_t{1} << 20;
  EXPECT_ERROR(Make("graph", {.memory_plan = plan}), kUsage, "relations take");
}

// Extents without room for a buffer each were an error: 64 MiB were too little for 40 million edges.
TEST_F(SpilledImportTest, ExtentsThatAreTooManyForOneMergeTakeSeveral) {
  inputs_ = {Write("a.tsv", 100000, 60000, 4, 1)};
  MemoryPlan plan = TinyPlan();
  plan.encode_bytes = 40000;
  // Two extents at a time, some, and the extents of names at once.
  for (const std::uint64_t merge : {std::uint64_t{140000}, std::uint64_t{400000}, std::uint64_t{3000000}}) {
    plan.merge_bytes = merge;
    ExpectSame({.split = "0.8,0.1,0.1"}, plan, fmt::format("{}", merge));
    ExpectSame({.split = "0.4,0.3,0.3", .merge_duplicates = false, .drop_unseen = true, .node_hash = Bent}, plan,
               fmt::format("{} bent", merge));
  }
}

TEST_F(SpilledImportTest, AnIndexWithoutRoomIsAnError) {
  inputs_ = {Write("a.tsv", 60000, 5000, 3, 1)};
  MemoryPlan plan = TinyPlan();
  plan.merge_bytes = 66000;
  EXPECT_ERROR(Make("graph", {.memory_plan = plan}), kUsage, "for their index and its buffers, and --memory leaves 6");
}

}  // namespace
}  // namespace octavo
