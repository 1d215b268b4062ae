#include "index/cosine_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#define NO_MANUAL_VECTORIZATION
#include <hnswlib/hnswlib.h>

#include <cmath>
#include <cstring>
#include <set>

#include "base/status.h"
#include "fmt/format.h"
#include "io/checksum.h"
#include "tests/evaluate/fixture.h"
#include "tests/support/damage.h"
#include "tests/support/file_bytes.h"

namespace octavo {
namespace {

double Cosine(const NaiveModel& model, std::uint64_t a, std::uint64_t b) {
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < model.spec.dim; ++i) {
    ab += model.E(a, i) * model.E(b, i);
    aa += model.E(a, i) * model.E(a, i);
    bb += model.E(b, i) * model.E(b, i);
  }
  return aa * bb == 0 ? 0 : ab / std::sqrt(aa * bb);
}

// The cosines of all others, descending.
std::vector<double> AllCosines(const NaiveModel& model, std::uint64_t node) {
  std::vector<double> cosines;
  for (std::uint64_t other = 0; other < model.nodes; ++other) {
    if (other != node) cosines.push_back(Cosine(model, node, other));
  }
  std::sort(cosines.rbegin(), cosines.rend());
  return cosines;
}

FixtureOptions Nodes(std::uint64_t nodes, std::uint32_t dim = 8) {
  return {.model = {ModelKind::kDot, Norm::kL1, dim}, .nodes = nodes, .relations = 1, .edges = {1, 0, 0}, .range = 50};
}

class CosineIndexTest : public testing::Test {
 protected:
  std::filesystem::path Path() const { return fixture_.folder().path() / "index"; }

  IndexHeader Write(const CosineIndex& index) {
    auto output = OutputFile::Open(Path().string());
    auto header = index.Write(*output);
    EXPECT_TRUE(header.ok());
    EXPECT_TRUE(output->Commit().ok());
    return *header;
  }
  CosineIndex Build(std::uint32_t m = 8) {
    auto index = CosineIndex::Build(fixture_.Embedded(), {.m = m, .ef_construction = 60});
    EXPECT_TRUE(index.ok());
    return *std::move(index);
  }

  EmbeddedFixture fixture_{Nodes(400)};
};

TEST_F(CosineIndexTest, FindsAllWhereTheSearchKeepsAll) {
  std::fill_n(fixture_.naive.embeddings.begin() + 8 * 17, 8, 0.0F);
  fixture_.Write();
  const CosineIndex index = Build();
  for (const std::uint64_t node : {0U, 17U, 399U}) {
    const std::vector<double> expected = AllCosines(fixture_.naive, node);
    const std::vector<ScoredNode> found = index.Nearest(NodeId{node}, 30, 400);
    ASSERT_EQ(found.size(), 30U);
    std::set<NodeId> seen;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_TRUE(seen.insert(found[i].node).second);
      EXPECT_NE(Value(found[i].node), node);
      EXPECT_NEAR(found[i].score, expected[i], 1e-5);
      EXPECT_NEAR(found[i].score, Cosine(fixture_.naive, node, Value(found[i].node)), 1e-5);
    }
  }
  EXPECT_EQ(index.Nearest(NodeId{3}, 1000, 10).size(), 399U);
}

TEST_F(CosineIndexTest, RecallIsThatOfTheExactSearch) {
  const CosineIndex index = Build(2);
  for (const std::size_t ef : {1U, 5U, 400U}) {
    double hits = 0;
    for (std::uint64_t node = 0; node < 400; node += 4) {
      const double threshold = AllCosines(fixture_.naive, node)[4];
      for (const ScoredNode& found : index.Nearest(NodeId{node}, 5, ef))
        hits += found.score >= threshold - 1e-6 ? 1 : 0;
    }
    EXPECT_NEAR(index.Recall(100, 5, ef, 2), hits / 500, 0.004) << ef;
    if (ef == 1) {
      EXPECT_LT(hits, 475);
    }
    if (ef == 400) {
      EXPECT_GT(hits, 490);
    }
  }
}

