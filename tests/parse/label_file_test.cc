#include "parse/label_file.h"

#include <map>

#include "gtest/gtest.h"
#include "parse/parsed_chunk.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

class LabelFileTest : public ::testing::Test {
 protected:
  absl::StatusOr<Pairs> Read(const std::string& name, const std::string& text) {
    WriteFileBytes(folder_ / name, text);
    ASSIGN_OR_RETURN(const auto file, LabelFile::Open((folder_ / name).string(), nullptr, {}));
    Pairs pairs;
    while (true) {
      ASSIGN_OR_RETURN(const std::optional<NamedLabel> found, file->Next());
      if (!found) return pairs;
      pairs.emplace_back(found->name, found->label);
    }
  }
  TemporaryFolder folder_;
};

TEST_F(LabelFileTest, HasTabsOrCommasByItsEnding) {
  const Pairs expected = {{"Q42", "Douglas Adams"}, {"P31", "instance of"}, {"Q1", ""}};
  ASSERT_OK_AND_ASSIGN(const Pairs tabs, Read("a.tsv", "Q42\tDouglas Adams\r\n# c\n\nP31\tinstance of\nQ1\t"));
  EXPECT_EQ(tabs, expected);
  ASSERT_OK_AND_ASSIGN(const Pairs other, Read("labels", "Q42\tAdams, Douglas\n"));
  EXPECT_EQ(other, (Pairs{{"Q42", "Adams, Douglas"}}));
  ASSERT_OK_AND_ASSIGN(const Pairs commas, Read("a.csv", "Q42,\"Adams, \"\"D\"\"\"\nP31,instance of\n"));
  EXPECT_EQ(commas, (Pairs{{"Q42", "Adams, \"D\""}, {"P31", "instance of"}}));
}

// Chunks are half a megabyte, and lines are numbered across them.
TEST_F(LabelFileTest, ReadsLongFilesInOrder) {
  std::string text;
  Pairs expected;
  for (int i = 0; i < 60'000; ++i) {
    expected.emplace_back(fmt::format("Q{}", i), fmt::format("the label of {}", i));
    text += expected.back().first + "\t" + expected.back().second + "\n";
  }
  ASSERT_OK_AND_ASSIGN(const Pairs pairs, Read("a.tsv", text));
  EXPECT_TRUE(pairs == expected);
  EXPECT_ERROR(Read("a.tsv", text + "Q1\n"), kInput, "a.tsv:60001: found 1 tsv column in \"Q1\"");
}

TEST_F(LabelFileTest, RefusesLinesByFileAndNumber) {
  EXPECT_ERROR(Read("a", "Q1 one\n"), kInput,
               "a:1: found 1 tsv column in \"Q1 one\", expected 2: a name and its label");
  EXPECT_ERROR(Read("a", "Q1\tone\nQ2\ttwo\ten\n"), kInput, "a:2: found 3 tsv columns");
  EXPECT_ERROR(Read("a", "\tone\n"), kInput, "a:1: found an empty name");
  EXPECT_ERROR(Read("a.csv", "Q1,\"one\n"), kInput, "a.csv:1: found a quote without its closing quote");
  EXPECT_ERROR(Read("a", std::string("Q1\to\0e\n", 7)), kInput, "a:1: found a NUL byte");
  EXPECT_ERROR(Read("a", "Q1\t" + std::string(kMaxNameBytes + 1, 'x') + "\n"), kInput,
               "a:1: found a text of 65537 bytes");
  EXPECT_ERROR(LabelFile::Open((folder_ / "none").string(), nullptr, {}).status(), kUsage, "none: no such file");
}

TEST(LabelLine, HasNoTabsAndLineEnds) {
  std::string changed;
  EXPECT_EQ(LabelLine("caf\xE9 \"x\"", changed), "caf\xE9 \"x\"");
  EXPECT_EQ(LabelLine("a\tb\r\nc", changed), "a b  c");
}

}  // namespace
}  // namespace octavo
