#include "parse/input_paths.h"

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

TEST(ExpandPath, ExpandsPatternsInOrderAndLeavesTheRest) {
  const TemporaryFolder folder;
  for (const char* name : {"part-10.nt", "part-2.nt", "part-B.nt", "part-a.nt", "x[1].tsv", "x1.tsv"}) {
    WriteFileBytes(folder / name, "");
  }
  const auto expand = [&](const std::string& path) {
    const auto paths = ExpandPath(path == "-" ? path : (folder / path).string());
    if (!paths.ok()) return std::string(MessageOf(paths.status()));
    std::string names;
    for (const std::string& each : *paths) names += std::filesystem::path(each).filename().string() + " ";
    return names;
  };
  EXPECT_EQ(expand("part-*.nt"), "part-10.nt part-2.nt part-B.nt part-a.nt ");
  EXPECT_EQ(expand("part-?.nt"), "part-2.nt part-B.nt part-a.nt ");
  EXPECT_EQ(expand("part-[0-9]*.nt"), "part-10.nt part-2.nt ");
  EXPECT_EQ(expand("x[1].tsv"), "x[1].tsv ");  // which exists
  EXPECT_EQ(expand("x[2].tsv").find((folder / "x[2].tsv").string() + ": no such file, and no file matches"), 0U);
  EXPECT_EQ(expand("none.tsv"), "none.tsv ");  // reported by the reader, as missing
  EXPECT_EQ(expand("-"), "- ");
}

}  // namespace
}  // namespace octavo
