#include "train/team_restart.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/state_file.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/rank_threads.h"
#include "tests/support/temporary_folder.h"
#include "train/team.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

class TeamRestartTest : public ::testing::Test {
 protected:
  fs::path Folder(const std::string& name) const {
    fs::create_directories(folder_ / name);
    return folder_ / name;
  }

  static Manifest ManifestOf(std::uint64_t generation, std::uint64_t run_id) {
    Manifest manifest;
    manifest.header.run_id = {run_id, 1};
    manifest.header.generation = generation;
    manifest.header.partition_rows = 1024;
    manifest.header.rows = 3 * 1024;
    manifest.header.progress.step = 10 * generation;
    manifest.partitions.resize(3);
    manifest.lanes.resize(2);
    return manifest;
  }
  // A folder whose newest commit is `generation`.
  fs::path FolderAt(const std::string& name, std::uint64_t generation, std::uint64_t run_id = 1) const {
    const fs::path state = RunPaths(Folder(name)).State();
    auto file = StateFile::Create(state, ManifestOf(1, run_id));
    EXPECT_OK(file);
    for (std::uint64_t g = 2; g <= generation; ++g) EXPECT_OK(file->Write(ManifestOf(g, run_id), true));
    return folder_ / name;
  }

  // What each rank of a job with these folders finds as the newest commit, or its error.
  std::vector<std::string> Agree(const std::vector<fs::path>& folders) const {
    std::vector<std::string> found(folders.size());
    RunRanks(static_cast<int>(folders.size()), [&](Ranks& ranks) -> absl::Status {
      const auto rank = static_cast<std::size_t>(ranks.rank());
      ASSIGN_OR_RETURN(const std::vector<std::uint32_t> numbers, FindFolders(ranks, folders[rank]));
      const Team team(ranks, 8, numbers);
      const RunPaths paths(folders[rank]);
      const absl::Status status = AgreeOnCommit(ranks, paths, team.WritesFolder());
      if (status.ok()) {
        const auto newest = ReadNewestManifest(paths.State());
        found[rank] = newest.ok() ? std::to_string(newest->header.generation) : newest.status().ToString();
        if (newest.ok() && newest->header.progress.step != 10 * newest->header.generation) found[rank] += "?";
      } else {
        found[rank] = std::string(MessageOf(status));
      }
      // All find the same, so no error has to be passed on.
      return ranks.Meet();
    });
    return found;
  }

  const TemporaryFolder folder_;
};

using Found = std::vector<std::string>;

TEST_F(TeamRestartTest, TakesTheNewestCommitThatAllHave) {
  EXPECT_EQ(Agree({FolderAt("a", 4), FolderAt("b", 4)}), (Found{"4", "4"}));
  EXPECT_EQ(Agree({FolderAt("c", 4), FolderAt("d", 5)}), (Found{"4", "4"}));
  EXPECT_EQ(Agree({FolderAt("e", 6), FolderAt("f", 5), FolderAt("g", 6)}), (Found{"5", "5", "5"}));
  EXPECT_EQ(Agree({FolderAt("h", 2), FolderAt("i", 1)}), (Found{"1", "1"}));
  EXPECT_EQ(Agree({folder_ / "c", folder_ / "d"}), (Found{"4", "4"})) << "once more, after a roll back";
}

// The rank that shares its folder reads STATE after the other has taken the newer commit back, however slow that is.
TEST_F(TeamRestartTest, NobodyReadsWhatIsTakenBack) {
  const fs::path shared = FolderAt("shared", 3);
  const fs::path other = FolderAt("other", 2);
  ASSERT_OK(SetFailpoints("restart.roll_back=sleep"));
  EXPECT_EQ(Agree({shared, shared, other}), (Found{"2", "2", "2"}));
  ASSERT_OK(SetFailpoints(""));
}

