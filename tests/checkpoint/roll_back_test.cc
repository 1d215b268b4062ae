// RollBack: a commit that other machines have not is taken back, whatever the slots hold and wherever the power is cut.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/random.h"
#include "checkpoint/state_file.h"
#include "gtest/gtest.h"
#include "tests/support/crash_disk.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/old_manifest.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

Manifest ManifestOf(std::uint64_t generation) {
  Manifest manifest;
  manifest.header.generation = generation;
  manifest.header.partition_rows = 1024;
  manifest.header.rows = 150 * 1024;
  manifest.header.progress.step = generation * 10;
  manifest.partitions.resize(150);
  for (PartitionRecord& record : manifest.partitions) record = {.slot = 0, .folder = 1, .generation = generation};
  manifest.round = {.lanes = 2, .folders = 2, .open = 1, .folder = 1, .round = 1};
  manifest.lanes.resize(2);
  return manifest;
}

std::string Encoded(std::uint64_t generation) {
  const std::vector<std::byte> bytes = EncodeManifest(ManifestOf(generation));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string Torn(std::uint64_t generation) {
  std::string bytes = Encoded(generation);
  bytes[600] ^= 1;
  return bytes;
}

class RollBackTest : public ::testing::Test {
 protected:
  // The step of the newest commit, by which its content is known; 0 if there is none.
  static std::uint64_t Step(const fs::path& path) {
    const auto manifest = ReadNewestManifest(path);
    return manifest.ok() ? manifest->header.progress.step : 0;
  }

  const TemporaryFolder folder_{FastPlace()};
  const fs::path path_ = folder_ / "STATE";
};

// Every content of the two slots, and every generation that the others may have.
TEST_F(RollBackTest, AnyContentOfTheSlots) {
  const std::string empty(Encoded(1).size(), '\0');
  const std::string even[] = {empty, Torn(4), Encoded(2), Encoded(4), Encoded(6)};
  const std::string odd[] = {empty, Torn(5), Encoded(3), Encoded(5), Encoded(7)};
  for (const std::string& first : even) {
    for (const std::string& second : odd) {
      for (std::uint64_t generation = 2; generation <= 7; ++generation) {
        WriteFileBytes(path_, first + second);
        const std::uint64_t before = Step(path_);
        const absl::Status status = RollBack(path_, generation);
        const std::string bytes = FileBytes(path_);
        const std::string& kept = generation % 2 == 0 ? first : second;
        const std::string& newer = generation % 2 == 0 ? second : first;
        const bool has_newer =
            newer == Encoded(generation + 1) || newer == Encoded(generation + 3) || newer == Encoded(generation + 5);
        SCOPED_TRACE(::testing::Message() << "generation " << generation << ", before at " << before / 10);
        if (!has_newer) {
          EXPECT_OK(status);
          EXPECT_EQ(bytes, first + second) << "nothing to take back";
        } else if (kept != Encoded(generation)) {
          EXPECT_ERROR(status, kCorrupt, "STATE: generation ");
          EXPECT_EQ(bytes, first + second) << "the only commit that there is";
        } else {
          EXPECT_OK(status);
          EXPECT_EQ(Step(path_), 10 * generation);
          const std::string kept_now = bytes.substr(generation % 2 * first.size(), first.size());
          EXPECT_EQ(kept_now, kept);
          ASSERT_OK_AND_ASSIGN(const auto slots, ReadManifestSlots(path_));
          for (const ManifestSlot& slot : slots) {
            EXPECT_EQ(slot.state, ManifestSlot::State::kValid);
            EXPECT_EQ(slot.manifest.header.progress.step, 10 * generation) << "both are of the commit that stays";
          }
          EXPECT_OK(RollBack(path_, generation)) << "once more";
          EXPECT_EQ(FileBytes(path_), bytes);
          // The next commit goes over it.
          Manifest newest;
          ASSERT_OK_AND_ASSIGN(StateFile state, StateFile::Open(path_, true, newest));
          EXPECT_EQ(newest.header.generation, generation);
          ASSERT_OK(state.Write(ManifestOf(generation + 1), true));
          EXPECT_EQ(Step(path_), 10 * (generation + 1));
        }
      }
    }
  }
}

// When RollBack has returned, the newer commit is gone for good; before, it may be there or not, and can be taken back.
TEST_F(RollBackTest, NoPowerCutBringsTheNewerCommitBack) {
  for (const std::uint64_t generation : {4U, 5U}) {
    const std::string newer = Encoded(generation + 1);
    WriteFileBytes(path_, generation % 2 == 0 ? Encoded(generation) + newer : newer + Encoded(generation));
    CrashDisk disk(ReadFolder(folder_.path()));
    std::vector<RecordedEvent> events;
    {
      const FileJournal journal(folder_.path());
      ASSERT_OK(RollBack(path_, generation));
      events = journal.events();
    }
    ASSERT_GE(events.size(), 2U) << "a write and a sync";
    const TemporaryFolder cut(FastPlace());
    RandomStream random(1, RandomPurpose::kSplit, 5, generation);
    int newer_ones = 0;
    for (std::size_t i = 0; i <= events.size(); ++i) {
      ForEachCut(disk, 8, random, [&](const FolderContents& contents) {
        WriteFolder(cut.path(), contents);
        const std::uint64_t step = Step(cut / "STATE");
        if (i == events.size() || step != 10 * (generation + 1)) {
          EXPECT_EQ(step, 10 * generation);
        } else {
          ++newer_ones;
        }
        EXPECT_OK(RollBack(cut / "STATE", generation));
        EXPECT_EQ(Step(cut / "STATE"), 10 * generation);
      });
      if (i < events.size()) disk.Apply(events[i]);
    }
    EXPECT_GT(newer_ones, 0);
  }
}

// A manifest of version 3 is smaller than what this version writes, and can need a larger slot.
TEST_F(RollBackTest, AFileOfTheOlderVersionGetsLargerSlots) {
  for (std::uint64_t partitions = 113; partitions <= 118; ++partitions) {
    SCOPED_TRACE(partitions);
    const auto encode = [&](std::uint64_t generation) {
      Manifest manifest = ManifestOf(generation);
      manifest.round = {.lanes = 2, .open = 1, .round = 1};
      manifest.partitions.assign(partitions, {});
      manifest.header.rows = partitions * 1024;
      const std::vector<std::byte> bytes = EncodeManifestOfVersion3(manifest);
      return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    WriteFileBytes(path_, encode(4) + encode(5));
    ASSERT_EQ(Step(path_), 50U);
    Manifest newest;
    ASSERT_OK_AND_ASSIGN(StateFile state, StateFile::Open(path_, true, newest));
    EXPECT_EQ(newest.header.generation, 5U);
    EXPECT_EQ(Step(path_), 50U);
    Manifest next = newest;
    ++next.header.generation;
    next.header.progress.step = 60;
    ASSERT_OK(state.Write(next, true));
    EXPECT_EQ(Step(path_), 60U);
    ASSERT_OK_AND_ASSIGN(const auto slots, ReadManifestSlots(path_));
    for (const ManifestSlot& slot : slots) EXPECT_EQ(slot.state, ManifestSlot::State::kValid);
    WriteFileBytes(path_, encode(4) + encode(5));
    EXPECT_OK(RollBack(path_, 4));
    EXPECT_EQ(Step(path_), 40U);
  }
}

}  // namespace
}  // namespace octavo
