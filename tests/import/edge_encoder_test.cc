#include "import/edge_encoder.h"

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/import/edge_fields.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

// Three portions of random edges between places, of which every fifth is a name in no training edge. The map of portion
// p gives place i the id 3 i + p.
class EncodeEdgesTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kPlaces = 800;
  static std::uint32_t IdOf(std::uint32_t place, std::size_t portion) {
    return 3 * place + static_cast<std::uint32_t>(portion);
  }

  void SetUp() override {
    std::mt19937_64 random(1);
    ASSERT_OK_AND_ASSIGN(ids_, SpillFile::Create(folder_ / "ids", use_));
    ASSERT_OK_AND_ASSIGN(edges_, SpillFile::Create(folder_ / "edges", use_));
    for (const std::size_t count : {12000U, 0U, 8000U}) {
      const std::size_t portion = maps_.size();
      IdMapWriter writer(*ids_);
      for (std::uint32_t i = 0; i < kPlaces; ++i) ASSERT_OK(writer.Append(IdOf(i, portion), i % 5 != 0));
      ASSERT_OK_AND_ASSIGN(StoredIdMap map, writer.Finish());
      maps_.push_back(std::move(map));
      std::vector<EdgeRecord>& edges = spilled_.emplace_back();
      while (edges.size() < count) {
        EdgeRecord& edge = edges.emplace_back();
        edge.head = static_cast<std::uint32_t>(random() % kPlaces);
        edge.tail = static_cast<std::uint32_t>(random() % kPlaces);
        edge.set_relation(static_cast<std::uint32_t>(random() % 3));
        edge.set_split(static_cast<EdgeSplit>(random() % 3));
        edge.weight = static_cast<float>(edges.size());
      }
      AddPortion(edges);
    }
    marks_.Set(0, NameMarks::kInTrain);
    marks_.Set(1, NameMarks::kInTrain);
    marks_.Set(2, NameMarks::kElsewhere);
    relations_.rank = {1, 0, 2};
  }

  void AddPortion(std::span<const EdgeRecord> edges) {
    const std::uint64_t begin = edges_->size();
    ASSERT_OK(edges_->Append(std::as_bytes(edges)));
    portions_.push_back({.begin = begin, .end = edges_->size()});
  }

  EncoderInput Input() {
    return {.edges = *edges_,
            .portions = portions_,
            .ids = [this](std::size_t portion) { return IdMap::Read(*ids_, maps_[portion]); },
            .most_id_bytes = 10000,
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
  std::unique_ptr<SpillFile> ids_;
  std::unique_ptr<SpillFile> edges_;
  std::vector<StoredIdMap> maps_;
  std::vector<SpillExtent> portions_;
  std::vector<std::vector<EdgeRecord>> spilled_;  // by portion
  NameMarks marks_{3};
  NameRanking relations_;
};

TEST_F(EncodeEdgesTest, GivesTheIdsOfThePortionForAnyMemory) {
  for (const bool drop : {false, true}) {
    std::vector<EdgeFields> expected;
    std::array<std::uint64_t, 3> unseen{};
    std::array<std::uint64_t, 3> kept{};
    for (std::size_t portion = 0; portion < spilled_.size(); ++portion) {
      for (const EdgeRecord& edge : spilled_[portion]) {
        const auto split = static_cast<std::size_t>(edge.split());
        const bool new_here = split != 0 && (edge.head % 5 == 0 || edge.tail % 5 == 0 || edge.relation() == 2);
        unseen[split] += new_here ? 1 : 0;
        if (new_here && drop) continue;
        ++kept[split];
        EdgeRecord record{IdOf(edge.head, portion), IdOf(edge.tail, portion), edge.relation_and_split, edge.weight};
        record.set_relation(relations_.rank[edge.relation()]);
        expected.push_back(FieldsOf(record));
      }
    }
    std::ranges::sort(expected);
    // From one edge at a time to all portions at once.
    for (const std::uint64_t memory : {1000U, 20000U, 400000U, 10000000U}) {
      ASSERT_OK_AND_ASSIGN(const auto out, Out());
      EncoderInput input = Input();
      input.drop_unseen = drop;
      ASSERT_OK_AND_ASSIGN(const EncodedEdges encoded, EncodeEdges(input, {.memory_bytes = memory}, *out));
      EXPECT_EQ(encoded.unseen, unseen);
      EXPECT_EQ(encoded.kept, kept);
      std::vector<EdgeFields> found;
      ASSERT_OK_AND_ASSIGN(CellGroup batches, out->ReadCells(9));
      EXPECT_EQ(batches.most_runs() == 1, memory == 10000000U);
      for (std::uint32_t cell = 0; cell < 9; ++cell) {
        for (const std::span<EdgeRecord> run : batches.Runs(cell)) {
          for (const EdgeRecord& edge : run) {
            EXPECT_EQ(edge.head / 1024 * 3 + edge.tail / 1024, cell);
            found.push_back(FieldsOf(edge));
          }
        }
      }
      std::ranges::sort(found);
      EXPECT_TRUE(found == expected) << drop << memory;
    }
  }
}

TEST_F(EncodeEdgesTest, AnEdgeWithADroppedNameIsDropped) {
  IdMapWriter writer(*ids_);
  ASSERT_OK(writer.Append(7, true));
  ASSERT_OK(writer.Append(kNoId, false));
  ASSERT_OK_AND_ASSIGN(StoredIdMap map, writer.Finish());
  maps_.push_back(std::move(map));
  std::vector<EdgeRecord> edges(2);
  edges[0].tail = 1;
  for (EdgeRecord& edge : edges) edge.set_split(EdgeSplit::kTest);
  portions_.clear();
  maps_.erase(maps_.begin(), maps_.begin() + 3);
  AddPortion(edges);
  ASSERT_OK_AND_ASSIGN(const auto out, Out());
  EncoderInput input = Input();
  input.drop_unseen = true;
  ASSERT_OK_AND_ASSIGN(const EncodedEdges encoded, EncodeEdges(input, {.memory_bytes = 50000}, *out));
  EXPECT_EQ(encoded.unseen, (std::array<std::uint64_t, 3>{0, 0, 1}));
  EXPECT_EQ(encoded.kept, (std::array<std::uint64_t, 3>{0, 0, 1}));
  ASSERT_OK_AND_ASSIGN(CellGroup batches, out->ReadCells(9));
  const std::vector<std::span<EdgeRecord>> runs = batches.Runs(0);
  ASSERT_EQ(runs.size(), 1U);
  ASSERT_EQ(runs[0].size(), 1U);
  EXPECT_EQ(runs[0][0].head, 7U);
}

TEST_F(EncodeEdgesTest, Stops) {
  ASSERT_OK_AND_ASSIGN(const auto out, Out());
  EXPECT_TRUE(
      absl::IsCancelled(EncodeEdges(Input(), {.memory_bytes = 50000, .stop = [] { return true; }}, *out).status()));
}

}  // namespace
}  // namespace octavo
