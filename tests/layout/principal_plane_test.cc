#include "layout/principal_plane.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "base/status.h"
#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/small_graph.h"

namespace octavo {
namespace {

constexpr std::uint64_t kNodes = kPartitionRowQuantum + 500;

class PrincipalPlaneTest : public ::testing::Test {
 protected:
  // Writes the rows [kNodes, dim] and a graph with that many nodes.
  void Write(std::vector<float> values, std::uint64_t dim) {
    dim_ = dim;
    values_ = std::move(values);
    const std::filesystem::path folder = folder_ / std::to_string(dim);
    std::filesystem::create_directories(folder);
    graph_ = WriteGraph({.names = NumberedNames(kNodes)}, folder / "graph");
    table_.emplace(WriteTable(values_, dim, kPartitionRowQuantum, folder));
  }
  EmbeddedGraph embedded() const { return {*graph_, *table_, {}, {.kind = ModelKind::kDot, .dim = dim_}}; }

  TemporaryFolder folder_;
  std::uint64_t dim_ = 0;
  std::vector<float> values_;
  std::unique_ptr<Graph> graph_;
  std::optional<TableReader> table_;
};

// Rows mean + a * u + b * v with orthonormal u and v: these span the plane, and a and b are the coordinates.
TEST_F(PrincipalPlaneTest, FindsThePlaneThatTheRowsWereMadeIn) {
  constexpr std::uint64_t kDim = 6;
  const double u[kDim] = {0, 0.6, 0, -0.8, 0, 0};
  const double v[kDim] = {0, 0, 1, 0, 0, 0};
  std::vector<float> values(kNodes * kDim);
  std::vector<std::array<double, 2>> made(kNodes);
  RandomStream random(1, RandomPurpose::kGenerate, 0, 0);
  for (std::uint64_t i = 0; i < kNodes; i += 2) {  // in pairs around the mean, so that a and b are not correlated
    const double a = 5 + random.NextFloat(), b = 1 + random.NextFloat();
    made[i] = {i % 4 == 0 ? a : -a, b};
    made[i + 1] = {-made[i][0], i % 8 < 4 ? b : -b};
  }
  for (std::uint64_t i = 0; i < kNodes; ++i) {
    for (std::uint64_t d = 0; d < kDim; ++d) {
      values[i * kDim + d] = static_cast<float>(100.0 + made[i][0] * u[d] + made[i][1] * v[d]);
    }
  }
  Write(std::move(values), kDim);
  std::vector<std::uint64_t> nodes(kNodes);
  std::iota(nodes.rbegin(), nodes.rend(), std::uint64_t{0});  // from the last to the first
  ASSERT_OK_AND_ASSIGN(const PrincipalPlane plane, ProjectNodes(embedded(), nodes, 1 << 20));
  EXPECT_NEAR(plane.variance_shares[0] + plane.variance_shares[1], 1, 1e-6);
  EXPECT_GT(plane.variance_shares[0], plane.variance_shares[1]);
  // Distances are preserved, because all differences lie in the plane.
  for (std::uint64_t i = 1; i < kNodes; i += 97) {
    const auto& p = plane.points[kNodes - 1 - i];
    const auto& q = plane.points[kNodes - 1];  // of node 0
    EXPECT_NEAR(std::hypot(p[0] - q[0], p[1] - q[1]), std::hypot(made[i][0] - made[0][0], made[i][1] - made[0][1]),
                1e-3);
  }
  double sum[2] = {0, 0}, product = 0;
  for (const auto& point : plane.points) {
    sum[0] += point[0], sum[1] += point[1], product += point[0] * point[1];
  }
  EXPECT_NEAR(sum[0], 0, 1e-3);
  EXPECT_NEAR(sum[1], 0, 1e-3);
  EXPECT_NEAR(product, 0, 1e-2);
}

TEST_F(PrincipalPlaneTest, TheBitsDoNotDependOnTheMemory) {
  constexpr std::uint64_t kDim = 9;
  std::vector<float> values(kNodes * kDim);
  RandomStream random(2, RandomPurpose::kGenerate, 0, 0);
  for (float& value : values) value = random.NextNormal();
  Write(std::move(values), kDim);
  const std::vector<std::uint64_t> nodes = {1500, 3, 700, 701, 702, 1023, 1024, 0};
  ASSERT_OK_AND_ASSIGN(const PrincipalPlane much, ProjectNodes(embedded(), nodes, 1 << 30));
  ASSERT_OK_AND_ASSIGN(const PrincipalPlane little, ProjectNodes(embedded(), nodes, 1));
  EXPECT_EQ(much.points, little.points);
  EXPECT_EQ(much.variance_shares, little.variance_shares);
}

TEST_F(PrincipalPlaneTest, FewDimensionsNoVarianceNoNodes) {
  Write(std::vector<float>(kNodes, 2.5F), 1);
  const std::vector<std::uint64_t> nodes = {4, 2};
  ASSERT_OK_AND_ASSIGN(PrincipalPlane plane, ProjectNodes(embedded(), nodes, 1 << 20));
  EXPECT_EQ(plane.points, (std::vector<std::array<double, 2>>{{0, 0}, {0, 0}}));
  EXPECT_EQ(plane.variance_shares[0], 0);
  ASSERT_OK_AND_ASSIGN(plane, ProjectNodes(embedded(), {}, 1 << 20));
  EXPECT_TRUE(plane.points.empty());
}

}  // namespace
}  // namespace octavo
