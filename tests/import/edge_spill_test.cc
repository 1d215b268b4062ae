#include "import/edge_spill.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/import/edge_fields.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

// Two chunks; every tenth edge is dropped. The place of a name is 1000 times its id.
EdgeChunks Chunks(std::vector<EdgeFields>& expected) {
  EdgeChunks chunks(2);
  for (std::uint32_t i = 0; i < 30000; ++i) {
    EdgeRecord record{.head = i % 100, .tail = i % 77, .weight = static_cast<float>(i)};
    record.set_relation(i % 5);
    record.set_split(i % 10 == 0 ? EdgeSplit::kDropped : static_cast<EdgeSplit>(i % 3));
    if (i % 10 != 0) {
      expected.emplace_back(record.head * 1000, record.tail * 1000, record.relation_and_split, record.weight);
    }
    chunks[i < 25000 ? 0 : 1].push_back(record);
  }
  std::ranges::sort(expected);
  return chunks;
}

std::vector<std::uint32_t> Places() {
  std::vector<std::uint32_t> places(100);
  for (std::uint32_t i = 0; i < places.size(); ++i) places[i] = i * 1000;
  return places;
}

TEST(SpillEdges, WritesEveryEdgeThatIsNotDropped) {
  TemporaryFolder folder;
  SpillUse use;
  ASSERT_OK_AND_ASSIGN(const auto file, SpillFile::Create(folder / "edges", use));
  std::vector<EdgeFields> expected;
  EdgeChunks chunks = Chunks(expected);
  ASSERT_OK(SpillEdges(chunks, Places(), *file));
  for (const std::vector<EdgeRecord>& chunk : chunks) EXPECT_TRUE(chunk.empty() && chunk.capacity() > 0);
  ASSERT_EQ(file->size(), expected.size() * sizeof(EdgeRecord));
  std::vector<EdgeRecord> edges(expected.size());
  ASSERT_OK(file->ReadOnce(0, std::as_writable_bytes(std::span(edges))));
  std::vector<EdgeFields> found;
  for (const EdgeRecord& edge : edges) found.push_back(FieldsOf(edge));
  std::ranges::sort(found);
  EXPECT_TRUE(found == expected);
}

TEST(SpillEdges, WriteErrorsComeBack) {
  TemporaryFolder folder;
  SpillUse use;
  ASSERT_OK_AND_ASSIGN(const auto file, SpillFile::Create(folder / "edges", use));
  std::vector<EdgeFields> expected;
  ASSERT_OK(SetFailpoints("file.write:2=enospc"));
  EdgeChunks chunks = Chunks(expected);
  EXPECT_ERROR(SpillEdges(chunks, Places(), *file), kRuntime, "No space left");
  ASSERT_OK(SetFailpoints(""));
}

}  // namespace
}  // namespace octavo
