#include "graph/node_names.h"

#include <string>

#include "gtest/gtest.h"
#include "io/checksum.h"
#include "tests/support/cached_bytes.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/imported_graph.h"

namespace octavo {
namespace {

class NodeNamesTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<NodeNames>> Open() { return NodeNames::Open(GraphPaths(folder_ / "graph")); }
  TemporaryFolder folder_;
};

TEST_F(NodeNamesTest, FindsEveryNameAndNoOther) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += fmt::format("node {}\tnode {}\n", i, i + 1);
  ASSERT_OK(ImportText(folder_, text));
  ASSERT_OK_AND_ASSIGN(const auto names, Open());
  ASSERT_EQ(names->size(), 5001U);
  std::uint64_t last = 0;
  for (std::uint64_t id = 0; id < names->size(); ++id) {
    const std::string_view name = names->Name(NodeId{id});
    EXPECT_EQ(names->Find(name), NodeId{id});
    const std::uint64_t hash = HashName(name, names->hash_seed());
    EXPECT_TRUE(id == 0 || hash > last);
    last = hash;
  }
  for (int i = 5001; i < 10000; ++i) EXPECT_FALSE(names->Find(fmt::format("node {}", i)).has_value());
  EXPECT_FALSE(names->Find("").has_value());
}

TEST_F(NodeNamesTest, HandlesOneNodeAndNamesOfAnyBytes) {
  ASSERT_OK(ImportText(folder_, "a\ta\n"));
  EXPECT_EQ((*Open())->Find("a"), NodeId{0});
  EXPECT_FALSE((*Open())->Find("b").has_value());
  const std::string odd = "\x01\xff \"quoted\" \\";
  const std::string longest(64 << 10, 'x');
  ASSERT_OK(ImportText(folder_, odd + "\t" + longest + "\n"));
  ASSERT_OK_AND_ASSIGN(const auto names, Open());
  for (const std::string& name : {odd, longest}) {
    ASSERT_TRUE(names->Find(name).has_value());
    EXPECT_EQ(names->Name(*names->Find(name)), name);
  }
}

// import --base, walk, export, report and query used damaged names without a word.
TEST_F(NodeNamesTest, ADamagedByteOfAnyFileIsNoticedAsItIsRead) {
  ASSERT_OK(ImportText(folder_, "alpha\tbeta\ngamma\tdelta\n"));
  ASSERT_OK_AND_ASSIGN(const auto intact, Open());
  EXPECT_OK(intact->CheckAll(nullptr));
  EXPECT_EQ(intact->CheckAll([] { return true; }).code(), absl::StatusCode::kCancelled);
  for (const auto& [file, header] : {std::pair("names", 0U), std::pair("offsets", 64U + 8), std::pair("hash", 64U)}) {
    const std::filesystem::path path = folder_ / "graph" / (std::string("nodes.") + file);
    const std::string bytes = FileBytes(path);
    const std::size_t end = bytes.size() - (header == 72 ? 8 : 0);  // Open compares the last offset with the size
    for (std::size_t at = header; at < end; ++at) {
      SCOPED_TRACE(std::string(file) + " byte " + std::to_string(at));
      std::string damaged = bytes;
      damaged[at] ^= 1;
      WriteFileBytes(path, damaged);
      ASSERT_OK_AND_ASSIGN(const auto names, Open());
      EXPECT_OK(names->status());
      for (std::uint64_t id = 0; id < names->size(); ++id) names->Name(NodeId{id});
      EXPECT_ERROR(names->status(), kCorrupt, "found a name that does not match its hash");
      EXPECT_ERROR(names->CheckAll(nullptr), kCorrupt, "nodes.names: line ");
    }
    WriteFileBytes(path, bytes);
  }
}

TEST_F(NodeNamesTest, LineOfNodesNamesIsTheRow) {
  ASSERT_OK(ImportText(folder_, "a\tb\nc\td\n"));
  ASSERT_OK_AND_ASSIGN(const auto names, Open());
  std::string expected;
  for (std::uint64_t id = 0; id < 4; ++id) expected += std::string(names->Name(NodeId{id})) + "\n";
  EXPECT_EQ(FileBytes(folder_ / "graph/nodes.names"), expected);
}

TEST_F(NodeNamesTest, FilesThatDoNotFitEachOtherAreCorrupt) {
  ASSERT_OK(ImportText(folder_, "a\tb\nc\td\n"));
  const GraphPaths paths(folder_ / "graph");
  for (const auto& path : {paths.NodeHashes(), paths.NodeNames(), paths.NodeOffsets()}) {
    const std::string whole = FileBytes(path);
    for (const std::string& other : {std::string(), whole.substr(0, whole.size() - 1), whole + "\n"}) {
      WriteFileBytes(path, other);
      EXPECT_ERROR(Open(), kCorrupt, "expected") << path << " " << other.size();
    }
    std::filesystem::remove(path);
    EXPECT_FALSE(Open().ok());
    WriteFileBytes(path, whole);
    ASSERT_OK(Open());
  }
}

// Bytes after the headers are not checked when a graph is opened; whatever they are, no read may be out of bounds.
TEST_F(NodeNamesTest, DamagedOffsetsAndHashesStayInBounds) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += fmt::format("{}\t{}\n", i, i + 1);
  ASSERT_OK(ImportText(folder_, text));
  const GraphPaths paths(folder_ / "graph");
  for (const auto& path : {paths.NodeHashes(), paths.NodeOffsets()}) {
    std::string bytes = FileBytes(path);
    for (std::size_t i = 64 + 8; i + 8 < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 37);
    WriteFileBytes(path, bytes);
  }
  ASSERT_OK_AND_ASSIGN(const auto names, Open());
  for (std::uint64_t id = 0; id < names->size(); ++id) (void)names->Name(NodeId{id});
  for (int i = 0; i < 300; ++i) (void)names->Find(std::to_string(i));
}

TEST_F(NodeNamesTest, ForgottenNamesLeaveTheCacheAndStayValid) {
  OCTAVO_REQUIRE_DISK(folder_.path());
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += fmt::format("node {}\tnode {}\n", i, i + 1);
  ASSERT_OK(ImportText(folder_, text));
  const GraphPaths paths(folder_ / "graph");
  for (const auto& path : {paths.NodeNames(), paths.NodeOffsets(), paths.NodeHashes()}) SyncFile(path);
  ASSERT_OK_AND_ASSIGN(const auto names, Open());
  const auto all = [&] {
    std::string joined;
    for (std::uint64_t id = 0; id < names->size(); ++id) joined += names->Name(NodeId{id});
    return joined;
  };
  const std::string before = all();
  const std::string_view first = names->Name(NodeId{0});
  const std::string copy(first);
  names->Forget(0, names->size());
  EXPECT_GT(CachedBytes(paths.NodeNames()), 400'000U);
  names->DropBehind();
  names->Forget(7, 0);
  EXPECT_GT(CachedBytes(paths.NodeNames()), 400'000U);
  names->Forget(0, names->size());
  EXPECT_LE(CachedBytes(paths.NodeNames()), 4096U);
  EXPECT_LE(CachedBytes(paths.NodeOffsets()), 8192U);
  EXPECT_EQ(first, copy);
  names->WillRead(0, names->size());
  names->WillRead(names->size(), 0);
  EXPECT_EQ(all(), before);
  EXPECT_EQ(names->Find(copy), NodeId{0});
}

}  // namespace
}  // namespace octavo
