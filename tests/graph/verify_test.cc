#include "graph/verify.h"

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "format/graph_description.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/cached_bytes.h"
#include "tests/support/damage.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/imported_graph.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// 1,200 nodes in two partitions, three relations, weights, a few thousand edges in several blocks.
std::string SampleText() {
  std::string text;
  for (int i = 0; i < 6000; ++i) {
    text += fmt::format("node{}\tr{}\tnode{}\t{}\n", i % 1200, i % 3, (i * 37 + i / 1200) % 1200, 1 + i % 5);
  }
  return text;
}

class VerifyGraphTest : public ::testing::Test {
 protected:
  VerifyGraphTest() : folder_(FastPlace()) {}

  void SetUp() override {
    ImportOptions options;
    options.columns = "head,relation,tail,weight";
    options.split = "0.8,0.1,0.1";
    ASSERT_OK(ImportText(folder_, SampleText(), options));
  }

  // How many findings there are; the messages go to `texts`.
  std::uint64_t Damages(GraphCheckOptions options = {}) {
    CheckReport report;
    const absl::Status status = VerifyGraph(graph(), options, report);
    EXPECT_OK(status);
    texts_.clear();
    for (const Finding& finding : report.findings()) texts_ += DescribeFinding(finding) + "\n";
    for (const std::string& note : report.notes()) texts_ += "note: " + note + "\n";
    bytes_ = report.bytes();
    EXPECT_EQ(report.unread_count(), 0U);
    return report.damage_count();
  }
  fs::path graph() const { return folder_ / "graph"; }

  const TemporaryFolder folder_;
  std::string texts_;
  std::uint64_t bytes_ = 0;
};

TEST_F(VerifyGraphTest, AWholeGraphIsWholeHoweverItIsRead) {
  EXPECT_EQ(Damages(), 0U) << texts_;
  std::uint64_t total = 0;
  for (const std::string& name : GraphPaths::NeededFileNames()) total += fs::file_size(graph() / name);
  EXPECT_EQ(bytes_, total);
  std::atomic<std::uint64_t> progress{0};
  GraphCheckOptions options;
  options.reading = {.piece_bytes = 128 << 10, .deep = true, .drop_behind = true};
  options.progress = [&](std::uint64_t bytes) { progress += bytes; };
  EXPECT_EQ(Damages(options), 0U) << texts_;
  EXPECT_GT(progress.load(), total * 9 / 10);
  EXPECT_LE(progress.load(), total);
}