TEST_F(TeamRestartTest, ExplainsWhichFolderIsWrong) {
  const auto expect = [&](const std::vector<fs::path>& folders, const std::string& text) {
    for (const std::string& found : Agree(folders)) EXPECT_NE(found.find(text), std::string::npos) << found;
  };
  const fs::path good = FolderAt("good", 5);
  expect({good, Folder("empty")}, "rank 1 on host1 has no run there; expected the run's folder at rank 0");
  expect({good, FolderAt("foreign", 5, 2)}, "rank 1 on host1 has another run there than rank 0 on host0");
  expect({FolderAt("old", 3), good}, "rank 1 on host1 has generation 5, another one 3; expected at most one more");
  ASSERT_OK_AND_ASSIGN(const Manifest manifest, ReadNewestManifest(RunPaths(good).State()));
  EXPECT_EQ(manifest.header.generation, 5U) << "nothing was changed";
}

// A folder without the run gets it as of the commit that all others have: rank 0 may have a newer one, of which the job
// that was killed had not told the others.
TEST_F(TeamRestartTest, ANewFolderGetsTheCommitThatAllHave) {
  for (const bool first_is_newer : {true, false}) {
    SCOPED_TRACE(first_is_newer);
    const std::string name = first_is_newer ? "x" : "y";
    const std::vector<fs::path> folders = {FolderAt(name + "0", first_is_newer ? 4 : 3),
                                           FolderAt(name + "1", first_is_newer ? 3 : 4), folder_ / (name + "2"),
                                           folder_ / (name + "2")};
    for (const TableName table : {TableName::kRelations, TableName::kRelationOptimizer}) {
      WriteFileBytes(RunPaths(folders[0]).Table(table, 0), "relations");
    }
    WriteFileBytes(RunPaths(folders[0]).Configuration(), "{}");
    WriteFileBytes(RunPaths(folders[0]).Metrics(), "events");
    for (const absl::Status& status : RunRanks(4, [&](Ranks& ranks) {
           return ShareRun(ranks, RunPaths(folders[static_cast<std::size_t>(ranks.rank())]));
         })) {
      ASSERT_OK(status);
    }
    ASSERT_OK_AND_ASSIGN(const Manifest manifest, ReadNewestManifest(RunPaths(folders[2]).State()));
    EXPECT_EQ(manifest.header.generation, 3U);
    EXPECT_EQ(manifest.header.progress.step, 30U);
    EXPECT_EQ(FileBytes(RunPaths(folders[2]).Metrics()), "events");
    EXPECT_EQ(Agree(folders), (Found{"3", "3", "3", "3"}));
  }
}

TEST_F(TeamRestartTest, FindsOutWhoseFoldersAreOne) {
  const auto find = [](const std::vector<fs::path>& folders) {
    std::vector<std::vector<std::uint32_t>> found(folders.size());
    for (const absl::Status& status : RunRanks(static_cast<int>(folders.size()), [&](Ranks& ranks) -> absl::Status {
           const auto rank = static_cast<std::size_t>(ranks.rank());
           ASSIGN_OR_RETURN(found[rank], FindFolders(ranks, folders[rank]));
           return absl::OkStatus();
         })) {
      EXPECT_OK(status);
    }
    for (const std::vector<std::uint32_t>& each : found) EXPECT_EQ(each, found[0]);
    return found[0];
  };
  using Numbers = std::vector<std::uint32_t>;
  const fs::path a = folder_ / "a";
  EXPECT_EQ(find({a}), Numbers{0});
  EXPECT_EQ(find({a, a, a}), (Numbers{0, 0, 0}));
  EXPECT_EQ(find({a, folder_ / "b"}), (Numbers{0, 1}));
  EXPECT_EQ(find({a, folder_ / "b", a, folder_ / "c", folder_ / "b"}), (Numbers{0, 1, 0, 2, 1}));
  // Folders that do not exist yet, and other ways to one.
  EXPECT_EQ(find({folder_ / "x/y/run", folder_ / "x/z/run", folder_ / "x/y/../y/run"}), (Numbers{0, 1, 0}));
  fs::create_directories(folder_ / "real");
  fs::create_directory_symlink(folder_ / "real", folder_ / "link");
  EXPECT_EQ(find({folder_ / "real/run", folder_ / "link/run"}), (Numbers{0, 0}));
  EXPECT_EQ(find({folder_ / "real", folder_ / "link"}), (Numbers{0, 0}));
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".octavo")) << entry.path();
  }
}

