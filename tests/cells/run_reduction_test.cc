#include "cells/run_reduction.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

using Merged = absl::StatusOr<std::optional<SpillExtent>>;

// A file of runs, as far as extents tell it: merges read extents that are still there and append one of their size.
struct Runs {
  explicit Runs(std::size_t count) {
    for (std::uint64_t i = 0; i < count; ++i) extents.push_back(Append(1 + i % 3));
  }
  SpillExtent Append(std::uint64_t bytes) {
    there.insert(end);
    end += bytes;
    return {.begin = end - bytes, .end = end};
  }
  Merged Merge(std::span<const SpillExtent> group) {
    largest = std::max(largest, group.size());
    smallest = std::min(smallest, group.size());
    std::uint64_t bytes = 0;
    for (const SpillExtent& run : group) {
      EXPECT_EQ(there.erase(run.begin), 1U);
      bytes += run.end - run.begin;
    }
    read += bytes;
    return std::optional<SpillExtent>(Append(bytes));
  }
  std::uint64_t Bytes() const {
    std::uint64_t bytes = 0;
    for (const SpillExtent& run : extents) bytes += run.end - run.begin;
    return bytes;
  }

  std::vector<SpillExtent> extents;
  std::set<std::uint64_t> there;  // begins of the runs that were not merged
  std::uint64_t end = 0;
  std::uint64_t read = 0;
  std::size_t largest = 0;
  std::size_t smallest = SIZE_MAX;
};

TEST(ReduceRuns, LeavesFewEnoughRunsWithAllBytesInThem) {
  for (const std::size_t count : {0UL, 1UL, 2UL, 3UL, 5UL, 8UL, 9UL, 64UL, 65UL, 1000UL}) {
    for (const RunLimits limits : {RunLimits{1, 2}, RunLimits{2, 2}, RunLimits{3, 8}, RunLimits{8, 3}}) {
      Runs runs(count);
      const std::uint64_t bytes = runs.Bytes();
      const std::uint64_t planned = BytesToMerge(runs.extents, limits);
      const auto merge = [&](std::span<const SpillExtent> group) { return runs.Merge(group); };
      ASSERT_OK_AND_ASSIGN(const bool whole, ReduceRuns(runs.extents, limits, merge));
      EXPECT_TRUE(whole);
      EXPECT_LE(runs.extents.size(), limits.most);
      EXPECT_EQ(runs.extents.size(), std::min(count, limits.most));
      EXPECT_EQ(runs.there.size(), runs.extents.size());
      EXPECT_EQ(runs.Bytes(), bytes);
      EXPECT_EQ(runs.read + bytes, planned);
      if (runs.read == 0) continue;
      EXPECT_LE(runs.largest, limits.fan_in);
      EXPECT_GE(runs.smallest, 2U);
      // Every run is read as often as the passes of a whole merge are, or less.
      const double passes = std::ceil(std::log(static_cast<double>(count)) / std::log(limits.fan_in));
      EXPECT_LE(static_cast<double>(runs.read), passes * static_cast<double>(bytes)) << count;
    }
  }
}

TEST(ReduceRuns, ReadsNoMoreThanThereIsTooMuchOf) {
  Runs runs(100);
  const auto merge = [&](std::span<const SpillExtent> group) { return runs.Merge(group); };
  ASSERT_OK(ReduceRuns(runs.extents, {.most = 98, .fan_in = 98}, merge));
  EXPECT_EQ(runs.largest, 3U);
  EXPECT_EQ(runs.extents.size(), 98U);
}

TEST(ReduceRuns, EndsWithTheFirstErrorOrCollision) {
  int merges = 0;
  Runs runs(10);
  EXPECT_ERROR(ReduceRuns(runs.extents, {.most = 1, .fan_in = 2},
                          [&](std::span<const SpillExtent>) -> Merged { return RuntimeError("enough"); }),
               kRuntime, "enough");
  ASSERT_OK_AND_ASSIGN(const bool whole, ReduceRuns(runs.extents, {.most = 1, .fan_in = 2},
                                                    [&](std::span<const SpillExtent> group) -> Merged {
                                                      if (++merges == 3) return std::optional<SpillExtent>();
                                                      return runs.Merge(group);
                                                    }));
  EXPECT_FALSE(whole);
  EXPECT_EQ(merges, 3);
}

}  // namespace
}  // namespace octavo
