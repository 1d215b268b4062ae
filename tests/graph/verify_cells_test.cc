#include "graph/verify_cells.h"

#include <vector>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/small_cells.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

class VerifyCellsTest : public ::testing::Test {
 protected:
  void Write(const SmallCells& graph) { WriteSmallCells(path_, graph, DistinctEdges(3000, 2500, 3)); }
  // Returns the number of damages; relation_edges_ has the counts.
  std::uint64_t Damages() {
    CheckReport report;
    relation_edges_ = std::vector<std::atomic<std::uint64_t>>(3);
    const auto header = VerifyCells(path_, {}, relation_edges_, report);
    EXPECT_OK(header);
    texts_.clear();
    for (const Finding& finding : report.findings()) texts_ += DescribeFinding(finding) + "\n";
    return report.damage_count();
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "train.cells";
  std::vector<std::atomic<std::uint64_t>> relation_edges_;
  std::string texts_;
};

TEST_F(VerifyCellsTest, CountsTheEdgesOfEachRelation) {
  for (const bool weights : {false, true}) {
    Write({.node_count = 2500, .relation_count = 3, .has_weights = weights, .block_edges = 100});
    EXPECT_EQ(Damages(), 0U) << texts_;
    for (const auto& edges : relation_edges_) EXPECT_EQ(edges.load(), 1000U);
  }
  std::vector<Edge> edges = DistinctEdges(3000, 2500, 1);
  WriteSmallCells(path_, {.node_count = 2500}, edges);
  EXPECT_EQ(Damages(), 0U) << texts_;
  EXPECT_EQ(relation_edges_[0].load(), 3000U);
}

// A valid checksum does not make an id valid.
TEST_F(VerifyCellsTest, IdsOutOfRangeAreNamed) {
  std::vector<Edge> edges = DistinctEdges(30, 2500, 3);
  edges[7].relation = RelationId{3};
  edges[9].tail = NodeId{2500};  // past the end of the last, short partition
  WriteSmallCells(path_, {.node_count = 2500, .relation_count = 3}, edges);
  EXPECT_EQ(Damages(), 2U) << texts_;
  EXPECT_NE(texts_.find("has relation 3; expected less than 3"), std::string::npos) << texts_;
  EXPECT_NE(texts_.find("has tail 452; expected less than 452"), std::string::npos) << texts_;
}

TEST_F(VerifyCellsTest, EachDamagedBlockIsNamed) {
  Write({.node_count = 2500, .relation_count = 3, .block_edges = 100});
  for (const std::uint64_t byte : {4096U, 20'000U, 30'000U}) FlipByte(path_, byte);
  EXPECT_EQ(Damages(), 3U) << texts_;
  EXPECT_NE(texts_.find("block 0 at byte 4096: checksum "), std::string::npos) << texts_;
}

}  // namespace
}  // namespace octavo
