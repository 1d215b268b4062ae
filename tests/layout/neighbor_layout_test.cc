#include "layout/neighbor_layout.h"

#include <cmath>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

constexpr std::uint64_t kWidth = 6;

// Lists with up to 4 neighbours; every 11th node has none. Unused words are anywhere.
std::vector<std::uint32_t> RandomLists(std::uint64_t nodes) {
  std::vector<std::uint32_t> words(nodes * kWidth, kNoNode);
  RandomStream random(4, RandomPurpose::kGenerate, 0, 0);
  for (std::uint64_t node = 0; node < nodes; ++node) {
    for (int i = 0; node % 11 != 0 && i < 4; ++i) {
      words[node * kWidth + random.Below(kWidth)] = static_cast<std::uint32_t>(random.Below(nodes));
    }
  }
  return words;
}

std::vector<MapPoint> RandomPoints(std::uint64_t nodes) {
  std::vector<MapPoint> points(nodes);
  RandomStream random(5, RandomPurpose::kGenerate, 0, 0);
  for (MapPoint& point : points) point = {random.NextNormal(), random.NextNormal()};
  return points;
}

absl::StatusOr<ScratchTable> TableOf(const std::vector<std::uint32_t>& words, const std::filesystem::path* folder) {
  absl::StatusOr<ScratchTable> table = ScratchTable::InMemory(words.size() / kWidth, kWidth);
  if (folder != nullptr) table = ScratchTable::InFile(*folder, words.size() / kWidth, kWidth);
  EXPECT_OK(table->Write(0, words));
  return table;
}

// The schedule as neighbor_layout.h describes it, node by node and in double precision.
std::vector<std::array<double, 2>> NaiveLayout(const std::vector<std::uint32_t>& words, const LayoutOptions& options,
                                               const std::vector<MapPoint>& start) {
  const std::uint64_t nodes = start.size();
  std::vector<std::array<double, 2>> points(nodes);
  for (std::uint64_t i = 0; i < nodes; ++i) points[i] = {start[i][0], start[i][1]};
  const auto below = [](std::uint32_t word, std::uint64_t bound) { return (word * bound) >> 32; };
  for (std::uint32_t round = 0; round < options.epochs; round += 16) {
    for (std::uint64_t begin = 0; begin < nodes; begin += 65'536) {
      const std::uint64_t end = std::min<std::uint64_t>(begin + 65'536, nodes);
      for (std::uint32_t epoch = round; epoch < std::min(round + 16, options.epochs); ++epoch) {
        const double rate = options.learning_rate * (1 - static_cast<double>(epoch) / options.epochs);
        const std::vector<std::array<double, 2>> before = points;
        for (std::uint64_t node = begin; node < end; ++node) {
          std::vector<std::uint32_t> list;
          for (std::uint64_t w = 0; w < kWidth; ++w) {
            if (words[node * kWidth + w] != kNoNode) list.push_back(words[node * kWidth + w]);
          }
          if (list.empty()) continue;
          RandomStream draws(options.seed, RandomPurpose::kLayoutNeighbors, round, node);
          for (std::uint32_t skipped = round; skipped < epoch; ++skipped) draws.Next32();
          const std::uint32_t near = list[below(draws.Next32(), list.size())];
          const auto q = [&](std::uint64_t other) {
            const double dx = before[node][0] - before[other][0];
            const double dy = before[node][1] - before[other][1];
            return 1 / (1 + dx * dx + dy * dy);
          };
          RandomStream chunk(options.seed, RandomPurpose::kLayoutNegatives, epoch, begin + (node - begin) / 256 * 256);
          std::vector<std::uint64_t> negatives;
          double sum = q(near);
          for (std::uint32_t k = 0; k < options.negatives; ++k) {
            const std::uint64_t negative = below(chunk.Next32(), nodes);
            if (negative == node) continue;
            negatives.push_back(negative);
            sum += q(negative);
          }
          for (std::size_t axis = 0; axis < 2; ++axis) {
            double gradient = 2 * q(near) * (1 - q(near) / sum) * (before[node][axis] - before[near][axis]);
            for (const std::uint64_t k : negatives) {
              gradient -= 2 / sum * q(k) * q(k) * (before[node][axis] - before[k][axis]);
            }
            points[node][axis] -= rate * gradient;
          }
        }
      }
    }
  }
  return points;
}

double FurthestApart(const std::vector<MapPoint>& found, const std::vector<std::array<double, 2>>& expected) {
  double most = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      most = std::max(most, std::abs(static_cast<double>(found[i][axis]) - expected[i][axis]));
    }
  }
  return most;
}

