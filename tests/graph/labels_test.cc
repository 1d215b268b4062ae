#include "graph/labels.h"

#include <filesystem>
#include <string>

#include "graph/graph.h"
#include "graph/verify.h"
#include "gtest/gtest.h"
#include "tests/support/damage.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/imported_graph.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

class LabelsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteFileBytes(folder_ / "labels.tsv", "a\tthe first\nb\tthe second\nr\tthe relation\n");
    ImportOptions options;
    options.labels = (folder_ / "labels.tsv").string();
    ASSERT_OK(ImportText(folder_, "a\tr\tb\nb\tr\tc\n", options));
  }
  fs::path graph() const { return folder_ / "graph"; }

  // What VerifyGraph finds, one line each.
  std::string Findings() {
    CheckReport report;
    EXPECT_OK(VerifyGraph(graph(), {}, report));
    std::string texts;
    for (const Finding& finding : report.findings()) texts += DescribeFinding(finding) + "\n";
    return texts;
  }

  TemporaryFolder folder_;
};

TEST_F(LabelsTest, TheTextHasALinePerNode) {
  EXPECT_EQ(Findings(), "");
  const std::string names = FileBytes(graph() / "nodes.names");
  const std::string labels = FileBytes(graph() / "nodes.labels");
  EXPECT_EQ(std::ranges::count(labels, '\n'), std::ranges::count(names, '\n'));
  EXPECT_EQ(FileBytes(graph() / "relations.labels"), "the relation\n");
}

// The check names the damaged file, whichever byte of it is changed.
TEST_F(LabelsTest, VerifyFindsEveryChangedByte) {
  for (const std::string& name : GraphPaths::LabelFileNames()) {
    const std::string bytes = FileBytes(graph() / name);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ 0x10);
      WriteFileBytes(graph() / name, changed);
      EXPECT_NE(Findings().find(name), std::string::npos) << name << " byte " << at;
    }
    WriteFileBytes(graph() / name, bytes);
  }
  EXPECT_EQ(Findings(), "");
}

TEST_F(LabelsTest, VerifyFindsMissingAndShortFiles) {
  for (const std::string& name : GraphPaths::LabelFileNames()) {
    const std::string bytes = FileBytes(graph() / name);
    WriteFileBytes(graph() / name, bytes.substr(0, bytes.size() - 1));
    EXPECT_NE(Findings().find(name), std::string::npos) << name;
    EXPECT_ERROR(Graph::Open(graph()).status(), kCorrupt, name) << name;
    fs::remove(graph() / name);
    EXPECT_NE(Findings().find(name), std::string::npos) << name;
    EXPECT_ERROR(Graph::Open(graph()).status(), kCorrupt, name) << name;
    WriteFileBytes(graph() / name, bytes);
  }
  EXPECT_OK(Graph::Open(graph()).status());
}

TEST_F(LabelsTest, ADamagedLabelIsNeverShown) {
  std::string text = FileBytes(graph() / "nodes.labels");
  text[text.find("first")] = 'F';
  WriteFileBytes(graph() / "nodes.labels", text);
  ASSERT_OK_AND_ASSIGN(const auto opened, Graph::Open(graph()));
  EXPECT_EQ(opened->LabelOf(opened->nodes().Find("a").value()), "");
  EXPECT_ERROR(opened->TextStatus(), kCorrupt, "found a label that does not match its hash");
}

TEST_F(LabelsTest, FilesOfAnotherGraphAreRefused) {
  const std::string order = FileBytes(graph() / "nodes.labels.order");
  WriteFileBytes(folder_ / "labels.tsv", "a\tone\nc\ttwo\n");
  ImportOptions options;
  options.labels = (folder_ / "labels.tsv").string();
  ASSERT_OK(ImportText(folder_, "a\tr\tb\nb\tr\tc\n", options));
  WriteFileBytes(graph() / "nodes.labels.order", order);
  EXPECT_ERROR(Graph::Open(graph()).status(), kCorrupt, "labels of checksum");
  EXPECT_NE(Findings().find("labels of checksum"), std::string::npos);
}

TEST(ParseRelationLabels, NeedsALinePerRelation) {
  ASSERT_OK_AND_ASSIGN(const auto labels, ParseRelationLabels("one\n\nthree\n", 3, "f"));
  EXPECT_EQ(labels, (std::vector<std::string>{"one", "", "three"}));
  EXPECT_ERROR(ParseRelationLabels("one\n", 2, "f"), kCorrupt, "f: 1 lines and 0 bytes after them; expected 2 lines");
  EXPECT_ERROR(ParseRelationLabels("one\ntwo\nx", 2, "f"), kCorrupt, "expected 2 lines");
  EXPECT_ERROR(ParseRelationLabels("one\ntwo\nthree\n", 2, "f"), kCorrupt, "expected 2 lines");
}

}  // namespace
}  // namespace octavo
