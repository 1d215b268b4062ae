#include "import/edge_spill.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

using Fields = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, float>;

// Two chunks, one above the buffer of a task; every tenth edge is dropped.
EdgeChunks Chunks(std::vector<Fields>& expected) {
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

std::vector<std::uint64_t> Hashes() {
  std::vector<std::uint64_t> hashes(100);
  for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = i * 1000;
  return hashes;
}

TEST(SpillEdges, WritesEveryEdgeThatIsNotDropped) {
  TemporaryFolder folder;
  SpillUse use;
  ASSERT_OK_AND_ASSIGN(const auto file, SpillFile::Create(folder / "edges", use));
  std::vector<Fields> expected;
  ASSERT_OK(SpillEdges(Chunks(expected), Hashes(), *file));
  ASSERT_EQ(file->size(), expected.size() * sizeof(SpilledEdge));
  std::vector<SpilledEdge> edges(expected.size());
  ASSERT_OK(file->ReadOnce(0, std::as_writable_bytes(std::span(edges))));
  std::vector<Fields> found;
  for (const SpilledEdge& e : edges) found.emplace_back(e.head, e.tail, e.relation_and_split, e.weight);
  std::ranges::sort(found);
  EXPECT_TRUE(found == expected);
}

TEST(SpillEdges, WriteErrorsComeBack) {
  TemporaryFolder folder;
  SpillUse use;
  ASSERT_OK_AND_ASSIGN(const auto file, SpillFile::Create(folder / "edges", use));
  std::vector<Fields> expected;
  ASSERT_OK(SetFailpoints("file.write:2=enospc"));
  EXPECT_ERROR(SpillEdges(Chunks(expected), Hashes(), *file), kRuntime, "No space left");
  ASSERT_OK(SetFailpoints(""));
}

}  // namespace
}  // namespace octavo