// Killed jobs leave marks; those of a job that begins at the same time are no older than a moment.
TEST_F(TeamRestartTest, OldMarksOfOtherJobsAreRemoved) {
  const fs::path old = folder_ / ".octavo-0123456789abcdef-0123456789abcdef-0";
  const fs::path young = folder_ / ".octavo-0123456789abcdef-0123456789abcdef-1";
  const fs::path foreign = folder_ / ".octavo-of-somebody-else";
  WriteFileBytes(old, "");
  WriteFileBytes(young, "");
  WriteFileBytes(foreign, "");
  for (const fs::path& path : {old, foreign}) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(2));
  }
  for (const absl::Status& status :
       RunRanks(2, [&](Ranks& ranks) -> absl::Status { return FindFolders(ranks, folder_ / "run").status(); })) {
    EXPECT_OK(status);
  }
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
  EXPECT_TRUE(fs::exists(foreign));
}

TEST_F(TeamRestartTest, AFolderWithTheFirstCommitAloneCanBeBegunAgain) {
  EXPECT_FALSE(IsBeginning(RunPaths(Folder("none"))));
  const auto begins = [&](const std::string& name, std::uint32_t folder, std::uint64_t generation,
                          std::uint64_t batch) {
    Manifest manifest = ManifestOf(generation, 1);
    manifest.round.folder = folder;
    manifest.round.folders = 3;
    manifest.header.progress.batch = batch;
    EXPECT_OK(StateFile::Create(RunPaths(Folder(name)).State(), manifest));
    return IsBeginning(RunPaths(folder_ / name));
  };
  EXPECT_TRUE(begins("second", 1, 1, 0));
  EXPECT_FALSE(begins("first", 0, 1, 0));
  EXPECT_FALSE(begins("later", 1, 2, 0));
  EXPECT_FALSE(begins("trained", 1, 1, 5));
  FolderAt("alone", 1);
  EXPECT_FALSE(IsBeginning(RunPaths(folder_ / "alone")));
  WriteFileBytes(RunPaths(Folder("damaged")).State(), "no manifest");  // which --overwrite may replace
  EXPECT_FALSE(IsBeginning(RunPaths(folder_ / "damaged")));
}

TEST_F(TeamRestartTest, ATeamNeedsALaneForEachRank) {
  std::vector<absl::Status> found(3);
  RunRanks(3, [&](Ranks& ranks) -> absl::Status {
    found[static_cast<std::size_t>(ranks.rank())] = MakeTeam(&ranks, folder_ / "run", 2).status();
    return ranks.Meet();
  });
  for (const absl::Status& status : found) {
    EXPECT_ERROR(status, kUsage, "3 ranks for 2 lanes; expected at most as many ranks as --lanes");
  }
  ASSERT_OK_AND_ASSIGN(const auto none, MakeTeam(nullptr, folder_ / "run", 2));
  EXPECT_EQ(none, nullptr);
}

