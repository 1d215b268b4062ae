#include "format/manifest.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "io/checksum.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

// A manifest with a different value in every field.
Manifest Sample(std::uint64_t partitions) {
  Manifest manifest;
  ManifestHeader& header = manifest.header;
  header.partition_count = static_cast<std::uint32_t>(partitions);
  header.run_id = {11, 12};
  header.generation = 13;
  header.configuration_hash = 14;
  header.graph_fingerprint = 15;
  header.partition_rows = 1024;
  header.rows = partitions == 0 ? 0 : (partitions - 1) * 1024 + 1;
  header.dim = 16;
  header.state_width = 17;
  header.relation_rows = 18;
  header.relation_width = 19;
  header.relation_state_width = 20;
  header.seed = 21;
  header.progress = {.epoch = 22,
                     .batch = 23,
                     .step = 24,
                     .epoch_edges = 25,
                     .epoch_loss = 26.5,
                     .epoch_penalty = -27.25,
                     .metrics_bytes = 28,
                     .partitions = 31,
                     .resident = 32,
                     .plan_epoch = 33};
  header.relation_slot = 1;
  header.relation_checksum = 29;
  header.relation_state_checksum = 30;
  for (std::uint64_t p = 0; p < partitions; ++p) {
    manifest.partitions.push_back({.slot = static_cast<std::uint32_t>(p % 2),
                                   .generation = p + 1,
                                   .embedding_checksum = p + 2,
                                   .state_checksum = p + 3});
  }
  return manifest;
}

// Of a run in lanes.
Manifest SampleOfLanes(std::uint64_t partitions, std::uint64_t lanes) {
  Manifest manifest = Sample(partitions);
  manifest.header.version = kLanesManifestVersion;
  manifest.round = {.lanes = static_cast<std::uint32_t>(lanes), .open = 1, .round = 2 * lanes - 2};
  for (std::uint64_t lane = 0; lane < lanes; ++lane) {
    manifest.lanes.push_back({.batches = 40 + lane,
                              .relation_checksum = 50 + lane,
                              .relation_state_checksum = 60 + lane,
                              .edges = 70 + lane,
                              .loss = 80.5 + static_cast<double>(lane),
                              .penalty = 90.25});
  }
  return manifest;
}

// The bytes covered by the checksum, and the checksum.
std::size_t UsedBytes(const Manifest& manifest) {
  const std::size_t lanes = manifest.lanes.empty() ? 0 : 24 + manifest.lanes.size() * 48;
  return sizeof(ManifestHeader) + manifest.partitions.size() * sizeof(PartitionRecord) + lanes + 16;
}

TEST(Manifest, RoundTrip) {
  for (const std::uint64_t partitions : {0U, 1U, 2U, 113U, 114U, 500U}) {
    const Manifest manifest = Sample(partitions);
    const std::vector<std::byte> slot = EncodeManifest(manifest);
    EXPECT_EQ(slot.size(), ManifestSlotBytes(partitions, 0));
    EXPECT_EQ(slot.size() % 4096, 0U);
    EXPECT_GE(slot.size(), UsedBytes(manifest));
    ASSERT_OK_AND_ASSIGN(const Manifest found, DecodeManifest(slot, "STATE"));
    EXPECT_EQ(std::memcmp(&found.header, &manifest.header, sizeof(ManifestHeader)), 0);
    ASSERT_EQ(found.partitions.size(), partitions);
    if (partitions != 0) {
      EXPECT_EQ(std::memcmp(found.partitions.data(), manifest.partitions.data(), partitions * sizeof(PartitionRecord)),
                0);
    }
    EXPECT_EQ(EncodeManifest(found), slot) << "a restart writes identical bytes";
  }
}

