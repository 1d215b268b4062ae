// edge_merge_test.cc compares the written bytes with those of whole cells; this file tests the edge cases of counts and
// blocks.
#include "cells/cell_stream.h"

#include <array>
#include <cfloat>
#include <string>
#include <vector>

#include "graph/cell_reader.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

class CellStreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    layout_.has_weights = 1;
    layout_.partition_count = 2;
    layout_.partition_rows = 1024;
    layout_.node_count = 2000;
    layout_.relation_count = 1;
    out_.relation_train_edges.resize(1);
    for (const std::string split : {"0", "1", "2"}) {
      writers_.push_back(CellWriter::Create(folder_ / split, layout_).value());
    }
  }
  static EdgeRecord Edge(std::uint32_t head, std::uint32_t tail, EdgeSplit split, float weight = 1) {
    EdgeRecord edge{.head = head, .tail = tail, .weight = weight};
    edge.set_split(split);
    return edge;
  }
  std::vector<octavo::Edge> Read(const std::string& split) {
    return CellReader::Open(folder_ / split).value().ReadAll().value();
  }

  TemporaryFolder folder_;
  CellsHeader layout_;
  WrittenEdges out_;
  std::vector<CellWriter> writers_;
};

TEST_F(CellStreamTest, MergesCopiesOfAPartAndCountsThoseOfTrain) {
  CellStream stream(writers_, layout_, true, out_);
  for (const float weight : {0.5F, 1.0F, 2.0F}) ASSERT_OK(stream.Push(0, Edge(1, 2, EdgeSplit::kTrain, weight)));
  for (int i = 0; i < 2; ++i) ASSERT_OK(stream.Push(0, Edge(1, 2, EdgeSplit::kValid)));
  ASSERT_OK(stream.Push(0, Edge(1, 2, EdgeSplit::kTest)));
  ASSERT_OK(stream.Push(0, Edge(3, 2, EdgeSplit::kTest, FLT_MAX)));
  ASSERT_OK(stream.Push(0, Edge(3, 2, EdgeSplit::kTest, FLT_MAX)));
  ASSERT_OK(stream.Push(3, Edge(1025, 1026, EdgeSplit::kValid)));
  ASSERT_OK(stream.Finish());
  for (CellWriter& writer : writers_) ASSERT_OK(writer.Finish());
  EXPECT_EQ(out_.duplicates, (std::array<std::uint64_t, 3>{2, 1, 1}));
  EXPECT_EQ(out_.also_in_train, (std::array<std::uint64_t, 3>{0, 1, 1}));
  EXPECT_EQ(out_.relation_train_edges, (std::vector<std::uint64_t>{1}));
  ASSERT_EQ(Read("0").size(), 1U);
  EXPECT_EQ(Read("0")[0], (octavo::Edge{NodeId{1}, NodeId{2}, RelationId{0}, 3.5F}));
  EXPECT_EQ(Read("1").size(), 2U);
  EXPECT_EQ(Read("2")[1].weight, FLT_MAX);
}

TEST_F(CellStreamTest, KeepsCopiesWhereTheyAreKept) {
  CellStream stream(writers_, layout_, false, out_);
  for (int i = 0; i < 5000; ++i) ASSERT_OK(stream.Push(0, Edge(1, 2, EdgeSplit::kTrain)));
  for (int i = 0; i < 3; ++i) ASSERT_OK(stream.Push(0, Edge(1, 2, EdgeSplit::kValid)));
  ASSERT_OK(stream.Finish());
  for (CellWriter& writer : writers_) ASSERT_OK(writer.Finish());
  EXPECT_EQ(out_.duplicates, (std::array<std::uint64_t, 3>{4999, 2, 0}));
  EXPECT_EQ(out_.also_in_train, (std::array<std::uint64_t, 3>{0, 3, 0}));
  EXPECT_EQ(out_.relation_train_edges, (std::vector<std::uint64_t>{5000}));
  EXPECT_EQ(Read("0").size(), 5000U);
}

TEST_F(CellStreamTest, WriteErrorsComeBack) {
  CellStream stream(writers_, layout_, true, out_);
  ASSERT_OK(stream.Push(0, Edge(1, 2, EdgeSplit::kTrain)));
  ASSERT_OK(SetFailpoints("file.write=enospc"));
  EXPECT_ERROR(stream.Finish(), kRuntime, "No space left");
  ASSERT_OK(SetFailpoints(""));
}

}  // namespace
}  // namespace octavo