TEST(NeighborLayout, FollowsTheScheduleOfTheNaiveLoop) {
  for (const std::uint64_t nodes : {1U, 7U, 600U}) {
    const std::vector<std::uint32_t> words = RandomLists(nodes);
    const LayoutOptions options = {.epochs = 37, .negatives = 10, .learning_rate = 0.5, .seed = 6};
    std::vector<MapPoint> points = RandomPoints(nodes);
    const auto expected = NaiveLayout(words, options, points);
    ASSERT_OK_AND_ASSIGN(const ScratchTable lists, TableOf(words, nullptr));
    ASSERT_OK(OptimizeLayout(lists, options, points));
    EXPECT_LT(FurthestApart(points, expected), 1e-3) << nodes;
  }
}

TEST(NeighborLayout, BlocksTakeTurns) {
  const std::uint64_t nodes = kLayoutBlockNodes + 300;
  const std::vector<std::uint32_t> words = RandomLists(nodes);
  const LayoutOptions options = {.epochs = 18, .negatives = 2, .learning_rate = 0.5, .seed = 7};
  std::vector<MapPoint> points = RandomPoints(nodes);
  const auto expected = NaiveLayout(words, options, points);
  ASSERT_OK_AND_ASSIGN(const ScratchTable lists, TableOf(words, nullptr));
  ASSERT_OK(OptimizeLayout(lists, options, points));
  EXPECT_LT(FurthestApart(points, expected), 1e-3);
}

TEST(NeighborLayout, TheSameBitsForAnyThreadsInMemoryAndFile) {
  const TemporaryFolder folder;
  const std::vector<std::uint32_t> words = RandomLists(5000);
  const LayoutOptions options = {.epochs = 20, .negatives = 20, .seed = 8};
  std::vector<MapPoint> expected;
  for (const int threads : {1, 2, 3}) {
    for (const bool in_file : {false, true}) {
      std::vector<MapPoint> points = RandomPoints(5000);
      const std::filesystem::path path = folder.path();
      ASSERT_OK_AND_ASSIGN(const ScratchTable lists, TableOf(words, in_file ? &path : nullptr));
      ASSERT_OK(WithThreads(threads, [&] { return OptimizeLayout(lists, options, points); }));
      if (expected.empty()) expected = points;
      EXPECT_EQ(points, expected) << threads << in_file;
    }
  }
  LayoutOptions other = options;
  other.seed = 9;
  std::vector<MapPoint> points = RandomPoints(5000);
  ASSERT_OK_AND_ASSIGN(const ScratchTable lists, TableOf(words, nullptr));
  ASSERT_OK(OptimizeLayout(lists, other, points));
  EXPECT_NE(points, expected);
}

TEST(NeighborLayout, ANodeWithoutNeighboursStays) {
  const std::vector<std::uint32_t> words = RandomLists(100);
  std::vector<MapPoint> points = RandomPoints(100);
  const std::vector<MapPoint> before = points;
  ASSERT_OK_AND_ASSIGN(const ScratchTable lists, TableOf(words, nullptr));
  ASSERT_OK(OptimizeLayout(lists, {.epochs = 20}, points));
  for (std::size_t node = 0; node < 100; ++node) EXPECT_EQ(points[node] == before[node], node % 11 == 0) << node;
}

}  // namespace
}  // namespace octavo
