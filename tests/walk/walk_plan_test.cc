#include "walk/walk_plan.h"

#include <vector>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "walk/walker_file.h"

namespace octavo {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// 64 partitions of a million edges each.
std::vector<PartitionRange> Partitions() {
  std::vector<PartitionRange> partitions;
  for (std::uint32_t i = 0; i < 64; ++i) {
    partitions.push_back({.first_partition = i,
                          .end_partition = i + 1,
                          .first_node = i * 102400ULL,
                          .end_node = (i + 1) * 102400ULL,
                          .edges = 1000000});
  }
  return partitions;
}

std::uint64_t LargestRange(const WalkPlan& plan, bool weighted) {
  std::uint64_t largest = 0;
  for (const PartitionRange& range : plan.ranges) {
    largest = std::max(largest, Adjacency::BytesOf(range.end_node - range.first_node, range.edges, weighted));
  }
  return largest;
}

// The memory of two files of all walks for the numbers of their pages: four bytes, in vectors that may be half empty.
std::uint64_t PageNumberBytes(const WalkOptions& options, const WalkPlan& plan) {
  const std::uint64_t walks = 64 * 102400 * options.walks_of_node();
  const std::size_t ranges = plan.ranges.size();
  const std::size_t buckets = options.kind == WalkKind::kNode2Vec ? ranges * ranges : ranges;
  const std::uint64_t page = plan.walker_bytes / (buckets * plan.workers);
  const std::uint64_t walker_bytes = 8 + 4 * (options.windowed() ? options.window : 1);
  EXPECT_GE(page, walker_bytes);
  return 2 * 8 * (walks / (std::min<std::uint64_t>(page, 256 << 10) / walker_bytes));
}

TEST(PlanWalks, KeepsToTheMemory) {
  for (const WalkKind kind : {WalkKind::kDeepWalk, WalkKind::kNode2Vec, WalkKind::kPersonalPageRank}) {
    for (const bool weighted : {false, true}) {
      for (const std::uint64_t mib : {200, 500, 1000, 10000}) {
        ASSERT_OK_AND_ASSIGN(const WalkPlan plan, PlanWalks({.kind = kind}, Partitions(), weighted, 0, mib * kMiB, 4));
        const std::uint64_t at_once = kind == WalkKind::kNode2Vec && plan.streamed() ? 2 : 1;
        // The counter's peak: keys, the previous counts, and 12 bytes for each 8-byte key (pair_counter.cc, Compact).
        const std::uint64_t counting = plan.key_bytes + plan.count_bytes + plan.key_bytes / 8 * 12;
        const std::uint64_t walking = plan.streamed() ? plan.walker_bytes + PageNumberBytes({.kind = kind}, plan) : 0;
        EXPECT_LE(counting + walking + at_once * LargestRange(plan, weighted), (mib - 32) * kMiB);
        EXPECT_GE(counting, (mib - 32) * kMiB / 3) << "much is left unused";
        EXPECT_LE(plan.write_bytes, (mib - 32) * kMiB);
        if (mib <= 500) {
          EXPECT_TRUE(plan.streamed());
        } else if (mib == 10000) {
          EXPECT_FALSE(plan.streamed());
        }
        EXPECT_GE(plan.workers, 1U);
        EXPECT_LE(plan.workers, 4U);
      }
    }
  }
}

// A partition that is heavy alone took more than its share, without reducing the others' shares.
TEST(PlanWalks, AHeavyPartitionKeepsToItsShare) {
  std::vector<PartitionRange> partitions = Partitions();
  partitions[5].edges = 60'000'000;  // a hub
  for (const WalkKind kind : {WalkKind::kDeepWalk, WalkKind::kNode2Vec}) {
    const absl::Status status = PlanWalks({.kind = kind}, partitions, false, 0, 200 * kMiB, 4).status();
    EXPECT_ERROR(status, kUsage, "--memory 200 MiB is too little for these walks on this graph; expected at least ");
    const std::uint64_t least = std::stoull(std::string(MessageOf(status)).substr(MessageOf(status).rfind(' ') + 1));
    for (const std::uint64_t mib : {least, least + 100, least + 300}) {
      ASSERT_OK_AND_ASSIGN(const WalkPlan plan, PlanWalks({.kind = kind}, partitions, false, 0, mib * kMiB, 4));
      const std::uint64_t at_once = kind == WalkKind::kNode2Vec && plan.streamed() ? 2 : 1;
      const std::uint64_t counting = plan.key_bytes + plan.count_bytes + plan.key_bytes / 8 * 12 + plan.key_bytes / 2;
      EXPECT_LE(counting + 2 * plan.walker_bytes + at_once * LargestRange(plan, false) + plan.workers * 2 * kMiB,
                (mib - 32) * kMiB)
          << mib;
    }
  }
}

TEST(PlanWalks, WhatTheGraphHoldsIsNotThereForTheWalks) {
  ASSERT_OK_AND_ASSIGN(const WalkPlan plan, PlanWalks({}, Partitions(), false, 0, 500 * kMiB, 4));
  ASSERT_OK_AND_ASSIGN(const WalkPlan beside, PlanWalks({}, Partitions(), false, 100 * kMiB, 600 * kMiB, 4));
  EXPECT_EQ(beside.key_bytes, plan.key_bytes);
  EXPECT_EQ(beside.ranges.size(), plan.ranges.size());
}

TEST(PlanWalks, WithoutALimitAllIsHeld) {
  ASSERT_OK_AND_ASSIGN(const WalkPlan plan, PlanWalks({}, Partitions(), true, 0, 0, 2));
  EXPECT_FALSE(plan.streamed());
  EXPECT_EQ(plan.workers, 2U);
}

TEST(PlanWalks, TooLittleNamesTheLeastThatWouldDo) {
  for (const WalkOptions& options :
       {WalkOptions{}, WalkOptions{.kind = WalkKind::kNode2Vec}, WalkOptions{.length = 10000, .window = 1000}}) {
    const absl::Status status = PlanWalks(options, Partitions(), true, 0, 10 * kMiB, 2).status();
    EXPECT_ERROR(status, kUsage, "--memory 10.0 MiB is too little for these walks on this graph; expected at least ");
    const std::string message(MessageOf(status));
    const std::uint64_t least = std::stoull(message.substr(message.rfind(' ') + 1));
    EXPECT_OK(PlanWalks(options, Partitions(), true, 0, least * kMiB, 2));
    EXPECT_ERROR(PlanWalks(options, Partitions(), true, 0, (least - 1) * kMiB, 2), kUsage, "too little");
  }
}

TEST(WalkOptions, CountsThePairsOfAWalk) {
  for (std::uint64_t length = 2; length < 12; ++length) {
    for (std::uint64_t window = 1; window < 14; ++window) {
      std::uint64_t pairs = 0;
      for (std::uint64_t i = 0; i < length; ++i) {
        for (std::uint64_t j = i + 1; j < length && j <= i + window; ++j) ++pairs;
      }
      EXPECT_EQ((WalkOptions{.length = length, .window = window}.pairs_of_walk()), pairs);
    }
  }
}

}  // namespace
}  // namespace octavo
