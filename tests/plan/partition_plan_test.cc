#include "plan/partition_plan.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

PartitionRequest Request(std::uint64_t memory) {
  return {.fine_partitions = 62,
          .fine_bytes = 32 * kMiB,
          .table_bytes = 62 * 32 * kMiB - 5,
          .other_bytes = [](const PartitionShape&) { return 100 * kMiB; },
          .memory = memory};
}

TEST(ChoosePartitions, TakesEverythingWhereItFits) {
  EXPECT_EQ(ChoosePartitions(Request(100 * kMiB + 62 * 32 * kMiB - 5)), (PartitionShape{1, 1}));
  EXPECT_GT(ChoosePartitions(Request(100 * kMiB + 62 * 32 * kMiB - 6))->partitions, 1U);
}

TEST(ChoosePartitions, StaysWithinTheBudgetAndMovesLessWithMore) {
  std::uint64_t before = ~std::uint64_t{0};
  for (std::uint64_t memory = 200 * kMiB; memory < 2200 * kMiB; memory += 50 * kMiB) {
    const PartitionRequest request = Request(memory);
    const PartitionShape shape = ChoosePartitions(request).value();
    EXPECT_LE(TotalBytes(request, shape), memory);
    const std::uint64_t group = LargestPartition(62, shape.partitions) * request.fine_bytes;
    const std::uint64_t moved = CountExchanges(BucketOrder::kBeta, shape) * (group + 4 * kMiB);
    EXPECT_LE(moved, before) << memory;
    before = moved;
    // No other shape that fits moves fewer bytes.
    for (std::uint32_t p = 2; p <= 62; ++p) {
      for (std::uint32_t c = 2; c < p; ++c) {
        if (TotalBytes(request, {p, c}) > memory) continue;
        EXPECT_GE(BetaExchanges(p, c) * (LargestPartition(62, p) * request.fine_bytes + 4 * kMiB), moved)
            << p << " " << c;
      }
    }
  }
}

// Above 64 partitions not all numbers are tried; none that is left out moves fewer bytes.
TEST(ChoosePartitions, FindsTheBestOfManyFinePartitions) {
  constexpr std::uint32_t kFine = 130;
  for (std::uint64_t memory = 120 * kMiB; memory < 1200 * kMiB; memory += 90 * kMiB) {
    PartitionRequest request = Request(memory);
    request.fine_partitions = kFine;
    request.fine_bytes = 10 * kMiB;
    request.table_bytes = kFine * 10 * kMiB;
    const std::optional<PartitionShape> chosen = ChoosePartitions(request);
    std::uint64_t least = ~std::uint64_t{0};
    for (std::uint32_t p = 2; p <= kFine; ++p) {
      for (std::uint32_t c = 2; c < p; ++c) {
        if (TotalBytes(request, {p, c}) > memory) continue;
        least = std::min(least, BetaExchanges(p, c) * (LargestPartition(kFine, p) * request.fine_bytes + 4 * kMiB));
      }
    }
    ASSERT_EQ(chosen.has_value(), least != ~std::uint64_t{0}) << memory;
    if (!chosen) continue;
    EXPECT_EQ(BetaExchanges(chosen->partitions, chosen->resident) *
                  (LargestPartition(kFine, chosen->partitions) * request.fine_bytes + 4 * kMiB),
              least)
        << memory;
    EXPECT_LE(BetaExchanges(chosen->partitions, chosen->resident) + 1, MostStates(BucketOrder::kBeta, *chosen));
  }
}

TEST(MostStates, IsNeverExceeded) {
  for (const BucketOrder order : {BucketOrder::kBeta, BucketOrder::kInsideOut, BucketOrder::kRandom}) {
    for (const PartitionShape& shape : {PartitionShape{1, 1}, {9, 2}, {20, 3}, {40, 17}}) {
      EXPECT_LE(CountExchanges(order, shape) + 1, MostStates(order, shape)) << shape.partitions;
    }
  }
}