// Every rank has the same graph and options, or is named.
TEST_F(TeamRestartTest, RefusesDifferentGraphsAndOptions) {
  const auto check = [&](std::uint64_t fingerprint, std::uint64_t seed, PrefetchMode prefetch = PrefetchMode::kAuto) {
    std::vector<absl::Status> found(2);
    RunRanks(2, [&](Ranks& ranks) -> absl::Status {
      Team team(ranks, 2, {0, 0});
      GraphDescription graph;
      graph.fingerprint = ranks.first() ? 5 : fingerprint;
      TrainOptions options;
      options.seed = ranks.first() ? 1 : seed;
      options.prefetch = ranks.first() ? PrefetchMode::kOn : prefetch;
      found[static_cast<std::size_t>(ranks.rank())] = CheckAlike(team, graph, options);
      return ranks.Meet();
    });
    return found;
  };
  for (const absl::Status& status : check(5, 1)) EXPECT_OK(status);
  for (const absl::Status& status : check(6, 1)) {
    EXPECT_ERROR(status, kUsage, "one with 000000000000000");
    EXPECT_ERROR(status, kUsage, "expected copies of one import");
  }
  for (const absl::Status& status : check(5, 2)) EXPECT_ERROR(status, kUsage, "have different training options");
  for (const absl::Status& status : check(5, 1, PrefetchMode::kOff)) {
    EXPECT_ERROR(status, kUsage, "--prefetch is off for one of the ranks ");
  }
}

// A manifest in which the folders have their numbers of then.
class AdoptTest : public ::testing::Test {
 protected:
  // `then`: of each rank, the number that its folder had; `now`: the one it has.
  std::vector<absl::Status> Adopt(const std::vector<std::uint32_t>& then, const std::vector<std::uint32_t>& now,
                                  const std::vector<std::uint32_t>& partitions) {
    adopted_.assign(then.size(), {});
    std::vector<absl::Status> found(then.size());
    RunRanks(static_cast<int>(then.size()), [&](Ranks& ranks) -> absl::Status {
      const auto rank = static_cast<std::size_t>(ranks.rank());
      Team team(ranks, 8, now);
      Manifest& manifest = adopted_[rank];
      manifest.round.folder = then[rank];
      manifest.round.folders = 4;
      for (const std::uint32_t folder : partitions) manifest.partitions.push_back({.folder = folder});
      found[rank] = team.Adopt(manifest);
      return ranks.Meet();
    });
    return found;
  }
  std::vector<std::uint32_t> FoldersAt(std::size_t rank) const {
    std::vector<std::uint32_t> folders;
    for (const PartitionRecord& record : adopted_[rank].partitions) folders.push_back(record.folder);
    return folders;
  }

  std::vector<Manifest> adopted_;
};

TEST_F(AdoptTest, FoldersKeepTheirRowsUnderOtherNumbers) {
  using Numbers = std::vector<std::uint32_t>;
  for (const absl::Status& status : Adopt({2, 0, 1}, {0, 1, 2}, {0, 1, 2, 2, 0})) EXPECT_OK(status);
  for (const std::uint32_t rank : {0U, 1U, 2U}) {
    EXPECT_EQ(FoldersAt(rank), (Numbers{1, 2, 0, 0, 1}));
    EXPECT_EQ(adopted_[rank].round.folder, rank);
    EXPECT_EQ(adopted_[rank].round.folders, 3U);
  }
  // Two ranks on one machine.
  for (const absl::Status& status : Adopt({1, 0, 1}, {0, 1, 0}, {0, 1})) EXPECT_OK(status);
  EXPECT_EQ(FoldersAt(2), (Numbers{1, 0}));
  // A folder that has no rows any more may be missing.
  for (const absl::Status& status : Adopt({1, 1}, {0, 0}, {1, 1})) EXPECT_OK(status);
  EXPECT_EQ(FoldersAt(1), (Numbers{0, 0}));
  EXPECT_EQ(adopted_[1].round.folders, 0U) << "one folder is a run as any other";
}

TEST_F(AdoptTest, RefusesFoldersThatAreMissingOrThereTwice) {
  for (const absl::Status& status : Adopt({0, 1}, {0, 1}, {0, 3, 1, 3})) {
    EXPECT_ERROR(status, kUsage, "2 of 4 partitions are in folder 4 of the run's 4, which no rank has");
  }
  for (const absl::Status& status : Adopt({1, 0, 1}, {0, 1, 2}, {0, 1})) {
    EXPECT_ERROR(status, kUsage, "ranks 0 on host0 and 2 on host2 have different folders, but both have part 2");
  }
}

}  // namespace
}  // namespace octavo
