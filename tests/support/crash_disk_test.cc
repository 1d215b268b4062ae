#include "tests/support/crash_disk.h"

#include <set>
#include <string>

#include "gtest/gtest.h"
#include "io/file.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

using Fate = CrashDisk::Fate;
using Kind = FileEvent::Kind;

RecordedEvent Write(const std::string& name, std::uint64_t offset, const std::string& bytes) {
  return {.kind = Kind::kWrite, .name = name, .offset = offset, .size = bytes.size(), .bytes = bytes};
}

// Every cut that the model can produce, by all combinations and many tears.
std::set<FolderContents> AllCuts(const CrashDisk& disk) {
  RandomStream random(1, RandomPurpose::kSplit, 0, 0);
  std::set<FolderContents> cuts;
  ForEachCut(disk, 2000, random, [&](const FolderContents& contents) { cuts.insert(contents); });
  return cuts;
}

TEST(CrashDiskTest, WhatIsNotSyncedIsThereOrNot) {
  CrashDisk disk(FolderContents{{"a", "old"}});
  disk.Apply(Write("a", 0, "new"));
  disk.Apply(Write("a", 3, "er"));
  EXPECT_EQ(disk.unsynced(), 2U);
  EXPECT_EQ(AllCuts(disk),
            (std::set<FolderContents>{{{"a", "old"}}, {{"a", "new"}}, {{"a", "newer"}}, {{"a", "older"}}}));
  disk.Apply({.kind = Kind::kSync, .name = "a"});
  EXPECT_EQ(disk.unsynced(), 0U);
  EXPECT_EQ(AllCuts(disk), (std::set<FolderContents>{{{"a", "newer"}}}));
}

TEST(CrashDiskTest, AWriteIsTornBetweenSectors) {
  CrashDisk disk(FolderContents{{"a", std::string(1536, 'o')}});
  disk.Apply(Write("a", 256, std::string(1024, 'n')));
  // Three sectors, of which any arrive: eight ways.
  std::set<std::string> found;
  for (const FolderContents& cut : AllCuts(disk)) found.insert(cut.at("a"));
  EXPECT_EQ(found.size(), 8U);
  for (const std::string& bytes : found) {
    for (const auto& [from, to] : {std::pair(256, 512), {512, 1024}, {1024, 1280}}) {
      EXPECT_EQ(std::set<char>(bytes.begin() + from, bytes.begin() + to).size(), 1U);
    }
    EXPECT_EQ(bytes.substr(0, 256) + bytes.substr(1280), std::string(512, 'o'));
  }
}

TEST(CrashDiskTest, ANameIsThereOnceTheFolderIsSynced) {
  CrashDisk disk(FolderContents{{"STATE", "old"}});
  disk.Apply({.kind = Kind::kCreate, .name = "STATE.partial"});
  disk.Apply(Write("STATE.partial", 0, "new"));
  disk.Apply({.kind = Kind::kSync, .name = "STATE.partial"});
  EXPECT_EQ(AllCuts(disk),
            (std::set<FolderContents>{{{"STATE", "old"}}, {{"STATE", "old"}, {"STATE.partial", "new"}}}));
  disk.Apply({.kind = Kind::kRename, .name = "STATE.partial", .to = "STATE"});
  EXPECT_EQ(AllCuts(disk), (std::set<FolderContents>{
                               {{"STATE", "old"}}, {{"STATE", "old"}, {"STATE.partial", "new"}}, {{"STATE", "new"}}}));
  disk.Apply({.kind = Kind::kSyncFolder});
  EXPECT_EQ(AllCuts(disk), (std::set<FolderContents>{{{"STATE", "new"}}}));
  disk.Apply({.kind = Kind::kRemove, .name = "STATE"});
  EXPECT_EQ(AllCuts(disk), (std::set<FolderContents>{{{"STATE", "new"}}, {}}));
}

// A rename without a sync of its data, as in many programs, can lose both the old file and the new.
TEST(CrashDiskTest, ARenameDoesNotSyncTheData) {
  CrashDisk disk(FolderContents{{"a", "old"}});
  disk.Apply({.kind = Kind::kCreate, .name = "b"});
  disk.Apply(Write("b", 0, "new"));
  disk.Apply({.kind = Kind::kRename, .name = "b", .to = "a"});
  disk.Apply({.kind = Kind::kSyncFolder});
  EXPECT_TRUE(AllCuts(disk).contains({{"a", ""}}));
}

TEST(CrashDiskTest, TheJournalHasWhatWasDoneToTheFilesOfItsFolder) {
  const TemporaryFolder folder;
  const TemporaryFolder other;
  FileJournal journal(folder.path());
  for (const auto& place : {folder.path(), other.path()}) {
    ASSERT_OK_AND_ASSIGN(File file, File::Create(place / "a"));
    ASSERT_OK(file.Allocate(8));
    ASSERT_OK(file.WriteAt(2, std::as_bytes(std::span("xy", 2))));
    ASSERT_OK(file.Truncate(6));
    ASSERT_OK(file.Sync());
    ASSERT_OK(RenameFile(place / "a", place / "b"));
    ASSERT_OK(SyncFolder(place));
    ASSERT_OK(WriteWholeFileAtomically(place / "c", "text"));
    ASSERT_OK(RemoveFile(place / "c"));
  }
  CrashDisk disk;
  for (const RecordedEvent& event : journal.events()) disk.Apply(event);
  EXPECT_EQ(journal.events().size(), 7U + 5U + 1U);
  EXPECT_EQ(disk.unsynced(), 1U);
  RandomStream random(1, RandomPurpose::kSplit, 0, 0);
  // With everything kept it is what the folder holds now.
  EXPECT_EQ(disk.Cut([](std::size_t) { return Fate::kKept; }, random), ReadFolder(folder.path()));
  FolderContents with_c = ReadFolder(folder.path());
  with_c["c"] = "text";
  EXPECT_EQ(disk.Cut([](std::size_t) { return Fate::kLost; }, random), with_c);
}

}  // namespace
}  // namespace octavo