TEST(ChoosePartitions, OneAboveTheResidentOnesIsInFlight) {
  const PartitionRequest request = Request(0);
  EXPECT_EQ(ResidentBytes(request, {62, 10}), 11 * 32 * kMiB);
  EXPECT_EQ(ResidentBytes(request, {31, 10}), 22 * 32 * kMiB);
  EXPECT_EQ(ResidentBytes(request, {20, 3}), 16 * 32 * kMiB) << "62 in 20 groups: some have 4";
  EXPECT_EQ(ResidentBytes(request, {3, 2}), 62 * 32 * kMiB) << "never more than there are";
  EXPECT_EQ(ResidentBytes(request, {8, 8}), request.table_bytes);
}

TEST(ChoosePartitions, TheSmallestShapeIsTheLastThatFits) {
  PartitionRequest request = Request(0);
  const PartitionShape smallest = SmallestShape(request);
  request.memory = TotalBytes(request, smallest);
  EXPECT_EQ(request.memory, 100 * kMiB + 3 * 32 * kMiB) << "two resident and one in flight";
  EXPECT_EQ(ChoosePartitions(request), smallest);
  --request.memory;
  EXPECT_EQ(ChoosePartitions(request), std::nullopt);
}

TEST(ChoosePartitions, TakesTheNumbersThatWereAskedFor) {
  PartitionRequest request = Request(600 * kMiB);
  request.partitions = 31;
  PartitionShape shape = ChoosePartitions(request).value();
  EXPECT_EQ(shape, (PartitionShape{31, 6})) << "500 MiB hold seven groups of two";
  request.resident = 4;
  shape = ChoosePartitions(request).value();
  EXPECT_EQ(shape, (PartitionShape{31, 4}));
  request.partitions = 0;
  shape = ChoosePartitions(request).value();
  EXPECT_EQ(shape.resident, 4U);
  EXPECT_LE(TotalBytes(request, shape), request.memory);
  request = Request(4096 * kMiB);
  request.partitions = 8;
  shape = ChoosePartitions(request).value();
  EXPECT_EQ(shape, (PartitionShape{8, 8})) << "all of them fit";
  request.resident = 3;
  shape = ChoosePartitions(request).value();
  EXPECT_EQ(shape, (PartitionShape{8, 3}));
  request.partitions = request.resident = 1;
  shape = ChoosePartitions(request).value();
  EXPECT_EQ(shape, (PartitionShape{1, 1}));
}

TEST(ChoosePartitions, RefusesNumbersThatCannotBe) {
  PartitionRequest request = Request(4096 * kMiB);
  request.partitions = 63;
  EXPECT_ERROR(CheckPartitionNumbers(request), kUsage, "partitions: found 63; expected at most 62");
  request.partitions = 8;
  request.resident = 9;
  EXPECT_ERROR(CheckPartitionNumbers(request), kUsage, "resident: found 9; expected at most partitions, 8");
  request.resident = 1;
  EXPECT_ERROR(CheckPartitionNumbers(request), kUsage, "resident: found 1; expected at least 2");
  request = Request(4096 * kMiB);
  request.resident = 63;
  EXPECT_ERROR(CheckPartitionNumbers(request), kUsage, "resident: found 63; expected at most 62");
  request.resident = 2;
  request.fine_partitions = 1;
  EXPECT_ERROR(CheckPartitionNumbers(request), kUsage, "resident: found 2; expected at most 1");
  request = Request(400 * kMiB);
  request.partitions = 8;
  request.resident = 4;
  EXPECT_OK(CheckPartitionNumbers(request));
  EXPECT_EQ(ChoosePartitions(request), std::nullopt);
}

TEST(ChoosePartitions, AGraphOfOnePartitionIsWhole) {
  PartitionRequest request = Request(132 * kMiB);
  request.fine_partitions = 1;
  request.table_bytes = request.fine_bytes;
  EXPECT_EQ(ChoosePartitions(request), (PartitionShape{1, 1}));
  --request.memory;
  EXPECT_EQ(ChoosePartitions(request), std::nullopt);
}

TEST(CountExchanges, IsThatOfTheOrder) {
  EXPECT_EQ(CountExchanges(BucketOrder::kBeta, {32, 8}), 78U);
  EXPECT_EQ(CountExchanges(BucketOrder::kBeta, {8, 8}), 0U);
  EXPECT_GT(CountExchanges(BucketOrder::kRandom, {32, 8}), CountExchanges(BucketOrder::kInsideOut, {32, 8}));
}

}  // namespace
}  // namespace octavo
