// A graph with added edges is, byte for byte, the graph of all edges at once.
#include "parse/base_edges.h"

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "import/importer.h"
#include "parse/record_parser.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/imported_graph.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

class BaseEdgesTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) const {
    WriteFileBytes(folder_ / name, text);
    return (folder_ / name).string();
  }
  absl::StatusOr<ImportSummary> Make(const std::string& name, ImportOptions options) const {
    options.graph = folder_ / name;
    return Import(options);
  }
  // All except graph.json, which contains the number of lines.
  std::map<std::string, std::string> Files(const std::string& name) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_ / name)) {
      if (entry.path().filename() != "graph.json") files[entry.path().filename().string()] = FileBytes(entry.path());
    }
    return files;
  }
  const TemporaryFolder folder_;
};

// Names with everything that starts a delimiter, a quote or a comment; weights without a short decimal form.
std::string ManyLines(std::uint64_t seed, int lines, std::uint64_t nodes) {
  std::mt19937_64 random(seed);
  std::string text;
  const auto name = [&](std::uint64_t i) { return fmt::format("\"# \"\"{},\t{}\"", i, i % 7 == 0 ? "\"\"" : "x"); };
  for (int i = 0; i < lines; ++i) {
    text += fmt::format("{},\"r,{}\",{},{}\n", name(random() % nodes), random() % 5, name(random() % nodes),
                        static_cast<float>(1 + random() % 1000) / 3.0F);
  }
  return text;
}

