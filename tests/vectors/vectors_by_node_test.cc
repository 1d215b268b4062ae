#include "vectors/vectors_by_node.h"

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/small_graph.h"
#include "vectors/table_source.h"
#include "vectors/vector_file.h"

namespace octavo {
namespace {

// Half of the nodes have a vector, half of the vectors a node.
TEST(VectorsByNode, GivesEachNodeTheVectorOfItsName) {
  const TemporaryFolder folder;
  std::vector<std::string> names;
  std::string text = "3000 2\n";
  std::map<std::string, float> expected;
  for (int i = 0; i < 3000; ++i) {
    names.push_back(fmt::format("n{}", i));
    const std::string other = fmt::format("n{}", i + 1500);
    expected[other] = static_cast<float>(i);
    text += fmt::format("{} {} {}\n", other, i, -i);
  }
  const auto graph = WriteGraph({.names = names}, folder / "graph");
  WriteFileBytes(folder / "vectors", text);
  ASSERT_OK_AND_ASSIGN(auto source, OpenVectorFile(folder / "vectors", ""));
  SpillUse use;
  ASSERT_OK_AND_ASSIGN(
      auto sorted, SortedVectors::Make(std::move(source), graph->nodes().hash_seed(), 1 << 20, folder / "spill", use));
  VectorsByNode vectors(std::move(sorted), graph->nodes());
  std::vector<float> rows(3000 * 2, 7.0F);
  std::vector<bool> found(3000);
  for (std::uint64_t first = 0; first < 3000; first += 999) {
    const std::uint64_t count = std::min<std::uint64_t>(999, 3000 - first);
    ASSERT_OK(vectors.Copy(first, std::span(rows).subspan(first * 2, count * 2),
                           [&](NodeId node) { found[Value(node)] = true; }));
  }
  ASSERT_OK(vectors.Finish());
  EXPECT_EQ(vectors.count(), 3000U);
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const auto vector = expected.find(std::string(graph->nodes().Name(NodeId{i})));
    const float value = vector == expected.end() ? 7.0F : vector->second;
    EXPECT_EQ(rows[2 * i], value);
    EXPECT_EQ(rows[2 * i + 1], vector == expected.end() ? 7.0F : -value);
    EXPECT_EQ(found[i], vector != expected.end());
  }
}

TEST(TableSource, GivesRowsAndNamesInOrderAndComparesChecksums) {
  const TemporaryFolder folder;
  const auto graph = WriteGraph({.names = NumberedNames(2500)}, folder / "graph");
  std::vector<float> values(2500 * 600);  // two blocks
  RandomStream random(3, RandomPurpose::kSplit, 0, 0);
  for (float& value : values) value = random.NextNormal();
  TableReader table = WriteTable(values, 600, 1024, folder.path());
  std::vector<std::uint64_t> checksums;
  for (std::size_t row = 0; row < 2500; row += 1024) {
    const auto part = std::span<const float>(values).subspan(row * 600, std::min<std::size_t>(1024, 2500 - row) * 600);
    checksums.push_back(Checksum64(std::as_bytes(part)));
  }
  table.Expect({.checksums = checksums, .is_current = nullptr});
  TableSource source(table, graph->nodes(), "table");
  for (std::uint64_t row = 0; row < 2500; ++row) {
    ASSERT_OK_AND_ASSIGN(const std::optional<NamedVector> vector, source.Next());
    ASSERT_TRUE(vector);
    EXPECT_EQ(vector->name, graph->nodes().Name(NodeId{row}));
    ASSERT_TRUE(std::ranges::equal(vector->values, std::span(values).subspan(row * 600, 600)));
  }
  ASSERT_OK_AND_ASSIGN(const std::optional<NamedVector> end, source.Next());
  EXPECT_FALSE(end);
  ++checksums[1];
  table.Expect({.checksums = checksums, .is_current = nullptr});
  TableSource damaged(table, graph->nodes(), "table");
  absl::Status status;
  while (status.ok()) {
    const auto vector = damaged.Next();
    status = vector.status();
    ASSERT_TRUE(!vector.ok() || vector->has_value()) << "no error";
  }
  EXPECT_ERROR(status, kCorrupt, "partition 1");
}

}  // namespace
}  // namespace octavo
