#include "cells/cell_spill.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "gtest/gtest.h"
#include "tests/cells/three_partitions.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

constexpr std::uint32_t kCells = 9;

// No edge of this batch is in cell 4 if it is even.
std::vector<EdgeRecord> Batch(std::uint32_t batch) {
  std::vector<EdgeRecord> edges;
  for (std::uint32_t i = 0; i < 500; ++i) {
    EdgeRecord edge{.head = (i * 7919 + batch * 31) % 3000, .tail = i * i % 3000, .weight = static_cast<float>(batch)};
    edge.set_split(static_cast<EdgeSplit>(i * 104729 % 3));
    if (batch % 2 != 0 || CellOf(edge) != 4) edges.push_back(edge);
  }
  return edges;
}

auto Fields(const EdgeRecord& edge) {
  return std::tuple(CellOf(edge), edge.head, edge.tail, edge.split(), edge.weight);
}

std::vector<EdgeRecord> EdgesOf(CellGroup& group, std::uint32_t cell) {
  std::vector<EdgeRecord> edges;
  for (const std::span<EdgeRecord> run : group.Runs(cell)) {
    EXPECT_FALSE(run.empty());
    EXPECT_TRUE(std::ranges::is_sorted(run, {}, &EdgeRecord::split));
    edges.insert(edges.end(), run.begin(), run.end());
  }
  EXPECT_EQ(edges.size(), group.Size(cell));
  return edges;
}

class CellSpillTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(std::unique_ptr<SpillFile> file, SpillFile::Create(folder_ / "edges", use_));
    spill_ = std::make_unique<CellSpill>(std::move(file), kThreePartitions, nullptr);
    for (std::uint32_t batch = 0; batch < 5; ++batch) {
      const std::vector<EdgeRecord> edges = Batch(batch);
      for (const EdgeRecord& edge : edges) expected_[CellOf(edge)].push_back(edge);
      EdgeChunks chunks = {edges, {}};
      ASSERT_OK(spill_->Append(chunks));
      EXPECT_TRUE(std::ranges::equal(chunks[0], edges, {}, Fields, Fields));
    }
    EdgeChunks none;
    ASSERT_OK(spill_->Append(none));
    ASSERT_OK(spill_->FinishWriting());
  }

  // Compares edges of any order with those of cells [first, last).
  void ExpectCells(std::vector<EdgeRecord> found, std::uint32_t first, std::uint32_t last) {
    std::vector<EdgeRecord> expected;
    for (std::uint32_t cell = first; cell < last; ++cell) {
      expected.insert(expected.end(), expected_[cell].begin(), expected_[cell].end());
    }
    std::ranges::sort(found, {}, Fields);
    std::ranges::sort(expected, {}, Fields);
    EXPECT_TRUE(std::ranges::equal(found, expected, {}, Fields, Fields)) << first << " to " << last;
  }

  TemporaryFolder folder_{FastPlace()};
  SpillUse use_;
  std::unique_ptr<CellSpill> spill_;
  std::array<std::vector<EdgeRecord>, kCells> expected_;
};

TEST_F(CellSpillTest, ReadsTheEdgesOfSomeCellsFromAllBatches) {
  std::uint64_t total = 0;
  for (std::uint32_t cell = 0; cell < kCells; ++cell) {
    EXPECT_EQ(spill_->cell_edges()[cell], expected_[cell].size());
    total += expected_[cell].size();
  }
  EXPECT_EQ(spill_->edges(), total);
  for (std::uint32_t first = 0; const std::uint32_t last : {1U, 4U, 5U, 9U}) {
    ASSERT_OK_AND_ASSIGN(CellGroup group, spill_->ReadCells(last));
    EXPECT_EQ(group.most_runs(), 5U);
    for (; first < last; ++first) ExpectCells(EdgesOf(group, first), first, first + 1);
  }
}

TEST_F(CellSpillTest, ReadsACellInPieces) {
  ASSERT_OK(spill_->ReadCells(2).status());
  for (const std::uint32_t cell : {2U, 3U}) {
    std::vector<EdgeRecord> found;
    while (true) {
      ASSERT_OK_AND_ASSIGN(const std::vector<EdgeRecord> piece, spill_->ReadPiece(37));
      if (piece.empty()) break;
      EXPECT_LE(piece.size(), 37U);
      found.insert(found.end(), piece.begin(), piece.end());
    }
    ExpectCells(std::move(found), cell, cell + 1);
  }
  ASSERT_OK_AND_ASSIGN(CellGroup group, spill_->ReadCells(5));
  ExpectCells(EdgesOf(group, 4), 4, 5);
}

TEST_F(CellSpillTest, StopsWhileItWrites) {
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<SpillFile> file, SpillFile::Create(folder_ / "other", use_));
  CellSpill stopped(std::move(file), kThreePartitions, [] { return true; });
  EdgeChunks chunks = {Batch(1)};
  EXPECT_TRUE(absl::IsCancelled(stopped.Append(chunks)));
}

}  // namespace
}  // namespace octavo