TEST_F(BaseEdgesTest, AddedEdgesMakeTheGraphOfAll) {
  const std::string a = ManyLines(1, 30'000, 6000);  // three fine partitions
  const std::string b = ManyLines(2, 5000, 9000);
  const std::string valid = ManyLines(3, 300, 6000);
  const std::string test = ManyLines(4, 300, 9000);
  const ImportOptions csv = {.format = InputFormat::kCsv, .columns = "head,relation,tail,weight"};
  ImportOptions all = csv;
  all.inputs = {Write("a.csv", a), Write("b.csv", b)};
  all.valid = Write("valid.csv", valid);
  all.test = Write("test.csv", test);
  ASSERT_OK(Make("all", all));
  ImportOptions base = csv;
  base.inputs = {folder_ / "a.csv"};
  base.valid = all.valid;
  ASSERT_OK(Make("base", base));
  ImportOptions added = csv;
  added.base = folder_ / "base";
  added.inputs = {folder_ / "b.csv"};
  added.test = all.test;
  ASSERT_OK_AND_ASSIGN(const ImportSummary summary, Make("added", added));
  EXPECT_EQ(summary.lines, 5300U);
  EXPECT_EQ(summary.input_edges, 5300U);
  EXPECT_GT(summary.base_edges, 29'000U);
  EXPECT_TRUE(Files("added") == Files("all"));
  added.memory_plan = {.workers = 2,
                       .collected_bytes = std::uint64_t{256} << 10,
                       .window_bytes = std::uint64_t{1} << 27,
                       .max_cached_input_bytes = 0,
                       .encode_bytes = std::uint64_t{1} << 20,
                       .merge_bytes = std::uint64_t{64} << 20};
  ASSERT_OK_AND_ASSIGN(const ImportSummary spilled, Make("spilled", added));
  EXPECT_GT(spilled.spilled_bytes, 0U);
  EXPECT_TRUE(Files("spilled") == Files("all"));
}

// The base already has both directions.
TEST_F(BaseEdgesTest, UndirectedIsOfTheAddedLines) {
  const ImportOptions undirected = {.columns = "head,tail", .undirected = true};
  ImportOptions options = undirected;
  options.inputs = {Write("a.tsv", "a\tb\nc\tc\n")};
  ASSERT_OK(Make("base", options));
  options = undirected;
  options.base = folder_ / "base";
  options.inputs = {Write("b.tsv", "b\td\n")};
  options.merge_duplicates = false;
  ASSERT_OK(Make("added", options));
  const auto graph = Graph::Open(folder_ / "added").value();
  EXPECT_EQ(EdgeTexts(*graph, Split::kTrain),
            (std::vector<std::string>{"a edge b 1", "b edge a 1", "b edge d 1", "c edge c 1", "d edge b 1"}));
}

TEST_F(BaseEdgesTest, AnEdgeWithoutAWeightCountsOne) {
  ImportOptions options{.columns = "head,tail"};
  options.inputs = {Write("a.tsv", "a\tb\n")};
  ASSERT_OK(Make("base", options));
  options = {.base = folder_ / "base", .columns = "head,tail,weight"};
  options.inputs = {Write("b.tsv", "a\tb\t0.5\nb\tc\t3\n")};
  ASSERT_OK(Make("added", options));
  const auto graph = Graph::Open(folder_ / "added").value();
  EXPECT_EQ(EdgeTexts(*graph, Split::kTrain), (std::vector<std::string>{"a edge b 1.5", "b edge c 3"}));
}

// Weights that summed to infinity were reported as malformed lines of the base, a file that the user does not have.
TEST_F(BaseEdgesTest, WhatTheGraphHasIsNoMalformedLine) {
  const std::string first = Write("a.tsv", "a\tb\t3e38\na\tb\t3e38\nb\tc\t1e-45\n");
  const std::string second = Write("b.tsv", "c\td\t2\n");
  ASSERT_OK(Make("all", {.inputs = {first, second}, .columns = "head,tail,weight"}));
  ASSERT_OK(Make("base", {.inputs = {first}, .columns = "head,tail,weight"}));
  ASSERT_OK_AND_ASSIGN(const ImportSummary summary,
                       Make("added", {.inputs = {second}, .base = folder_ / "base", .columns = "head,tail,weight"}));
  EXPECT_EQ(summary.bad_lines, 0U);
  EXPECT_TRUE(Files("added") == Files("all"));
}

// A block of edges between names of 60 KiB became a chunk of gigabytes.
TEST_F(BaseEdgesTest, ChunksAreBoundedByTheirBytes) {
  std::string text;
  std::set<std::string> lines;
  for (int i = 0; i < 40; ++i) {
    const std::string line =
        fmt::format("{}{}\tr\t{}{}\n", std::string(60'000, 'x'), i, std::string(60'000, 'y'), i % 5);
    text += line;
    lines.insert(line);
  }
  ASSERT_OK(Make("base", {.inputs = {Write("a.tsv", text)}}));
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(folder_ / "base"));
  ASSERT_EQ(graph->Edges(Split::kTrain).block_count(), 1U);
  BaseEdges edges(*graph, Split::kTrain);
  std::set<std::string> found;
  for (int chunks = 0;; ++chunks) {
    ASSERT_OK_AND_ASSIGN(const std::optional<std::string> records, edges.Next());
    if (!records) {
      EXPECT_EQ(chunks, 8);
      break;
    }
    EXPECT_LT(records->size(), BaseEdges::kChunkBytes + 121'000);
    const ParsedChunk chunk = ParseChunk(*records, BaseEdges::LayoutOf(graph->description()));
    EXPECT_EQ(chunk.lines, chunk.edges.size());
    for (const ParsedEdge& edge : chunk.edges) {
      found.insert(fmt::format("{}\t{}\t{}\n", edge.head, edge.relation, edge.tail));
      EXPECT_EQ(edge.weight, 1.0F);
    }
  }
  EXPECT_TRUE(found == lines);
}

TEST_F(BaseEdgesTest, RefusesWhatDoesNotFit) {
  ImportOptions options;
  options.inputs = {Write("a.tsv", "a\tr\tb\n")};
  ASSERT_OK(Make("base", options));
  const auto expect = [&](const ImportOptions& added, ErrorKind kind, const std::string& text) {
    EXPECT_TRUE(IsError(Make(added.overwrite ? "base" : "added", added).status(), kind, text));
    EXPECT_FALSE(fs::exists(folder_ / "added"));
  };
  const std::string pairs = Write("b.tsv", "a\tb\n");
  expect({.inputs = {pairs}, .base = folder_ / "base"}, ErrorKind::kInput,
         "b.tsv: columns head,tail; expected a relation");
  expect({.inputs = {pairs}, .base = folder_ / "base", .split = "0.5,0.5,0"}, ErrorKind::kUsage, "--base");
  expect({.inputs = {pairs}, .base = folder_ / "absent"}, ErrorKind::kUsage, "absent");
  expect({.inputs = {folder_ / "a.tsv"}, .base = folder_ / "base", .overwrite = true}, ErrorKind::kUsage,
         "--overwrite");
  expect({.inputs = {Write("empty.tsv", "")}, .base = folder_ / "base"}, ErrorKind::kInput, "empty.tsv: found no edge");
  FlipByte(folder_ / "base" / "train.cells", kCellsHeaderBytes);
  expect({.inputs = {folder_ / "a.tsv"}, .base = folder_ / "base"}, ErrorKind::kCorrupt, "train.cells: block 0");
}

}  // namespace
}  // namespace octavo