TEST(Manifest, RoundTripOfLanes) {
  for (const std::uint64_t lanes : {2U, 4U, 256U}) {
    const Manifest manifest = SampleOfLanes(2 * lanes, lanes);
    const std::vector<std::byte> slot = EncodeManifest(manifest);
    EXPECT_EQ(slot.size(), ManifestSlotBytes(2 * lanes, lanes));
    EXPECT_EQ(slot.size() % 4096, 0U);
    EXPECT_EQ(ManifestBytes(2 * lanes, lanes), UsedBytes(manifest));
    ASSERT_OK_AND_ASSIGN(const Manifest found, DecodeManifest(slot, "STATE"));
    EXPECT_EQ(found.round, manifest.round);
    EXPECT_EQ(found.lanes, manifest.lanes);
    EXPECT_EQ(std::memcmp(&found.header, &manifest.header, sizeof(ManifestHeader)), 0);
    EXPECT_EQ(found.partitions.size(), 2 * lanes);
    EXPECT_EQ(EncodeManifest(found), slot) << "a restart writes identical bytes";
  }
}

// A run without lanes is as older versions write and read it.
TEST(Manifest, WithoutLanesHasTheOlderVersion) {
  ASSERT_OK_AND_ASSIGN(const Manifest found, DecodeManifest(EncodeManifest(Sample(3)), "STATE"));
  EXPECT_EQ(found.header.version, 2U);
  EXPECT_TRUE(found.lanes.empty());
  EXPECT_EQ(found.round, LanesHeader());
}

TEST(Manifest, ReadsFromALargerSlot) {
  std::vector<std::byte> slot = EncodeManifest(Sample(3));
  slot.resize(slot.size() + 8192);
  EXPECT_OK(DecodeManifest(slot, "STATE"));
}

TEST(Manifest, EveryFlippedByteIsDetected) {
  for (const Manifest& manifest : {Sample(5), SampleOfLanes(9, 4)}) {
    std::vector<std::byte> slot = EncodeManifest(manifest);
    for (std::size_t byte = 0; byte < UsedBytes(manifest); ++byte) {
      for (const std::byte flip : {std::byte{1}, std::byte{0x80}, std::byte{0xFF}}) {
        slot[byte] ^= flip;
        EXPECT_ERROR(DecodeManifest(slot, "R/STATE"), kCorrupt, "R/STATE") << byte;
        slot[byte] ^= flip;
      }
    }
    // No byte after the checksum matters, so a manifest must not be lost because of one.
    slot.back() ^= std::byte{1};
    EXPECT_OK(DecodeManifest(slot, "STATE"));
  }
}

TEST(Manifest, AnyCutIsDetected) {
  for (const Manifest& manifest : {Sample(5), SampleOfLanes(9, 4)}) {
    const std::vector<std::byte> slot = EncodeManifest(manifest);
    for (std::size_t size = 0; size < UsedBytes(manifest); ++size) {
      EXPECT_ERROR(DecodeManifest(std::span(slot).first(size), "STATE"), kCorrupt, "STATE") << size;
    }
    EXPECT_OK(DecodeManifest(std::span(slot).first(UsedBytes(manifest)), "STATE"));
  }
}

TEST(Manifest, EmptySlotsSayWhatTheyAre) {
  EXPECT_ERROR(DecodeManifest({}, "STATE"), kCorrupt, "0 bytes");
  const std::vector<std::byte> zeros(4096);
  EXPECT_ERROR(DecodeManifest(zeros, "STATE"), kCorrupt, "no manifest in the slot");
}

TEST(Manifest, ANewerVersionSaysSo) {
  for (const auto& [version, text] : {std::pair(5U, "version 5; expected version 2 to 4; a newer"),
                                      {1U, "version 1; expected version 2 to 4; an older"}}) {
    std::vector<std::byte> slot = EncodeManifest(Sample(1));
    std::memcpy(slot.data() + offsetof(ManifestHeader, version), &version, sizeof(version));
    EXPECT_ERROR(DecodeManifest(slot, "STATE"), kCorrupt, text);
  }
}

