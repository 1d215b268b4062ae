#include "checkpoint/state_file.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

Manifest Sample(std::uint64_t generation, std::uint64_t partitions = 200) {
  Manifest manifest;
  manifest.header.generation = generation;
  manifest.header.partition_rows = 1024;
  manifest.header.rows = partitions * 1024;
  manifest.header.progress.step = generation * 10;
  for (std::uint64_t p = 0; p < partitions; ++p) {
    manifest.partitions.push_back({.slot = 0, .generation = generation, .embedding_checksum = generation * 1000 + p});
  }
  return manifest;
}

// `first`: one of the two that a new file has.
std::string EncodedSample(std::uint64_t generation, bool first = false) {
  Manifest manifest = Sample(first ? 1 : generation);
  manifest.header.generation = generation;
  manifest.header.validation.reserved = first ? 1 : 0;
  const std::vector<std::byte> bytes = EncodeManifest(manifest);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class StateFileTest : public ::testing::Test {
 protected:
  // A file with generation 1 and the following ones up to `generation`.
  void Make(std::uint64_t generation) {
    absl::StatusOr<StateFile> state = StateFile::Create(path_, Sample(1));
    ASSERT_OK(state);
    for (std::uint64_t g = 2; g <= generation; ++g) ASSERT_OK(state->Write(Sample(g), true));
  }
  std::uint64_t Newest() const {
    const absl::StatusOr<Manifest> manifest = ReadNewestManifest(path_);
    EXPECT_OK(manifest);
    return manifest.ok() ? manifest->header.generation : 0;
  }

  const TemporaryFolder folder_;
  const fs::path path_ = folder_ / "STATE";
};

TEST_F(StateFileTest, BeginsWithTheFirstManifestInItsSlot) {
  Make(1);
  const std::string bytes = FileBytes(path_);
  EXPECT_EQ(bytes, EncodedSample(0, true) + EncodedSample(1, true));
  EXPECT_EQ(Newest(), 1U);
}

TEST_F(StateFileTest, GenerationsGoToTheSlotOfTheirParity) {
  Make(2);
  EXPECT_EQ(FileBytes(path_), EncodedSample(2) + EncodedSample(1, true));
  Make(7);
  EXPECT_EQ(FileBytes(path_), EncodedSample(6) + EncodedSample(7));
  EXPECT_EQ(Newest(), 7U);
  ASSERT_OK_AND_ASSIGN(const Manifest manifest, ReadNewestManifest(path_));
  EXPECT_EQ(manifest.header.progress.step, 70U);
  EXPECT_EQ(manifest.partitions[199].embedding_checksum, 7199U);
}

// The commit of generation 7 over 5, cut after each 512 bytes, or with only one such piece written.
TEST_F(StateFileTest, ATornSlotGivesTheGenerationBefore) {
  const std::string old = EncodedSample(5);
  const std::string torn = EncodedSample(7);
  ASSERT_GT(torn.size(), 4096U);
  for (const std::string& before : {old, std::string(old.size(), '\0')}) {
    for (std::size_t at = 0; at < torn.size(); at += 512) {
      const std::string prefix = torn.substr(0, at) + before.substr(at);
      WriteFileBytes(path_, EncodedSample(6) + prefix);
      EXPECT_EQ(Newest(), prefix == torn ? 7U : 6U) << at;
      const std::string piece = before.substr(0, at) + torn.substr(at, 512) + before.substr(at + 512);
      WriteFileBytes(path_, EncodedSample(6) + piece);
      EXPECT_EQ(Newest(), piece == torn ? 7U : 6U) << at;
      const std::string hole = torn.substr(0, at) + before.substr(at, 512) + torn.substr(at + 512);
      WriteFileBytes(path_, EncodedSample(6) + hole);
      EXPECT_EQ(Newest(), hole == torn ? 7U : 6U) << at;
    }
  }
  WriteFileBytes(path_, EncodedSample(6) + torn);
  EXPECT_EQ(Newest(), 7U);
}

TEST_F(StateFileTest, ATornSlotIsWrittenAgainByTheNextCommit) {
  WriteFileBytes(path_,
                 EncodedSample(6) + EncodedSample(7).substr(0, 512) + std::string(EncodedSample(7).size() - 512, '\0'));
  Manifest newest;
  ASSERT_OK_AND_ASSIGN(StateFile state, StateFile::Open(path_, true, newest));
  EXPECT_EQ(newest.header.generation, 6U);
  ASSERT_OK(state.Write(Sample(7), true));
  EXPECT_EQ(FileBytes(path_), EncodedSample(6) + EncodedSample(7));
}

TEST_F(StateFileTest, BothSlotsTornIsACorruptErrorThatNamesBoth) {
  Make(3);
  const std::uint64_t slot = fs::file_size(path_) / 2;
  FlipByte(path_, 100);
  FlipByte(path_, slot + 100);
  Manifest newest;
  for (const absl::Status& status :
       {ReadNewestManifest(path_).status(), StateFile::Open(path_, true, newest).status()}) {
    EXPECT_ERROR(status, kCorrupt, "slot 0: a torn manifest of generation 2");
    EXPECT_ERROR(status, kCorrupt, "slot 1: a torn manifest of generation 3");
  }
}

TEST_F(StateFileTest, AManifestOfTheWrongParityDoesNotCount) {
  WriteFileBytes(path_, EncodedSample(3) + EncodedSample(1));
  EXPECT_EQ(Newest(), 1U);
  WriteFileBytes(path_, EncodedSample(3) + EncodedSample(2));
  EXPECT_ERROR(ReadNewestManifest(path_), kCorrupt, "parity");
}

TEST_F(StateFileTest, OpeningRewritesIdenticalBytes) {
  Make(4);
  const std::string before = FileBytes(path_);
  Manifest newest;
  ASSERT_OK(StateFile::Open(path_, true, newest));
  EXPECT_EQ(newest.header.generation, 4U);
  EXPECT_EQ(FileBytes(path_), before);
  // R5 is a sync that can fail, and then nothing may build on the manifest.
  ASSERT_OK(SetFailpoints("file.sync=eio"));
  EXPECT_ERROR(StateFile::Open(path_, true, newest), kRuntime, "failpoint");
  ASSERT_OK(SetFailpoints("file.sync=eio"));
  EXPECT_OK(StateFile::Open(path_, false, newest));
  ASSERT_OK(SetFailpoints(""));
}

TEST_F(StateFileTest, NoFileIsAUsageError) {
  EXPECT_ERROR(ReadNewestManifest(path_), kUsage, "expected a run folder");
  Manifest newest;
  EXPECT_ERROR(StateFile::Open(path_, true, newest), kUsage, "STATE");
  EXPECT_FALSE(ReadNewestManifest(folder_ / std::string(5000, 'x')).ok()) << "and no exception";
}

TEST_F(StateFileTest, OddSizesAreCorruptErrors) {
  Make(2);
  const std::string whole = FileBytes(path_);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{4096}, whole.size() - 1, whole.size() / 2}) {
    WriteFileBytes(path_, whole.substr(0, size));
    EXPECT_ERROR(ReadNewestManifest(path_), kCorrupt, "STATE") << size;
  }
  WriteFileBytes(path_, whole + "x");
  EXPECT_ERROR(ReadNewestManifest(path_), kCorrupt, "bytes");
  fs::resize_file(path_, std::uint64_t{1} << 40);  // sparse: must not be read into memory
  EXPECT_ERROR(ReadNewestManifest(path_), kCorrupt, "bytes");
}

