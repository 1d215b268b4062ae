#include "import/edge_selection.h"

#include <algorithm>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "io/checksum.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

class SelectEdgesTest : public ::testing::Test {
 protected:
  std::uint32_t Id(NameTable& table, const std::string& text) {
    const std::vector<NameTable::Name> names = {{text, HashName(text, 0)}};
    std::vector<std::uint32_t> ids(1);
    EXPECT_OK(table.Intern(names, ids));
    return ids[0];
  }
  // Each call makes another chunk.
  void Add(const std::string& head, const std::string& relation, const std::string& tail, EdgeSplit split) {
    EdgeRecord record{.head = Id(nodes_, head), .tail = Id(nodes_, tail)};
    record.set_relation(Id(relations_, relation));
    record.set_split(split);
    chunks_.push_back({record});
  }
  std::vector<EdgeSplit> Splits() const {
    std::vector<EdgeSplit> splits;
    for (const auto& chunk : chunks_) splits.push_back(chunk[0].split());
    return splits;
  }
  static std::size_t Kept(const NameMarks& marks, bool only_train) {
    std::size_t kept = 0;
    for (std::uint32_t id = 0; id < marks.size(); ++id) kept += marks.Keeps(id, only_train) ? 1 : 0;
    return kept;
  }
  NameTable nodes_;
  NameTable relations_;
  EdgeChunks chunks_;
};

TEST_F(SelectEdgesTest, KeepsAllByDefaultAndCountsWhatIsUnusual) {
  Add("a", "r", "b", EdgeSplit::kTrain);
  Add("a", "r", "a", EdgeSplit::kTrain);
  Add("a", "r", "new", EdgeSplit::kValid);
  Add("newer", "s", "new", EdgeSplit::kTest);
  Add("b", "r", "a", EdgeSplit::kTest);
  const EdgeSelection selection = SelectEdges(chunks_, nodes_, relations_, {});
  EXPECT_EQ(selection.self_loops, 1U);
  EXPECT_EQ(selection.unseen_nodes, 2U);
  EXPECT_EQ(selection.unseen_relations, 1U);
  EXPECT_EQ(selection.unseen_edges, (std::array<std::uint64_t, 3>{0, 1, 1}));
  EXPECT_EQ(selection.kept_edges, (std::array<std::uint64_t, 3>{2, 1, 2}));
  EXPECT_EQ(Kept(selection.nodes, false), 4U);
  EXPECT_EQ(Kept(selection.relations, false), 2U);
}

TEST_F(SelectEdgesTest, DropsUnseenEdgesAndTheirNames) {
  Add("a", "r", "b", EdgeSplit::kTrain);
  Add("a", "r", "new", EdgeSplit::kValid);
  Add("a", "s", "b", EdgeSplit::kTest);
  Add("b", "r", "a", EdgeSplit::kTest);
  const EdgeSelection selection = SelectEdges(chunks_, nodes_, relations_, {.drop_unseen = true});
  EXPECT_EQ(Splits(),
            (std::vector<EdgeSplit>{EdgeSplit::kTrain, EdgeSplit::kDropped, EdgeSplit::kDropped, EdgeSplit::kTest}));
  EXPECT_EQ(selection.unseen_edges, (std::array<std::uint64_t, 3>{0, 1, 1}));
  EXPECT_EQ(selection.kept_edges, (std::array<std::uint64_t, 3>{1, 0, 1}));
  EXPECT_EQ(Kept(selection.nodes, true), 2U);
  EXPECT_EQ(Kept(selection.relations, true), 1U);
}

TEST_F(SelectEdgesTest, ANameOnlyInADroppedSelfLoopHasNoRow) {
  Add("a", "r", "b", EdgeSplit::kTrain);
  Add("lonely", "r", "lonely", EdgeSplit::kTrain);
  Add("lonely", "r", "a", EdgeSplit::kValid);
  const EdgeSelection selection =
      SelectEdges(chunks_, nodes_, relations_, {.drop_self_loops = true, .drop_unseen = true});
  EXPECT_EQ(selection.self_loops, 1U);
  EXPECT_EQ(Splits(), (std::vector<EdgeSplit>{EdgeSplit::kTrain, EdgeSplit::kDropped, EdgeSplit::kDropped}));
  EXPECT_EQ(Kept(selection.nodes, true), 2U);
}

TEST_F(SelectEdgesTest, ASplitReplacesThePartsAndKeepsCopiesTogether) {
  for (int i = 0; i < 600; ++i) Add(fmt::format("n{}", i % 200), "r", fmt::format("m{}", i % 200), EdgeSplit::kTrain);
  const SplitRule split = SplitRule::Parse("0.5,0.25,0.25", 3).value();
  const EdgeSelection selection = SelectEdges(chunks_, nodes_, relations_, {.split = split});
  for (const std::uint64_t kept : selection.kept_edges) EXPECT_GT(kept, 60U);
  const std::vector<EdgeSplit> splits = Splits();
  for (std::size_t i = 0; i < 400; ++i) EXPECT_EQ(splits[i], splits[i + 200]);
}

}  // namespace
}  // namespace octavo
