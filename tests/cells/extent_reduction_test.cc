#include "cells/extent_reduction.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

using Merged = absl::StatusOr<std::optional<SpillExtent>>;

// A file of extents, as far as extents tell it: merges read extents that are still there and append one of their size.
struct Extents {
  explicit Extents(std::size_t count) {
    for (std::uint64_t i = 0; i < count; ++i) extents.push_back(Append(1 + i % 3));
  }
  SpillExtent Append(std::uint64_t bytes) {
    there.insert(end);
    end += bytes;
    return {.begin = end - bytes, .end = end};
  }
  Merged Merge(std::span<const SpillExtent> some) {
    largest = std::max(largest, some.size());
    smallest = std::min(smallest, some.size());
    std::uint64_t bytes = 0;
    for (const SpillExtent& extent : some) {
      EXPECT_EQ(there.erase(extent.begin), 1U);
      bytes += extent.end - extent.begin;
    }
    read += bytes;
    return std::optional<SpillExtent>(Append(bytes));
  }
  std::uint64_t Bytes() const {
    std::uint64_t bytes = 0;
    for (const SpillExtent& extent : extents) bytes += extent.end - extent.begin;
    return bytes;
  }

  std::vector<SpillExtent> extents;
  std::set<std::uint64_t> there;  // begins of the extents that were not merged
  std::uint64_t end = 0;
  std::uint64_t read = 0;
  std::size_t largest = 0;
  std::size_t smallest = SIZE_MAX;
};

TEST(ReduceExtents, LeavesFewEnoughRunsWithAllBytesInThem) {
  for (const std::size_t count : {0UL, 1UL, 2UL, 3UL, 5UL, 8UL, 9UL, 64UL, 65UL, 1000UL}) {
    for (const MergeLimits limits : {MergeLimits{1, 2}, MergeLimits{2, 2}, MergeLimits{3, 8}, MergeLimits{8, 3}}) {
      Extents extents(count);
      const std::uint64_t bytes = extents.Bytes();
      const std::uint64_t planned = BytesToMerge(extents.extents, limits);
      const auto merge = [&](std::span<const SpillExtent> some) { return extents.Merge(some); };
      ASSERT_OK_AND_ASSIGN(const bool whole, ReduceExtents(extents.extents, limits, merge));
      EXPECT_TRUE(whole);
      EXPECT_LE(extents.extents.size(), limits.most);
      EXPECT_EQ(extents.extents.size(), std::min(count, limits.most));
      EXPECT_EQ(extents.there.size(), extents.extents.size());
      EXPECT_EQ(extents.Bytes(), bytes);
      EXPECT_EQ(extents.read + bytes, planned);
      if (extents.read == 0) continue;
      EXPECT_LE(extents.largest, limits.fan_in);
      EXPECT_GE(extents.smallest, 2U);
      // Every extent is read as often as the passes of a whole merge are, or less.
      const double passes = std::ceil(std::log(static_cast<double>(count)) / std::log(limits.fan_in));
      EXPECT_LE(static_cast<double>(extents.read), passes * static_cast<double>(bytes)) << count;
    }
  }
}

TEST(ReduceExtents, ReadsNoMoreThanThereIsTooMuchOf) {
  Extents extents(100);
  const auto merge = [&](std::span<const SpillExtent> some) { return extents.Merge(some); };
  ASSERT_OK(ReduceExtents(extents.extents, {.most = 98, .fan_in = 98}, merge));
  EXPECT_EQ(extents.largest, 3U);
  EXPECT_EQ(extents.extents.size(), 98U);
}

TEST(ReduceExtents, EndsWithTheFirstErrorOrCollision) {
  int merges = 0;
  Extents extents(10);
  EXPECT_ERROR(ReduceExtents(extents.extents, {.most = 1, .fan_in = 2},
                             [&](std::span<const SpillExtent>) -> Merged { return RuntimeError("enough"); }),
               kRuntime, "enough");
  ASSERT_OK_AND_ASSIGN(const bool whole, ReduceExtents(extents.extents, {.most = 1, .fan_in = 2},
                                                       [&](std::span<const SpillExtent> some) -> Merged {
                                                         if (++merges == 3) return std::optional<SpillExtent>();
                                                         return extents.Merge(some);
                                                       }));
  EXPECT_FALSE(whole);
  EXPECT_EQ(merges, 3);
}

}  // namespace
}  // namespace octavo
