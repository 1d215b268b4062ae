#include "import/label_import.h"

#include <map>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/imported_graph.h"

namespace octavo {
namespace {

constexpr std::string_view kRdfsLabel = "http://www.w3.org/2000/01/rdf-schema#label";

class LabelImportTest : public ::testing::Test {
 protected:
  // Imports the edges with a file of labels.
  absl::StatusOr<ImportSummary> Import(const std::string& edges, const std::string& labels,
                                       ImportOptions options = {}) {
    WriteFileBytes(folder_ / "labels.tsv", labels);
    options.labels = (folder_ / "labels.tsv").string();
    return ImportText(folder_, edges, options);
  }
  std::unique_ptr<Graph> Open() { return Graph::Open(folder_ / "graph").value(); }
  static std::string LabelOf(const Graph& graph, std::string_view name) {
    return std::string(graph.LabelOf(graph.nodes().Find(name).value()));
  }
  std::map<std::string, std::string> LabelFiles() const {
    std::map<std::string, std::string> files;
    for (const std::string& name : GraphPaths::FileNames()) files[name] = FileBytes(folder_ / "graph" / name);
    files.erase("graph.json");  // it has the options
    return files;
  }

  TemporaryFolder folder_;
};

TEST_F(LabelImportTest, NodesAndRelationsAreLabelledByTheSameFile) {
  ASSERT_OK_AND_ASSIGN(const ImportSummary summary,
                       Import("Q42\tP31\tQ5\nQ42\tP69\tQ691283\n",
                              "Q42\tDouglas Adams\nP31\tinstance of\nQ5\thuman\nQ99\tCalifornia\nQ7\tno\n"));
  EXPECT_EQ(summary.labels.nodes, 2U);
  EXPECT_EQ(summary.labels.relations, 1U);
  EXPECT_EQ(summary.labels.unknown, 2U);
  const auto graph = Open();
  EXPECT_EQ(graph->description().labelled_nodes, 2U);
  EXPECT_EQ(graph->description().labelled_relations, 1U);
  EXPECT_EQ(LabelOf(*graph, "Q42"), "Douglas Adams");
  EXPECT_EQ(LabelOf(*graph, "Q5"), "human");
  EXPECT_EQ(LabelOf(*graph, "Q691283"), "");
  EXPECT_EQ(graph->LabelOf(graph->FindRelation("P31").value()), "instance of");
  EXPECT_EQ(graph->LabelOf(graph->FindRelation("P69").value()), "");
  EXPECT_OK(graph->TextStatus());
}

// A trained run refuses a graph with another fingerprint; labels may come later.
TEST_F(LabelImportTest, TheFingerprintIsThatOfTheGraphWithoutLabels) {
  ASSERT_OK_AND_ASSIGN(const ImportSummary without, ImportText(folder_, "a\tr\tb\n"));
  EXPECT_EQ(Open()->labels(), nullptr);
  ASSERT_OK_AND_ASSIGN(const ImportSummary with, Import("a\tr\tb\n", "a\tA\n"));
  EXPECT_EQ(with.graph.fingerprint, without.graph.fingerprint);
  EXPECT_NE(Open()->labels(), nullptr);
}

TEST_F(LabelImportTest, TheFirstLabelOfANameCounts) {
  ASSERT_OK_AND_ASSIGN(const ImportSummary summary, Import("a\tb\n", "a\tone\nb\tB\na\ttwo\na\tone\nb\t\n"));
  EXPECT_EQ(summary.labels.repeated, 2U);
  EXPECT_EQ(LabelOf(*Open(), "a"), "one");
}

TEST_F(LabelImportTest, LabelsOfNoNameLeaveNoFiles) {
  ASSERT_OK_AND_ASSIGN(const ImportSummary summary, Import("a\tb\n", "x\tone\n"));
  EXPECT_EQ(summary.labels.unknown, 1U);
  EXPECT_EQ(summary.labels.first_unknown, "x");
  EXPECT_EQ(Open()->labels(), nullptr);
  for (const std::string& name : GraphPaths::LabelFileNames()) {
    EXPECT_FALSE(std::filesystem::exists(folder_ / "graph" / name)) << name;
  }
}

TEST_F(LabelImportTest, FindsNodesByTheirLabels) {
  std::string edges;
  std::string labels;
  for (int i = 0; i < 3000; ++i) {
    edges += fmt::format("n{}\tr\tn{}\n", i, (i + 1) % 3000);
    labels += fmt::format("n{}\tlabel {}\n", i, i % 1000);
  }
  ASSERT_OK(Import(edges, labels));
  const auto graph = Open();
  for (int i = 0; i < 1000; ++i) {
    const LabelledNodes found = graph->labels()->FindNodes(fmt::format("label {}", i), 2);
    EXPECT_EQ(found.count, 3U) << i;
    ASSERT_EQ(found.nodes.size(), 2U);
    EXPECT_LT(found.nodes[0], found.nodes[1]);
    for (const NodeId node : found.nodes) EXPECT_EQ(graph->LabelOf(node), fmt::format("label {}", i));
  }
  EXPECT_EQ(graph->labels()->FindNodes("label 1000", 2).count, 0U);
  EXPECT_EQ(graph->labels()->FindNodes("", 2).count, 0U);
  EXPECT_OK(graph->TextStatus());
}

TEST_F(LabelImportTest, TheSameBytesThroughTemporaryFilesAndForAnyOrderOfNames) {
  std::string edges;
  std::string labels;
  for (int i = 0; i < 20'000; ++i) {
    edges += fmt::format("n{}\tr{}\tn{}\n", i % 7000, i % 3, (i * 7 + 1) % 7000);
    labels += fmt::format("n{}\tlabel of {}\n", i, i);
  }
  labels += "r1\tthe relation\n";
  ASSERT_OK(Import(edges, labels));
  const auto files = LabelFiles();
  ImportOptions options;
  options.memory_plan = MemoryPlan{.workers = 1,
                                   .collected_bytes = 64 << 10,
                                   .window_bytes = 1 << 20,
                                   .max_cached_input_bytes = 1 << 20,
                                   .encode_bytes = 4 << 20,
                                   .merge_bytes = 1 << 20};
  ASSERT_OK_AND_ASSIGN(const ImportSummary summary, Import(edges, labels, options));
  EXPECT_GT(summary.spilled_bytes, 0U);
  EXPECT_EQ(summary.labels.unknown, 13'000U);
  EXPECT_TRUE(LabelFiles() == files);
}

TEST_F(LabelImportTest, TriplesOfAPredicateAreLabelsAndNoEdges) {
  const std::string text =
      "<q:42> <p:31> <q:5> .\n"
      "<q:42> <http://www.w3.org/2000/01/rdf-schema#label> \"Douglas Adams\"@en .\n"
      "<q:42> <http://www.w3.org/2000/01/rdf-schema#label> \"\u0414\u0443\u0433\u043B\u0430\u0441\"@ru .\n"
      "<p:31> <http://www.w3.org/2000/01/rdf-schema#label> \"instance\\tof \\\"x\\\"\"@EN .\n"
      "<q:5> <http://www.w3.org/2000/01/rdf-schema#label> \"human\" .\n"
      "<q:5> <p:9> \"1952\" .\n";
  ImportOptions options;
  options.format = InputFormat::kNtriples;
  options.label_choice = {.predicate = std::string(kRdfsLabel), .language = "en"};
  ASSERT_OK_AND_ASSIGN(ImportSummary summary, ImportText(folder_, text, options));
  EXPECT_EQ(summary.graph.train_edges, 1U);
  EXPECT_EQ(summary.literals, 1U);
  EXPECT_EQ(summary.label_lines, 4U);
  auto graph = Open();
  EXPECT_EQ(graph->relation_count(), 1U);
  EXPECT_EQ(LabelOf(*graph, "q:42"), "Douglas Adams");
  EXPECT_EQ(LabelOf(*graph, "q:5"), "human");  // without a tag
  EXPECT_EQ(graph->LabelOf(graph->FindRelation("p:31").value()), "instance of \"x\"");
  // Without a language the first one counts.
  options.label_choice.language.clear();
  ASSERT_OK_AND_ASSIGN(summary, ImportText(folder_, text, options));
  EXPECT_EQ(summary.labels.repeated, 1U);
  graph = Open();
  EXPECT_EQ(LabelOf(*graph, "q:42"), "Douglas Adams");
  EXPECT_EQ(LabelOf(*graph, "q:5"), "human");
}

// Two names with the same hash make the import take another seed, after the labels of triples were sorted by the first.
TEST_F(LabelImportTest, TriplesAreLabelsWithEverySeed) {
  const NameHash bent = [](std::string_view name, std::uint64_t seed) {
    return HashName(name, seed) & (seed < 2 ? 1U : ~std::uint64_t{0});
  };
  std::string text;
  for (int i = 0; i < 50; ++i) {
    text += fmt::format("<n:{}> <r:r> <n:{}> .\n<n:{}> <r:label> \"label {}\" .\n", i, (i + 1) % 50, i, i);
  }
  ImportOptions options;
  options.format = InputFormat::kNtriples;
  options.label_choice.predicate = "r:label";
  options.node_hash = bent;
  ASSERT_OK_AND_ASSIGN(const ImportSummary summary, ImportText(folder_, text, options));
  EXPECT_EQ(summary.hash_seed, 2U);
  EXPECT_EQ(summary.labels.nodes, 50U);
  EXPECT_EQ(summary.labels.unknown, 0U);
}

TEST_F(LabelImportTest, TheLabelsOfABaseAreKeptUnlessThereAreNewOnes) {
  ASSERT_OK(Import("a\tr\tb\n", "a\told a\nb\told b\nr\told r\n"));
  std::filesystem::rename(folder_ / "graph", folder_ / "base");
  ImportOptions options;
  options.base = folder_ / "base";
  ASSERT_OK_AND_ASSIGN(const ImportSummary summary, Import("b\ts\tc\n", "b\tnew b\nc\tnew c\n", options));
  EXPECT_EQ(summary.labels.nodes, 3U);
  EXPECT_EQ(summary.labels.repeated, 0U);
  auto graph = Open();
  EXPECT_EQ(LabelOf(*graph, "a"), "old a");
  EXPECT_EQ(LabelOf(*graph, "b"), "new b");
  EXPECT_EQ(LabelOf(*graph, "c"), "new c");
  EXPECT_EQ(graph->LabelOf(graph->FindRelation("r").value()), "old r");
  // Without new ones all stay.
  ASSERT_OK(ImportText(folder_, "b\ts\tc\n", options));
  graph = Open();
  EXPECT_EQ(graph->description().labelled_nodes, 2U);
  EXPECT_EQ(LabelOf(*graph, "b"), "old b");
}

TEST_F(LabelImportTest, RefusesLabelsOfRelationsThatAreTooManyBytesForMemory) {
  std::string edges;
  std::string labels;
  for (int i = 0; i < 300; ++i) {
    edges += fmt::format("a\tr{}\tb\n", i);
    labels += fmt::format("r{}\t{}\n", i, std::string(60000, 'x'));
  }
  EXPECT_ERROR(Import(edges, labels).status(), kInput, "the labels of the relations take more than 16.0 MiB");
}

TEST_F(LabelImportTest, RefusesAFileOfLabelsThatIsMalformedOrMissing) {
  EXPECT_ERROR(Import("a\tb\n", "a\n").status(), kInput, "labels.tsv:1: found 1 tsv column");
  ImportOptions options;
  options.labels = (folder_ / "none").string();
  EXPECT_ERROR(ImportText(folder_, "a\tb\n", options).status(), kUsage, "none: no such file");
  options.labels.clear();
  options.label_choice.language = "en";
  EXPECT_ERROR(ImportText(folder_, "a\tb\n", options).status(), kUsage, "--label-language: found no --label-predicate");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "graph"));
}

}  // namespace
}  // namespace octavo
