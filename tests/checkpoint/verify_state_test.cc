#include "checkpoint/verify_state.h"

#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

std::string EncodedOfRun(std::uint64_t generation, std::uint64_t run = 1) {
  Manifest manifest;
  manifest.header.run_id = {run, run};
  manifest.header.generation = generation;
  manifest.header.partition_rows = 1024;
  manifest.header.rows = 2048;
  manifest.partitions.resize(2);
  const std::vector<std::byte> bytes = EncodeManifest(manifest);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class VerifyStateTest : public ::testing::Test {
 protected:
  // Checks a file of these bytes; returns what was found, one per line.
  std::string Findings(const std::string& bytes) {
    WriteFileBytes(paths_.State(), bytes);
    CheckReport report;
    commit_ = VerifyState(paths_, {}, report);
    std::string texts;
    for (const Finding& finding : report.findings()) texts += finding.place + ": " + finding.found + "\n";
    return texts;
  }

  const TemporaryFolder folder_{FastPlace()};
  const RunPaths paths_{folder_.path()};
  CheckedCommit commit_;
};

TEST_F(VerifyStateTest, SaysWhatEachSlotHolds) {
  const std::string zeros(EncodedOfRun(1).size(), '\0');
  EXPECT_EQ(Findings(zeros + EncodedOfRun(1)), "");
  EXPECT_EQ(commit_.manifest->header.generation, 1U);
  EXPECT_EQ(Findings(EncodedOfRun(2) + EncodedOfRun(1)), "");
  EXPECT_EQ(commit_.slots[0] + ", " + commit_.slots[1], "generation 2, generation 1");
  EXPECT_EQ(Findings(EncodedOfRun(2) + EncodedOfRun(3)), "");
  EXPECT_EQ(commit_.manifest->header.generation, 3U);
  EXPECT_FALSE(commit_.torn_slot.has_value());
}

// The newest slot of a run at generation 2 could be zeroed unnoticed: the other one looked like that of a new run.
TEST_F(VerifyStateTest, AnEmptySlotOfAFileThatWasMadeWithBothIsDamage) {
  ASSERT_OK_AND_ASSIGN(Manifest manifest,
                       DecodeManifest(std::as_bytes(std::span<const char>(EncodedOfRun(1))), "STATE"));
  ASSERT_OK_AND_ASSIGN(StateFile state, StateFile::Create(paths_.State(), manifest));
  const std::string first = FileBytes(paths_.State());
  EXPECT_EQ(Findings(first), "");
  EXPECT_EQ(DescribeFallback(paths_.State()), "");
  EXPECT_EQ(commit_.slots[0] + ", " + commit_.slots[1], "generation 0, generation 1");
  manifest.header.generation = 2;
  ASSERT_OK(state.Write(manifest, /*sync=*/false));
  const std::string second = FileBytes(paths_.State());
  EXPECT_EQ(Findings(second), "");
  const std::size_t half = second.size() / 2;
  EXPECT_EQ(Findings(std::string(half, '\0') + second.substr(half)), "slot 0: no manifest\n");
  EXPECT_EQ(commit_.torn_slot, 0);
  EXPECT_THAT(DescribeFallback(paths_.State()), testing::HasSubstr("STATE: slot 0: no manifest in the slot"));
  EXPECT_THAT(DescribeFallback(paths_.State()), testing::HasSubstr("generation 1, in the other slot, is used"));
}

TEST_F(VerifyStateTest, ATornOrEmptySlotIsOneThatCanBeWrittenAnew) {
  const std::string zeros(EncodedOfRun(1).size(), '\0');
  EXPECT_EQ(Findings(zeros + EncodedOfRun(3)), "slot 0: no manifest\n");
  EXPECT_EQ(commit_.torn_slot, 0);
  EXPECT_EQ(Findings(EncodedOfRun(2) + EncodedOfRun(3).substr(0, 100) + std::string(zeros.size() - 100, '\0')),
            "slot 1: a torn manifest: an interrupted commit, or damage\n");
  EXPECT_EQ(commit_.torn_slot, 1);
  EXPECT_EQ(commit_.slots[1], "torn");
}

TEST_F(VerifyStateTest, SlotsThatDoNotBelongTogetherAreLeftAlone) {
  EXPECT_EQ(Findings(EncodedOfRun(2) + EncodedOfRun(5)), "slot 0: generation 2\n");
  EXPECT_EQ(Findings(EncodedOfRun(2) + EncodedOfRun(3, 9)), "slot 0: a manifest of another run\n");
  EXPECT_EQ(Findings(EncodedOfRun(3) + EncodedOfRun(1)), ": slot 0 has generation 3\n");
  EXPECT_FALSE(commit_.torn_slot.has_value());
  std::string newer = EncodedOfRun(4);
  newer[8] = 5;
  EXPECT_EQ(Findings(newer + EncodedOfRun(3)), ": slot 0: manifest version 5\n");
  EXPECT_FALSE(commit_.torn_slot.has_value());
}

TEST_F(VerifyStateTest, BytesAfterAManifestAndOddSizesAreDamage) {
  std::string bytes = EncodedOfRun(2) + EncodedOfRun(3);
  bytes[bytes.size() - 1] = 1;
  EXPECT_EQ(Findings(bytes), "slot 1, byte 4095: a byte that is not 0 after the manifest\n");
  EXPECT_NE(Findings(EncodedOfRun(2)), "");
  EXPECT_FALSE(commit_.manifest.has_value());
  EXPECT_NE(Findings(""), "");
  EXPECT_NE(Findings(std::string(8192, 'x')), "");
  const std::string padded = EncodedOfRun(2) + std::string(4096, '\0') + EncodedOfRun(3) + std::string(4096, '\0');
  EXPECT_EQ(Findings(padded), ": 16384 bytes\n");
}

}  // namespace
}  // namespace octavo