TEST_F(CosineIndexTest, HnswlibReadsTheFileAndFindsTheSame) {
  const CosineIndex index = Build();
  Write(index);
  hnswlib::InnerProductSpace space(8);
  hnswlib::HierarchicalNSW<float> read(&space, Path().string());
  ASSERT_EQ(read.cur_element_count, 400U);
  for (std::uint64_t node = 0; node < 400; node += 40) {
    auto found = read.searchKnn(read.getDataByInternalId(static_cast<unsigned>(node)), 100);
    ASSERT_EQ(found.size(), 100U);
    std::set<std::uint64_t> expected = {node};
    for (const ScoredNode& scored : index.Nearest(NodeId{node}, 99, 100)) expected.insert(Value(scored.node));
    std::size_t same = 0;
    for (; !found.empty(); found.pop()) same += expected.contains(found.top().second) ? 1 : 0;
    EXPECT_GE(same, 99U);  // the last one may be another node with the same cosine
  }
}

TEST_F(CosineIndexTest, TheSameBytesAgainAndAfterALoad) {
  const IndexHeader header = Write(Build());
  const std::string bytes = FileBytes(Path());
  EXPECT_EQ(header.file_bytes, bytes.size());
  for (const bool drop_behind : {false, true}) {
    const auto loaded = CosineIndex::Load(Path(), header, drop_behind);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_EQ(loaded->Nearest(NodeId{7}, 20, 50), Build().Nearest(NodeId{7}, 20, 50));
    EXPECT_EQ(Write(*loaded).file_checksum, header.file_checksum);
    EXPECT_EQ(FileBytes(Path()), bytes);
  }
}

TEST_F(CosineIndexTest, AnyDamageIsRefused) {
  const IndexHeader header = Write(Build());
  ForEachDamage(Path(), 96, 100, [&](const std::string& what, const std::string&) {
    const auto loaded = CosineIndex::Load(Path(), header, false);
    ASSERT_FALSE(loaded.ok()) << what;
    EXPECT_EQ(KindOf(loaded.status()), ErrorKind::kCorrupt) << what;
    EXPECT_THAT(std::string(loaded.status().message()), testing::HasSubstr(Path().string()));
  });
}

// A forged file can have a valid checksum: whatever it contains, no link may lead outside the memory.
TEST_F(CosineIndexTest, WhatIsMadeUpIsRefusedOrHarmless) {
  IndexHeader header = Write(Build());
  const std::string whole = FileBytes(Path());
  RandomStream random(3, RandomPurpose::kSplit, 0, 0);
  constexpr std::size_t kNodeBytes = 4 + 16 * 4 + 8 * 4 + 8;
  constexpr std::size_t kUpper = 96 + 400 * kNodeBytes;
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    std::string bytes = whole;
    const std::size_t place = i % 3 == 0   ? random.Below(96)
                              : i % 3 == 1 ? 96 + random.Below(400) * kNodeBytes + random.Below(4 + 16 * 4)
                                           : kUpper + random.Below(bytes.size() - kUpper);
    bytes[place] = static_cast<char>(bytes[place] ^ static_cast<char>(1 + random.Below(255)));
    WriteFileBytes(Path(), bytes);
    header.file_checksum = Checksum64(std::as_bytes(std::span<const char>(bytes)));
    const auto loaded = CosineIndex::Load(Path(), header, false);
    if (loaded.ok()) {
      EXPECT_LE(loaded->Nearest(NodeId{5}, 10, 50).size(), 10U);
    } else {
      EXPECT_EQ(KindOf(loaded.status()), ErrorKind::kCorrupt);
      ++refused;
    }
  }
  EXPECT_GT(refused, 140);
}

TEST_F(CosineIndexTest, OneNode) {
  EmbeddedFixture lonely(Nodes(1));
  const auto index = CosineIndex::Build(lonely.Embedded(), {});
  ASSERT_TRUE(index.ok());
  EXPECT_TRUE(index->Nearest(NodeId{0}, 5, 5).empty());
  EXPECT_EQ(index->Recall(10, 5, 5, 1), 1);
}

TEST_F(CosineIndexTest, NanIsAnError) {
  fixture_.naive.embeddings[11] = std::nanf("");
  fixture_.Write();
  EXPECT_FALSE(CosineIndex::Build(fixture_.Embedded(), {}).ok());
}

}  // namespace
}  // namespace octavo