// A kill between the creation of STATE and its first manifest left a file that was no run and prevented a new start.
TEST_F(StateFileTest, AFailedCreationLeavesNoState) {
  for (const std::string point : {"file.open=eio", "file.write=enospc", "file.sync=eio"}) {
    ASSERT_OK(SetFailpoints(point));
    EXPECT_ERROR(StateFile::Create(path_, Sample(1)), kRuntime, "failpoint");
    ASSERT_OK(SetFailpoints(""));
    EXPECT_FALSE(fs::exists(path_)) << point;
  }
}

TEST_F(StateFileTest, FailpointsOfACommitAreBeforeAndAfterTheWrite) {
  ASSERT_OK_AND_ASSIGN(StateFile state, StateFile::Create(path_, Sample(1)));
  ASSERT_OK(SetFailpoints("commit.C5=eio"));
  EXPECT_ERROR(state.Write(Sample(2), true), kRuntime, "commit.C5");
  EXPECT_EQ(Newest(), 1U);
  ASSERT_OK(SetFailpoints("commit.C6=eio"));
  EXPECT_ERROR(state.Write(Sample(2), true), kRuntime, "commit.C6");
  EXPECT_EQ(Newest(), 2U);
  ASSERT_OK(SetFailpoints(""));
}

TEST_F(StateFileTest, AManifestThatOutgrewItsSlotIsAnError) {
  ASSERT_OK_AND_ASSIGN(StateFile state, StateFile::Create(path_, Sample(1, 10)));
  const std::string before = FileBytes(path_);
  EXPECT_EQ(state.Write(Sample(2, 1000), true).code(), absl::StatusCode::kInternal);
  EXPECT_EQ(FileBytes(path_), before);
}

}  // namespace
}  // namespace octavo