TEST(Manifest, AbsurdCountsAreRefusedBeforeTheyAreUsed) {
  const Manifest manifest = Sample(3);
  for (const std::uint32_t count : {0U, 2U, 4U, 200U, std::numeric_limits<std::uint32_t>::max()}) {
    std::vector<std::byte> slot = EncodeManifest(manifest);
    std::memcpy(slot.data() + offsetof(ManifestHeader, partition_count), &count, sizeof(count));
    EXPECT_ERROR(DecodeManifest(slot, "STATE"), kCorrupt, "STATE") << count;
  }
  std::vector<std::byte> large(std::size_t{1} << 20);
  const std::vector<std::byte> slot = EncodeManifest(manifest);
  std::copy(slot.begin(), slot.end(), large.begin());
  const std::uint32_t count = std::numeric_limits<std::uint32_t>::max();
  std::memcpy(large.data() + offsetof(ManifestHeader, partition_count), &count, sizeof(count));
  EXPECT_ERROR(DecodeManifest(large, "STATE"), kCorrupt, "4294967295 partitions");
  const Manifest in_lanes = SampleOfLanes(9, 4);
  const std::size_t at = sizeof(ManifestHeader) + 9 * sizeof(PartitionRecord);
  for (const std::uint32_t lanes :
       {0U, 1U << 20, std::numeric_limits<std::uint32_t>::max() / 8, std::numeric_limits<std::uint32_t>::max()}) {
    std::vector<std::byte> damaged = EncodeManifest(in_lanes);
    std::memcpy(damaged.data() + at, &lanes, sizeof(lanes));
    EXPECT_ERROR(DecodeManifest(damaged, "STATE"), kCorrupt, std::to_string(lanes) + " lanes");
  }
  // Version 3 without the lanes that it must have.
  std::vector<std::byte> without = EncodeManifest(Sample(3));
  without.resize(UsedBytes(Sample(3)));
  const std::uint32_t version = 3;
  std::memcpy(without.data() + offsetof(ManifestHeader, version), &version, sizeof(version));
  EXPECT_ERROR(DecodeManifest(without, "STATE"), kCorrupt, "no room for lanes");
}

TEST(Manifest, ContradictionsUnderAValidChecksumAreRefused) {
  const auto refused = [](auto change, const std::string& text) {
    Manifest manifest = Sample(3);
    change(manifest);
    EXPECT_ERROR(DecodeManifest(EncodeManifest(manifest), "STATE"), kCorrupt, text);
  };
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  refused([](Manifest& m) { m.header.relation_slot = 2; }, "slot number");
  refused([](Manifest& m) { m.partitions[1].slot = 2; }, "slot number");
  refused([](Manifest& m) { m.header.embedding_element = 2; }, "embeddings of type 2; expected 0, float32, or 1, bf16");
  refused([](Manifest& m) { m.header.partition_rows = 0; }, "3 partitions");
  refused([](Manifest& m) { m.header.rows = kMax; }, "3 partitions");
  refused([](Manifest& m) { m.header.rows = 1; }, "3 partitions");
  refused([](Manifest& m) { m.header.partition_rows = kMax; }, "3 partitions");
  refused([](Manifest& m) { m.header.rows = 3 * 1024 + 1; }, "3 partitions");
  refused([](Manifest& m) { m.header.magic[0] = 'X'; }, "no manifest");
  refused([](Manifest& m) { m.lanes.resize(3); }, "3 lanes in round 1; expected a power of two");
  refused([](Manifest& m) { m.lanes.resize(1); }, "1 lanes");
  refused([](Manifest& m) { m.lanes.resize(2), m.round.round = 3; }, "2 lanes in round 4");
  refused([](Manifest& m) { m.lanes.resize(2), m.round.open = 2; }, "2 lanes in round 1");
}

// The checksum is XXH3-128 in canonical order over all bytes before it, as the file's header says. Computed
// independently, it makes a changed manifest valid again.
TEST(Manifest, ChecksumIsTheDocumentedOne) {
  const Manifest manifest = Sample(3);
  std::vector<std::byte> slot = EncodeManifest(manifest);
  slot[offsetof(ManifestHeader, seed)] ^= std::byte{1};
  EXPECT_FALSE(DecodeManifest(slot, "STATE").ok());
  const std::size_t payload = UsedBytes(manifest) - 16;
  const auto checksum = Checksum128(std::span(slot).first(payload));
  std::memcpy(slot.data() + payload, checksum.data(), checksum.size());
  ASSERT_OK_AND_ASSIGN(const Manifest found, DecodeManifest(slot, "STATE"));
  EXPECT_EQ(found.header.seed, 20U);
}

}  // namespace
}  // namespace octavo
