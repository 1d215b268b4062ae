#include "import/edge_encoder.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "import/edge_spill.h"
#include "import/node_writer.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

using Fields = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, float>;
Fields FieldsOf(const EdgeRecord& edge) { return {edge.head, edge.tail, edge.relation_and_split, edge.weight}; }

// 2,500 nodes with random hashes, of which every fifth has no training edge, and random edges between them.
class EncodeEdgesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::mt19937_64 random(1);
    while (rank_of_.size() < 2500) rank_of_[random()];
    ASSERT_OK_AND_ASSIGN(const auto writer, NodeWriter::Create(GraphPaths(folder_.path()), 0));
    std::vector<std::uint64_t> in_train((2500 + 63) / 64);
    std::vector<std::uint64_t> hashes;
    for (auto& [hash, rank] : rank_of_) {
      rank = static_cast<std::uint32_t>(hashes.size());
      if (rank % 5 != 0) in_train[rank / 64] |= std::uint64_t{1} << (rank % 64);
      hashes.push_back(hash);
      ASSERT_OK(writer->Append(hash, std::to_string(rank)));
    }
    ASSERT_OK(writer->Finish());
    ASSERT_OK_AND_ASSIGN(in_train_, SpillFile::Create(folder_ / "in_train", use_));
    ASSERT_OK(in_train_->Append(std::as_bytes(std::span<const std::uint64_t>(in_train))));
    ASSERT_OK_AND_ASSIGN(edges_, SpillFile::Create(folder_ / "edges", use_));
    for (int i = 0; i < 20000; ++i) {
      SpilledEdge edge{.head = hashes[random() % 2500], .tail = hashes[random() % 2500]};
      EdgeRecord record;
      record.set_relation(static_cast<std::uint32_t>(random() % 3));
      record.set_split(static_cast<EdgeSplit>(random() % 3));
      edge.relation_and_split = record.relation_and_split;
      edge.weight = static_cast<float>(i);
      spilled_.push_back(edge);
    }
    ASSERT_OK(edges_->Append(std::as_bytes(std::span<const SpilledEdge>(spilled_))));
    marks_.Set(0, NameMarks::kInTrain);
    marks_.Set(1, NameMarks::kInTrain);
    marks_.Set(2, NameMarks::kElsewhere);
    relations_.rank = {1, 0, 2};
  }

  EncoderInput Input() {
    return {.edges = *edges_,
            .hashes = GraphPaths(folder_.path()).NodeHashes(),
            .node_count = 2500,
            .in_train = in_train_.get(),
            .relation_marks = marks_,
            .relations = relations_,
            .drop_unseen = false};
  }

  absl::StatusOr<std::unique_ptr<CellSpill>> Out() {
    ASSIGN_OR_RETURN(std::unique_ptr<SpillFile> file, SpillFile::Create(folder_ / "sorted", use_));
    return std::make_unique<CellSpill>(std::move(file), PartitionLayout{.rows = 1024, .count = 3}, nullptr);
  }

  TemporaryFolder folder_{FastPlace()};
  SpillUse use_;
  std::map<std::uint64_t, std::uint32_t> rank_of_;
  std::unique_ptr<SpillFile> in_train_;
  std::unique_ptr<SpillFile> edges_;
  std::vector<SpilledEdge> spilled_;
  NameMarks marks_{3};
  NameRanking relations_;
};

TEST_F(EncodeEdgesTest, GivesTheIdsThatAMapGivesForAnyMemory) {
  for (const bool drop : {false, true}) {
    std::vector<Fields> expected;
    std::array<std::uint64_t, 3> unseen{};
    std::array<std::uint64_t, 3> kept{};
    for (const SpilledEdge& edge : spilled_) {
      EdgeRecord record{rank_of_[edge.head], rank_of_[edge.tail], edge.relation_and_split, edge.weight};
      const auto split = static_cast<std::size_t>(record.split());
      const bool new_here = split != 0 && (record.head % 5 == 0 || record.tail % 5 == 0 || record.relation() == 2);
      unseen[split] += new_here ? 1 : 0;
      if (new_here && drop) continue;
      ++kept[split];
      record.set_relation(relations_.rank[record.relation()]);
      expected.push_back(FieldsOf(record));
    }
    std::ranges::sort(expected);
    // From one node word and one edge at a time to all at once.
    for (const std::uint64_t memory : {1000U, 20000U, 300000U, 10000000U}) {
      ASSERT_OK_AND_ASSIGN(const auto out, Out());
      EncoderInput input = Input();
      input.drop_unseen = drop;
      ASSERT_OK_AND_ASSIGN(const EncodedEdges encoded, EncodeEdges(input, {.memory_bytes = memory}, *out));
      EXPECT_EQ(encoded.unseen, unseen);
      EXPECT_EQ(encoded.kept, kept);
      std::vector<Fields> found;
      ASSERT_OK_AND_ASSIGN(const EdgeChunks batches, out->ReadCells(9));
      EXPECT_EQ(batches.size() == 1, memory == 10000000U);
      for (const auto& batch : batches) {
        const auto cell = [](const EdgeRecord& edge) { return edge.head / 1024 * 3 + edge.tail / 1024; };
        EXPECT_TRUE(std::ranges::is_sorted(batch, {}, cell));
        for (const EdgeRecord& edge : batch) found.push_back(FieldsOf(edge));
      }
      std::ranges::sort(found);
      EXPECT_TRUE(found == expected) << drop << memory;
    }
  }
}

TEST_F(EncodeEdgesTest, ANameWithoutARowMakesAnEdgeUnseen) {
  SpilledEdge edge = spilled_[0];
  edge.head = 12345;
  EdgeRecord record;
  record.set_split(EdgeSplit::kTest);
  edge.relation_and_split = record.relation_and_split;
  ASSERT_OK(edges_->Append(AsBytes(edge)));
  ASSERT_OK_AND_ASSIGN(const auto out, Out());
  EncoderInput input = Input();
  input.in_train = nullptr;
  input.drop_unseen = true;
  marks_.Set(2, NameMarks::kInTrain);
  ASSERT_OK_AND_ASSIGN(const EncodedEdges encoded, EncodeEdges(input, {.memory_bytes = 50000}, *out));
  EXPECT_EQ(encoded.unseen, (std::array<std::uint64_t, 3>{0, 0, 1}));
  EXPECT_EQ(out->edges(), spilled_.size());
}

TEST_F(EncodeEdgesTest, Stops) {
  ASSERT_OK_AND_ASSIGN(const auto out, Out());
  EXPECT_TRUE(
      absl::IsCancelled(EncodeEdges(Input(), {.memory_bytes = 50000, .stop = [] { return true; }}, *out).status()));
}

}  // namespace
}  // namespace octavo
