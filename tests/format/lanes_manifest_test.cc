// The manifest of a run in lanes: version 4, what it refuses, and files of version 3.
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "format/manifest.h"
#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/old_manifest.h"

namespace octavo {
namespace {

// In three folders, with another value in every field.
Manifest SampleManifest() {
  Manifest manifest;
  manifest.header.generation = 9;
  manifest.header.version = 4;
  manifest.header.partition_count = 5;
  manifest.header.partition_rows = 1024;
  manifest.header.rows = 5 * 1024 - 3;
  for (std::uint32_t p = 0; p < 5; ++p) {
    manifest.partitions.push_back({.slot = p % 2,
                                   .folder = p % 3,
                                   .generation = 100 + p,
                                   .embedding_checksum = 200 + p,
                                   .state_checksum = 300 + p});
  }
  manifest.round = {.lanes = 4, .folders = 3, .open = 1, .folder = 2, .round = 6};
  for (std::uint32_t lane = 0; lane < 4; ++lane) {
    manifest.lanes.push_back({.batches = 10 + lane,
                              .relation_checksum = 20 + lane,
                              .relation_state_checksum = 30 + lane,
                              .edges = 40 + lane,
                              .loss = 0.5 + lane,
                              .penalty = -0.25 - lane});
  }
  return manifest;
}

void ExpectSamePartitions(const Manifest& a, const Manifest& b) {
  ASSERT_EQ(a.partitions.size(), b.partitions.size());
  EXPECT_EQ(std::memcmp(a.partitions.data(), b.partitions.data(), a.partitions.size() * sizeof(PartitionRecord)), 0);
}

TEST(LanesManifest, RoundTripWithFoldersAndSums) {
  const Manifest manifest = SampleManifest();
  const std::vector<std::byte> slot = EncodeManifest(manifest);
  ASSERT_OK_AND_ASSIGN(const Manifest found, DecodeManifest(slot, "STATE"));
  EXPECT_EQ(found.header.version, 4U);
  EXPECT_EQ(std::memcmp(&found.header, &manifest.header, sizeof(ManifestHeader)), 0);
  ExpectSamePartitions(found, manifest);
  EXPECT_EQ(found.round, manifest.round);
  EXPECT_EQ(found.lanes, manifest.lanes);
  EXPECT_EQ(EncodeManifest(found), slot);
}

// Where each field is, so that other programs may read it.
TEST(LanesManifest, BytesAreWhereTheyAreSaidToBe) {
  const std::vector<std::byte> slot = EncodeManifest(SampleManifest());
  const auto number = [&](std::size_t offset, std::size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, slot.data() + offset, bytes);
    return value;
  };
  const std::size_t partitions = 264;
  const std::size_t round = partitions + 5 * 32;
  const std::size_t lanes = round + 24;
  ASSERT_EQ(sizeof(ManifestHeader), partitions);
  EXPECT_EQ(number(8, 4), 4U);
  EXPECT_EQ(number(partitions + 32 * 4, 4), 0U);
  EXPECT_EQ(number(partitions + 32 * 4 + 4, 4), 1U) << "folder";
  EXPECT_EQ(number(partitions + 32 * 4 + 8, 8), 104U);
  EXPECT_EQ(number(round, 4), 4U);
  EXPECT_EQ(number(round + 4, 4), 3U);
  EXPECT_EQ(number(round + 8, 4), 1U);
  EXPECT_EQ(number(round + 12, 4), 2U);
  EXPECT_EQ(number(round + 16, 8), 6U);
  EXPECT_EQ(number(lanes + 3 * 48, 8), 13U);
}

TEST(LanesManifest, FilesOfVersion3AreRead) {
  for (const std::uint32_t open : {0U, 1U}) {
    Manifest manifest = SampleManifest();
    for (PartitionRecord& record : manifest.partitions) record.folder = 0;
    manifest.round = {.lanes = 4, .open = open, .round = open * 6};
    if (open == 0) manifest.lanes.assign(4, {});
    ASSERT_OK_AND_ASSIGN(const Manifest found, DecodeManifest(EncodeManifestOfVersion3(manifest), "STATE"));
    EXPECT_EQ(found.header.generation, 9U);
    ExpectSamePartitions(found, manifest);
    EXPECT_EQ(found.round, manifest.round);
    ASSERT_EQ(found.lanes.size(), 4U);
    for (std::size_t lane = 0; lane < 4; ++lane) {
      LaneRecord expected = manifest.lanes[lane];
      expected.edges = 0;
      expected.loss = expected.penalty = 0;
      EXPECT_EQ(found.lanes[lane], expected);
    }
    EXPECT_OK(CheckWholeRun(found, "STATE"));
    // Written again it is one of version 4.
    ASSERT_OK_AND_ASSIGN(const Manifest again, DecodeManifest(EncodeManifest(found), "STATE"));
    EXPECT_EQ(again.header.version, 4U);
    EXPECT_EQ(again.lanes, found.lanes);
  }
}

// Damages of version 3 are found as those of version 4.
TEST(LanesManifest, EveryFlippedByteOfVersion3IsDetected) {
  Manifest manifest = SampleManifest();
  for (PartitionRecord& record : manifest.partitions) record.folder = 0;
  manifest.round = {.lanes = 4, .open = 1, .round = 6};
  std::vector<std::byte> slot = EncodeManifestOfVersion3(manifest);
  const std::size_t used = sizeof(ManifestHeader) + 5 * 32 + 24 + 4 * 24 + 16;
  for (std::size_t byte = 0; byte < used; ++byte) {
    for (const std::byte flip : {std::byte{1}, std::byte{0x80}}) {
      slot[byte] ^= flip;
      EXPECT_ERROR(DecodeManifest(slot, "R/STATE"), kCorrupt, "R/STATE") << byte;
      slot[byte] ^= flip;
    }
  }
  EXPECT_OK(DecodeManifest(slot, "STATE"));
}

TEST(LanesManifest, RefusesWhatCannotBe) {
  const auto refused = [](const std::function<void(Manifest&)>& change, const std::string& text) {
    Manifest manifest = SampleManifest();
    change(manifest);
    EXPECT_ERROR(DecodeManifest(EncodeManifest(manifest), "STATE"), kCorrupt, text);
  };
  refused([](Manifest& m) { m.partitions[4].folder = 3; }, "rows in a folder that the run lacks; expected one of its");
  refused([](Manifest& m) { m.partitions[0].folder = ~0U; }, "rows in a folder that the run lacks");
  refused([](Manifest& m) { m.round.folder = 3; }, "4 lanes in round 7");
  refused([](Manifest& m) { m.round.folders = 2; }, "4 lanes in round 7");
  refused([](Manifest& m) { m.round.folders = 0; }, "4 lanes in round 7");
  refused([](Manifest& m) { m.round.open = 2; }, "4 lanes in round 7");
  refused([](Manifest& m) { m.round.round = 7; }, "4 lanes in round 8");
  refused([](Manifest& m) { m.lanes.resize(3); }, "3 lanes");
  refused([](Manifest& m) { m.partitions[2].slot = 2; }, "slot number above 1");
  // Without lanes there is no place for folders, so rows are in one.
  refused(
      [](Manifest& m) {
        m.lanes.clear();
        m.round = {};
      },
      "rows in a folder that the run lacks");
}

TEST(LanesManifest, TellsWhetherAFolderHasTheWholeRun) {
  Manifest manifest = SampleManifest();
  EXPECT_ERROR(CheckWholeRun(manifest, "R/STATE"), kUsage,
               "R/STATE: 4 of 5 partitions are in other folders of this run, which is in 3; expected octavo resume on");
  for (PartitionRecord& record : manifest.partitions) record.folder = 2;
  EXPECT_OK(CheckWholeRun(manifest, "STATE"));
  manifest.round.folder = 0;
  EXPECT_ERROR(CheckWholeRun(manifest, "STATE"), kUsage, "5 of 5 partitions");
  manifest.partitions.clear();
  EXPECT_OK(CheckWholeRun(manifest, "STATE"));
}

}  // namespace
}  // namespace octavo
