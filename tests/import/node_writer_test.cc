#include "import/node_writer.h"

#include <string>
#include <vector>

#include "graph/node_names.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

TEST(NodeWriter, WritesWhatTheReaderReadsForAnyCountAndLength) {
  TemporaryFolder folder;
  const GraphPaths paths(folder.path());
  // Above the buffers: 65,536 numbers and 1 MiB of text.
  for (const std::uint64_t count : {0ULL, 1ULL, 65535ULL, 65536ULL, 150000ULL}) {
    ASSERT_OK_AND_ASSIGN(const auto writer, NodeWriter::Create(paths, 5));
    std::vector<std::uint64_t> hashes;
    std::string text;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string name = i % 50000 == 7 ? std::string(65536, 'x') : "node " + std::to_string(i);
      hashes.push_back(i * i + i);
      text += name + "\n";
      ASSERT_OK(writer->Append(hashes.back(), name));
    }
    EXPECT_EQ(writer->count(), count);
    ASSERT_OK_AND_ASSIGN(const NodeArrays arrays, writer->Finish());
    EXPECT_TRUE(FileBytes(paths.NodeNames()) == text);
    EXPECT_EQ(arrays.hashes.count, count);
    EXPECT_EQ(arrays.hashes.hash_seed, 5U);
    EXPECT_EQ(arrays.offsets.count, count + 1);
    // The checksum of all data at once.
    EXPECT_EQ(arrays.hashes.data_checksum, Checksum64(std::as_bytes(std::span<const std::uint64_t>(hashes))));
    ASSERT_OK_AND_ASSIGN(const auto names, NodeNames::Open(paths));
    ASSERT_EQ(names->size(), count);
    EXPECT_EQ(names->hash_header().data_checksum, arrays.hashes.data_checksum);
    for (std::uint64_t i = 0; i < count; i += 777) {
      EXPECT_EQ(names->Name(NodeId{i}).size(), i % 50000 == 7 ? 65536 : 5 + std::to_string(i).size());
    }
  }
}

TEST(NodeWriter, WriteErrorsComeBack) {
  TemporaryFolder folder;
  const GraphPaths paths(folder.path());
  for (int pass = 1; pass < 16; ++pass) {
    ASSERT_OK_AND_ASSIGN(const auto writer, NodeWriter::Create(paths, 0));
    ASSERT_OK(SetFailpoints("file.write:" + std::to_string(pass) + "=enospc"));
    absl::Status status;
    for (std::uint64_t i = 0; i < 300000 && status.ok(); ++i) status = writer->Append(i, "a name of some length");
    if (status.ok()) status = writer->Finish().status();
    EXPECT_ERROR(status, kRuntime, "No space left") << pass;
  }
  ASSERT_OK(SetFailpoints(""));
}

}  // namespace
}  // namespace octavo
