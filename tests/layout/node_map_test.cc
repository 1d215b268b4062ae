#include "layout/node_map.h"

#include <cmath>
#include <numeric>

#include "base/parallel.h"
#include "gtest/gtest.h"
#include "layout/principal_plane.h"
#include "tests/evaluate/fixture.h"
#include "tests/support/expect_status.h"
#include "tests/support/heap_peak.h"

namespace octavo {
namespace {

FixtureOptions Nodes(std::uint64_t nodes, std::uint32_t dim) {
  return {.model = {ModelKind::kDot, Norm::kL1, dim}, .nodes = nodes, .relations = 1, .edges = {1, 0, 0}, .range = 50};
}

TEST(NodeMap, PrincipalIsWhatTheReportComputes) {
  const EmbeddedFixture fixture(Nodes(1500, 7));
  ASSERT_OK_AND_ASSIGN(const NodeMap map, MakeNodeMap(fixture.Embedded(), {.kind = MapKind::kPrincipal}));
  std::vector<std::uint64_t> ids(1500);
  std::iota(ids.begin(), ids.end(), std::uint64_t{0});
  ASSERT_OK_AND_ASSIGN(const PrincipalPlane plane, ProjectNodes(fixture.Embedded(), ids, 1 << 20));
  EXPECT_EQ(map.variance_shares, plane.variance_shares);
  ASSERT_EQ(map.points.size(), 1500U);
  for (std::size_t i = 0; i < 1500; ++i) {
    EXPECT_EQ(map.points[i],
              (MapPoint{static_cast<float>(plane.points[i][0]), static_cast<float>(plane.points[i][1])}));
  }
}

// Rows around 8 directions: nodes of the same direction end up nearer to each other than to any other node.
TEST(NodeMap, ClustersAreApart) {
  constexpr std::uint64_t kNodes = 800;
  EmbeddedFixture fixture(Nodes(kNodes, 8));
  RandomStream random(1, RandomPurpose::kGenerate, 0, 0);
  for (std::uint64_t node = 0; node < kNodes; ++node) {
    for (std::uint64_t d = 0; d < 8; ++d) {
      fixture.naive.embeddings[node * 8 + d] = (d == node % 8 ? 1.0F : 0.0F) + 0.1F * random.NextNormal();
    }
  }
  fixture.Write();
  ASSERT_OK_AND_ASSIGN(const NodeMap map, MakeNodeMap(fixture.Embedded(), {.epochs = 300,
                                                                           .memory_bytes = 1 << 30,
                                                                           .scratch_folder = fixture.folder().path()}));
  double sum[2] = {0, 0};
  for (std::uint64_t node = 0; node < kNodes; ++node) {
    std::uint64_t nearest = kNodes;
    double least = INFINITY;
    for (std::uint64_t other = 0; other < kNodes; ++other) {
      const double distance =
          std::hypot(map.points[node][0] - map.points[other][0], map.points[node][1] - map.points[other][1]);
      if (other != node && distance < least) {
        least = distance;
        nearest = other;
      }
    }
    EXPECT_EQ(nearest % 8, node % 8) << node;
    for (std::size_t axis = 0; axis < 2; ++axis) sum[axis] += static_cast<double>(map.points[node][axis]);
  }
  EXPECT_NEAR(sum[0] / kNodes, 0, 1e-4);
  EXPECT_NEAR(sum[1] / kNodes, 0, 1e-4);
}

TEST(NodeMap, TheSameBitsForAnyThreadsAndMemory) {
  const EmbeddedFixture fixture(Nodes(2500, 6));
  std::vector<MapPoint> expected;
  for (const int threads : {1, 2, 3}) {
    MapOptions options = {.epochs = 30,
                          .neighbors = 5,
                          .threads = threads,
                          .scratch_folder = fixture.folder().path(),
                          .shard_capacity = 600};
    options.memory_bytes = threads == 2 ? std::uint64_t{1} << 30 : LeastMapBytes(fixture.Embedded(), options);
    ASSERT_OK_AND_ASSIGN(const NodeMap map,
                         WithThreads(threads, [&] { return MakeNodeMap(fixture.Embedded(), options); }));
    if (expected.empty()) expected = map.points;
    EXPECT_EQ(map.points, expected) << threads;
  }
}

// The same vectors everywhere: nothing to find, but no NaN and no node on another.
TEST(NodeMap, NodesWithTheSameVectorAreSpread) {
  for (const std::uint64_t nodes : {1U, 2U, 3U, 200U}) {
    EmbeddedFixture fixture(Nodes(nodes, 4));
    for (const float value : {0.0F, 2.0F}) {
      std::ranges::fill(fixture.naive.embeddings, value);
      fixture.Write();
      ASSERT_OK_AND_ASSIGN(const NodeMap map, MakeNodeMap(fixture.Embedded(), {.epochs = 50, .memory_bytes = 1 << 30}));
      std::set<MapPoint> places;
      for (const MapPoint& point : map.points) {
        EXPECT_TRUE(std::isfinite(point[0]) && std::isfinite(point[1]));
        places.insert(point);
      }
      EXPECT_EQ(places.size(), nodes);
    }
  }
}

// With the least memory, what is held grows with the points and the shards of the nodes, but not with rows and lists.
TEST(NodeMap, HoldsNoMoreThanItsMemory) {
  constexpr std::uint64_t kNodes = 20'000;
  const EmbeddedFixture fixture(Nodes(kNodes, 16));
  MapOptions options = {.epochs = 2, .neighbors = 32, .scratch_folder = fixture.folder().path(), .shard_capacity = 500};
  options.memory_bytes = LeastMapBytes(fixture.Embedded(), options);
  const HeapPeak peak;
  ASSERT_OK(WithThreads(1, [&] { return MakeNodeMap(fixture.Embedded(), options).status(); }));
  EXPECT_LE(peak.bytes(), options.memory_bytes);
  // The lists alone would be twice 10 MiB, and rows and lists of the shards 13 MiB more.
  EXPECT_LT(options.memory_bytes, 30U << 20);
}

}  // namespace
}  // namespace octavo
