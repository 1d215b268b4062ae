#include "graph/verify_nodes.h"

#include <cstring>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "io/checksum.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/small_graph.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

class VerifyNodesTest : public ::testing::Test {
 protected:
  VerifyNodesTest() { WriteGraph({.names = NumberedNames(40)}, folder_.path()); }

  std::uint64_t Damages() {
    CheckReport report;
    VerifyNodes(paths_, {}, report);
    texts_.clear();
    for (const Finding& finding : report.findings()) texts_ += DescribeFinding(finding) + "\n";
    for (const std::string& note : report.notes()) texts_ += "note: " + note + "\n";
    return report.damage_count();
  }
  // Writes the array again with a valid checksum.
  void WriteArray(const std::filesystem::path& path, ArrayKind kind, std::vector<std::uint64_t> values) {
    ArrayHeader header;
    header.kind = kind;
    header.hash_seed = kind == ArrayKind::kNodeHashes ? 1 : 0;
    header.count = values.size();
    header.data_checksum = Checksum64(std::as_bytes(std::span(values)));
    const auto head = EncodeArrayHeader(header);
    WriteFileBytes(path, std::string(reinterpret_cast<const char*>(head.data()), head.size()) +
                             std::string(reinterpret_cast<const char*>(values.data()), values.size() * 8));
  }
  std::vector<std::uint64_t> ReadArray(const std::filesystem::path& path) {
    const std::string bytes = FileBytes(path).substr(sizeof(ArrayHeader));
    std::vector<std::uint64_t> values(bytes.size() / 8);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  const TemporaryFolder folder_;
  const GraphPaths paths_{folder_.path()};
  std::string texts_;
};

TEST_F(VerifyNodesTest, WholeArraysAndNamesAreWhole) { EXPECT_EQ(Damages(), 0U) << texts_; }

// A valid checksum does not make an array valid.
TEST_F(VerifyNodesTest, NumbersThatDoNotAscendAreNamed) {
  const std::vector<std::uint64_t> hashes = ReadArray(paths_.NodeHashes());
  std::vector<std::uint64_t> values = hashes;
  values[7] = values[6];
  WriteArray(paths_.NodeHashes(), ArrayKind::kNodeHashes, values);
  EXPECT_EQ(Damages(), 1U) << texts_;
  EXPECT_NE(texts_.find("number 7 at byte 120: "), std::string::npos) << texts_;
  EXPECT_NE(texts_.find("nodes.names: not checked"), std::string::npos) << texts_;
  WriteArray(paths_.NodeHashes(), ArrayKind::kNodeHashes, hashes);
  EXPECT_EQ(Damages(), 0U) << texts_;
  values = ReadArray(paths_.NodeOffsets());
  values[0] = 1;
  WriteArray(paths_.NodeOffsets(), ArrayKind::kNodeOffsets, values);
  EXPECT_EQ(Damages(), 1U) << texts_;
  EXPECT_NE(texts_.find("offset 0 at byte 64: 1; expected 0"), std::string::npos) << texts_;
}

TEST_F(VerifyNodesTest, OffsetsThatMeetNoLineEndAreNamed) {
  std::vector<std::uint64_t> values = ReadArray(paths_.NodeOffsets());
  ++values[3];
  WriteArray(paths_.NodeOffsets(), ArrayKind::kNodeOffsets, values);
  // Line 3 takes a byte of the next one: it has no line end, a line end inside and another hash; so does line 4.
  EXPECT_EQ(Damages(), 4U) << texts_;
  EXPECT_NE(texts_.find("line 3 at byte "), std::string::npos) << texts_;
  EXPECT_NE(texts_.find("line 4 at byte "), std::string::npos) << texts_;
}

TEST_F(VerifyNodesTest, AnotherNumberOfOffsetsOrBytesIsNamed) {
  std::vector<std::uint64_t> values = ReadArray(paths_.NodeOffsets());
  const std::string names = FileBytes(paths_.NodeNames());
  WriteFileBytes(paths_.NodeNames(), names + "one more\n");
  EXPECT_EQ(Damages(), 1U) << texts_;
  EXPECT_NE(texts_.find(fmt::format("{} bytes; expected {}, the last", names.size() + 9, names.size())),
            std::string::npos)
      << texts_;
  values.pop_back();
  WriteArray(paths_.NodeOffsets(), ArrayKind::kNodeOffsets, values);
  EXPECT_EQ(Damages(), 1U) << texts_;
  EXPECT_NE(texts_.find("40 offsets; expected 41"), std::string::npos) << texts_;
}

}  // namespace
}  // namespace octavo