TEST_F(VerifyGraphTest, WithoutRelationsOrWithNamesOfAnySize) {
  ImportOptions options;
  options.columns = "head,tail";
  ASSERT_OK(ImportText(folder_, fmt::format("a\tb\n{}\ta\n", std::string(60'000, 'x')), options));
  EXPECT_EQ(Damages(), 0U) << texts_;
  GraphCheckOptions small;
  small.reading.piece_bytes = 4096;  // shorter than the name
  EXPECT_EQ(Damages(small), 0U) << texts_;
  const std::string names = FileBytes(graph() / "nodes.names");
  FlipByte(graph() / "nodes.names", names.find("xxx") + 50'000);
  EXPECT_GT(Damages(small), 0U);
}

// Bytes that do not matter: those of graph.json with the same meaning for its reader (blanks, and the data for people
// under "import"). Every other byte of the folder is covered by a checksum or compared.
TEST_F(VerifyGraphTest, EveryDamageOfEveryFileIsFoundAndNamed) {
  for (const std::string& name : GraphPaths::NeededFileNames()) {
    const fs::path path = graph() / name;
    const bool cells = name.ends_with(".cells");
    const std::string whole = FileBytes(path);
    const auto description = DecodeGraphDescription(FileBytes(graph() / "graph.json"), "graph.json");
    ForEachDamage(path, cells ? 160 : 64, 60, [&](const std::string& what, const std::string& bytes) {
      const std::uint64_t damages = Damages();
      if (name == "graph.json") {
        const auto decoded = DecodeGraphDescription(bytes, name);
        if (decoded.ok() && *decoded == *description) {
          EXPECT_EQ(damages, 0U) << what << "\n" << texts_;
          return;
        }
      }
      EXPECT_GT(damages, 0U) << what;
      // The name of a relation is only covered by the fingerprint in graph.json.
      EXPECT_TRUE(texts_.find(name) != std::string::npos || name == "relations.tsv") << what << "\n" << texts_;
    });
    EXPECT_EQ(FileBytes(path), whole);
  }
  EXPECT_EQ(Damages(), 0U) << texts_;
}

TEST_F(VerifyGraphTest, EveryByteOfAHeaderOfCellsIsChecked) {
  const fs::path path = graph() / "valid.cells";
  for (std::uint64_t byte = 0; byte < kCellsHeaderBytes; byte += byte < 200 ? 1 : 61) {
    FlipByte(path, byte);
    EXPECT_GT(Damages(), 0U) << byte;
    FlipByte(path, byte);
  }
}

TEST_F(VerifyGraphTest, ContinuesAfterTheFirstDamageAndNamesThePlace) {
  const auto middle = [&](const char* name) { return fs::file_size(graph() / name) / 2; };
  FlipByte(graph() / "train.cells", kCellsHeaderBytes + 8);
  FlipByte(graph() / "test.cells", middle("test.cells"));
  FlipByte(graph() / "nodes.names", 0);
  FlipByte(graph() / "nodes.names", middle("nodes.names"));
  EXPECT_EQ(Damages(), 4U) << texts_;
  EXPECT_NE(texts_.find("train.cells: block 0 at byte 4096: checksum "), std::string::npos) << texts_;
  EXPECT_NE(texts_.find("test.cells: block "), std::string::npos) << texts_;
  EXPECT_NE(texts_.find("nodes.names: line 1 at byte 0: a name with hash "), std::string::npos) << texts_;
}

TEST_F(VerifyGraphTest, MissingFilesAreDamage) {
  for (const std::string& name : GraphPaths::NeededFileNames()) {
    const std::string whole = FileBytes(graph() / name);
    fs::remove(graph() / name);
    EXPECT_GT(Damages(), 0U);
    EXPECT_NE(texts_.find((graph() / name).string() + ": no such file"), std::string::npos) << texts_;
    WriteFileBytes(graph() / name, whole);
  }
}

TEST_F(VerifyGraphTest, AFileOfAnotherGraphIsFound) {
  const TemporaryFolder other(FastPlace());
  ImportOptions options;
  options.columns = "head,relation,tail,weight";
  options.split = "0.8,0.1,0.1";
  options.seed = 5;  // another split of the same edges
  ASSERT_OK(ImportText(other, SampleText(), options));
  for (const std::string& name : GraphPaths::NeededFileNames()) {
    if (FileBytes(other / ("graph/" + name)) == FileBytes(graph() / name)) continue;
    const std::string whole = FileBytes(graph() / name);
    fs::copy_file(other / ("graph/" + name), graph() / name, fs::copy_options::overwrite_existing);
    EXPECT_GT(Damages(), 0U) << name;
    WriteFileBytes(graph() / name, whole);
  }
}

TEST_F(VerifyGraphTest, TooLittleMemoryForAnIndexIsAUsageError) {
  CheckReport report;
  GraphCheckOptions options;
  options.whole_bytes = 40;
  EXPECT_ERROR(VerifyGraph(graph(), options, report), kUsage, "--memory");
}

TEST_F(VerifyGraphTest, WhatTheSystemCannotReadIsNoDamage) {
  ASSERT_OK(SetFailpoints("file.read:3=eio"));
  CheckReport report;
  ASSERT_OK(VerifyGraph(graph(), {}, report));
  ASSERT_OK(SetFailpoints(""));
  EXPECT_EQ(report.damage_count(), 0U);
  EXPECT_EQ(report.unread_count(), 1U);
}

}  // namespace
}  // namespace octavo
