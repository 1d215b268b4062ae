#include "import/importer.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "oneapi/tbb/global_control.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/imported_graph.h"
#include "tests/support/test_data.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGraphFiles[] = {"graph.json",    "nodes.hash",  "nodes.names", "nodes.offsets",
                                       "relations.tsv", "train.cells", "valid.cells", "test.cells"};

class ImportTest : public ::testing::Test {
 protected:
  std::unique_ptr<Graph> Open() { return Graph::Open(folder_ / "graph").value(); }
  std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const char* name : kGraphFiles) files[name] = FileBytes(folder_ / "graph" / name);
    return files;
  }
  // The other entries of the folder, besides the input.
  std::string Leftovers() const {
    std::string names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (entry.path().extension() != ".tsv") names += entry.path().filename().string() + " ";
    }
    return names;
  }
  void TearDown() override { EXPECT_OK(SetFailpoints("")); }
  TemporaryFolder folder_;
};

// Weighted triples with duplicates and self-loops; several megabytes, so that there are many chunks.
std::vector<std::string> ManyLines() {
  std::mt19937_64 random(1);
  std::vector<std::string> lines;
  for (int i = 0; i < 150000; ++i) {
    lines.push_back(fmt::format("node {}\trel {}\tnode {}\t{}", random() % 5000, random() % 7, random() % 5000,
                                0.25 * static_cast<double>(1 + random() % 8)));
  }
  return lines;
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST_F(ImportTest, HasExactlyTheEdgesOfTheText) {
  const std::vector<std::string> lines = ManyLines();
  ASSERT_OK(ImportText(folder_, Joined(lines)));
  // The oracle: a map from the text of each triple to the sum of its weights.
  std::map<std::string, double> weights;
  for (const std::string& line : lines) {
    const std::size_t tab = line.rfind('\t');
    weights[line.substr(0, tab)] += std::stod(line.substr(tab + 1));
  }
  std::vector<std::string> expected;
  for (const auto& [triple, weight] : weights) {
    std::string text = triple;
    std::ranges::replace(text, '\t', ' ');
    expected.push_back(fmt::format("{} {}", text, static_cast<float>(weight)));
  }
  std::ranges::sort(expected);
  const auto graph = Open();
  EXPECT_EQ(graph->node_count(), 5000U);
  EXPECT_EQ(graph->relation_count(), 7U);
  EXPECT_TRUE(EdgeTexts(*graph, Split::kTrain) == expected);
}

TEST_F(ImportTest, WritesTheSameBytesForAnyThreadsAndOrderOfLines) {
  std::vector<std::string> lines = ManyLines();
  ASSERT_OK(ImportText(folder_, Joined(lines), {.split = "0.8,0.1,0.1"}));
  const auto first = Files();
  for (const std::size_t threads : {1U, 2U, 4U, 7U}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    ASSERT_OK(ImportText(folder_, Joined(lines), {.split = "0.8,0.1,0.1"}));
    EXPECT_TRUE(Files() == first) << threads;
  }
  std::ranges::shuffle(lines, std::mt19937_64(2));
  ASSERT_OK(ImportText(folder_, Joined(lines), {.split = "0.8,0.1,0.1"}));
  for (const auto& [name, bytes] : Files()) EXPECT_TRUE(bytes == first.at(name)) << name;
}

TEST_F(ImportTest, ReadsEveryFormatToTheSameGraph) {
  ASSERT_OK(ImportText(folder_, "a\tr\tb\t0.5\nb\ts\tc\t1\n"));
  const std::string cells = FileBytes(folder_ / "graph/train.cells");
  for (const auto& [text, columns, format] :
       std::vector<std::tuple<std::string, std::string, std::optional<InputFormat>>>{
           {"\xEF\xBB\xBF"
            "a\tr\tb\t0.5\r\nb\ts\tc\t1\r\n",
            "",
            {}},
           {"# c\n\n% d\nb\ts\tc\t1\na\tr\tb\t0.5", "", {}},
           {"0.5,b,ignored,r,a\n1.0,c,,s,\"b\"\n", "weight,tail,-,relation,head", InputFormat::kCsv},
           {" a  r\tb 5e-1 \n b s c 1 \n", "", InputFormat::kBlank}}) {
    ASSERT_OK(ImportText(folder_, text, {.format = format, .columns = columns})) << text;
    EXPECT_TRUE(FileBytes(folder_ / "graph/train.cells") == cells) << text;
  }
}

TEST_F(ImportTest, AGraphWithoutRelationsHasOneThatIsNamedEdge) {
  ASSERT_OK_AND_ASSIGN(const ImportSummary summary, ImportText(folder_, "a\tb\nb\tc\n"));
  EXPECT_FALSE(summary.graph.has_relations);
  EXPECT_FALSE(summary.graph.has_weights);
  const auto graph = Open();
  EXPECT_EQ(graph->RelationName(RelationId{0}), "edge");
  EXPECT_EQ(graph->Edges(Split::kTrain).header().has_relations, 0U);
  EXPECT_EQ(EdgeTexts(*graph, Split::kTrain), (std::vector<std::string>{"a edge b 1", "b edge c 1"}));
  EXPECT_EQ(FileBytes(folder_ / "graph/relations.tsv"), "edge\t2\n");
}

TEST_F(ImportTest, ASingleRelationIsNotStoredWithEachEdge) {
  ASSERT_OK(ImportText(folder_, "a\tlikes\tb\nb\tlikes\tc\n"));
  const auto graph = Open();
  EXPECT_TRUE(graph->description().has_relations);
  EXPECT_EQ(graph->Edges(Split::kTrain).header().has_relations, 0U);
  EXPECT_EQ(graph->RelationName(RelationId{0}), "likes");
}

TEST_F(ImportTest, CountsWhatIsUnusual) {
  WriteFileBytes(folder_ / "valid.tsv", "a\tr\tb\nb\tr\tnew\n");
  WriteFileBytes(folder_ / "test.tsv", "c\ts\ta\nc\ts\ta\n");
  ImportOptions options;
  options.valid = (folder_ / "valid.tsv").string();
  options.test = (folder_ / "test.tsv").string();
  const std::string train = "# comment\na\tr\tb\na\tr\tb\nb\tr\tb\n\nc\tr\ta\n";
  ASSERT_OK_AND_ASSIGN(const ImportSummary summary, ImportText(folder_, train, options));
  EXPECT_EQ(summary.lines, 10U);
  EXPECT_EQ(summary.comment_lines, 1U);
  EXPECT_EQ(summary.blank_lines, 1U);
  EXPECT_EQ(summary.input_edges, 8U);
  EXPECT_EQ(summary.self_loops, 1U);
  EXPECT_EQ(summary.duplicates, (std::array<std::uint64_t, 3>{1, 0, 1}));
  EXPECT_EQ(summary.also_in_train, (std::array<std::uint64_t, 3>{0, 1, 0}));
  EXPECT_EQ(summary.unseen_nodes, 1U);
  EXPECT_EQ(summary.unseen_relations, 1U);
  EXPECT_EQ(summary.unseen_edges, (std::array<std::uint64_t, 3>{0, 1, 2}));
  EXPECT_EQ(summary.graph.train_edges, 3U);
  EXPECT_EQ(summary.graph.valid_edges, 2U);
  EXPECT_EQ(summary.graph.test_edges, 1U);
  EXPECT_EQ(FileBytes(folder_ / "graph/relations.tsv"), "r\t3\ns\t0\n");

  options.drop_unseen = true;
  options.drop_self_loops = true;
  options.merge_duplicates = false;
  ASSERT_OK_AND_ASSIGN(const ImportSummary dropped, ImportText(folder_, train, options));
  EXPECT_EQ(dropped.graph.node_count, 3U);
  EXPECT_EQ(dropped.graph.train_edges, 3U);
  EXPECT_EQ(dropped.graph.valid_edges, 1U);
  EXPECT_EQ(dropped.graph.test_edges, 0U);
  EXPECT_EQ(FileBytes(folder_ / "graph/relations.tsv"), "r\t3\n");
}

TEST_F(ImportTest, SplitGivesDisjointPartsThatTheSeedChanges) {
  const std::string text = Joined(ManyLines());
  ASSERT_OK_AND_ASSIGN(const ImportSummary one, ImportText(folder_, text, {.split = "0.8,0.1,0.1", .seed = 1}));
  EXPECT_EQ(one.also_in_train, (std::array<std::uint64_t, 3>{0, 0, 0}));
  EXPECT_NEAR(static_cast<double>(one.graph.valid_edges), 15000, 800);
  const std::string valid = FileBytes(folder_ / "graph/valid.cells");
  const std::string names = FileBytes(folder_ / "graph/nodes.names");
  ASSERT_OK(ImportText(folder_, text, {.split = "0.8,0.1,0.1", .seed = 2}));
  EXPECT_FALSE(FileBytes(folder_ / "graph/valid.cells") == valid);
  EXPECT_TRUE(FileBytes(folder_ / "graph/nodes.names") == names);
}

// The oracle: the text of both directions, imported as it stands.
TEST_F(ImportTest, UndirectedIsTheGraphOfTheTextInBothDirections) {
  ASSERT_OK_AND_ASSIGN(const ImportSummary summary, ImportText(folder_, "a\tb\t1\nb\ta\t0.5\nc\tc\t2\na\tc\t4\n",
                                                               {.columns = "head,tail,weight", .undirected = true}));
  EXPECT_EQ(EdgeTexts(*Open(), Split::kTrain),
            (std::vector<std::string>{"a edge b 1.5", "a edge c 4", "b edge a 1.5", "c edge a 4", "c edge c 2"}));
  EXPECT_EQ(summary.input_edges, 4U);
  EXPECT_EQ(summary.self_loops, 1U);
  EXPECT_EQ(summary.duplicates[0], 2U);
  const std::string description = FileBytes(folder_ / "graph/graph.json");
  EXPECT_NE(description.find("\"undirected\": true"), std::string::npos) << description;
  ASSERT_OK(ImportText(folder_, Joined(ManyLines()), {.undirected = true}));
  const auto undirected = Files();
  std::string both;
  for (const std::string& line : ManyLines()) {
    std::array<std::string, 4> fields;
    std::istringstream columns(line);
    for (std::string& field : fields) std::getline(columns, field, '\t');
    both += line + "\n";
    if (fields[0] != fields[2]) both += fmt::format("{}\t{}\t{}\t{}\n", fields[2], fields[1], fields[0], fields[3]);
  }
  ASSERT_OK(ImportText(folder_, both));
  for (const auto& [name, bytes] : Files()) EXPECT_TRUE(name == "graph.json" || bytes == undirected.at(name)) << name;
}

TEST_F(ImportTest, UndirectedSplitHoldsOutBothDirectionsOfAPair) {
  ASSERT_OK(ImportText(folder_, Joined(ManyLines()), {.split = "0.8,0.1,0.1", .undirected = true}));
  const auto graph = Open();
  std::map<std::tuple<NodeId, RelationId, NodeId>, Split> splits;
  for (const Split split : {Split::kTrain, Split::kValid, Split::kTest}) {
    ASSERT_OK_AND_ASSIGN(const std::vector<Edge> edges, graph->Edges(split).ReadAll());
    for (const Edge& edge : edges) splits[{edge.head, edge.relation, edge.tail}] = split;
    EXPECT_GT(edges.size(), 20000U);
  }
  for (const auto& [triple, split] : splits) {
    const auto [head, relation, tail] = triple;
    const auto other = splits.find({tail, relation, head});
    ASSERT_TRUE(other != splits.end() && other->second == split);
  }
}

// Duplicates within the input stay, and are counted; the other direction counts, too.
TEST_F(ImportTest, UndirectedHeldOutEdgesThatStandInTrainTheOtherWayRoundAreCounted) {
  WriteFileBytes(folder_ / "valid.tsv", "b\ta\n");
  ASSERT_OK_AND_ASSIGN(
      const ImportSummary summary,
      ImportText(folder_, "a\tb\na\tc\n", {.valid = (folder_ / "valid.tsv").string(), .undirected = true}));
  EXPECT_EQ(summary.also_in_train[1], 2U);
  EXPECT_EQ(EdgeTexts(*Open(), Split::kValid), (std::vector<std::string>{"a edge b 1", "b edge a 1"}));
}

TEST_F(ImportTest, RefusesWrongOptions) {
  EXPECT_ERROR(Import({.graph = folder_ / "graph"}), kUsage, "no input");
  EXPECT_ERROR(ImportText(folder_, "a\tb\n", {.valid = "-", .split = "0.9,0.05,0.05"}), kUsage, "--split and --valid");
  EXPECT_ERROR(ImportText(folder_, "a\tb\n", {.valid = "-", .test = "-"}), kUsage,
               "(standard input) is given more than once");
  EXPECT_ERROR(ImportText(folder_, "a\tb\n", {.valid = "/none"}), kUsage, "/none: no such file");
  EXPECT_ERROR(ImportText(folder_, "a\tb\n", {.columns = "head"}), kUsage, "--columns");
  EXPECT_ERROR(ImportText(folder_, "a\tb\n", {.split = "1"}), kUsage, "--split");
  EXPECT_EQ(Leftovers(), "");
}

TEST_F(ImportTest, EmptyInputsAreInputErrors) {
  for (const std::string& text : {std::string(), std::string("# only\n% comments\n\n"), std::string("\xEF\xBB\xBF")}) {
    EXPECT_ERROR(ImportText(folder_, text), kInput, "input.tsv: found no edge");
  }
  EXPECT_ERROR(ImportText(folder_, "a\ta\n", {.drop_self_loops = true}), kInput, "no training edge is left");
  WriteFileBytes(folder_ / "valid.tsv", "");
  EXPECT_ERROR(ImportText(folder_, "a\tb\n", {.valid = (folder_ / "valid.tsv").string()}), kInput,
               "valid.tsv: found no edge");
  EXPECT_EQ(Leftovers(), "");
}

TEST_F(ImportTest, AFailureAtAnyStepLeavesNothingNew) {
  ASSERT_OK(ImportText(folder_, "a\tb\n"));
  const auto before = Files();
  int failures = 0;
  for (const std::string& point : {std::string("input.read"), std::string("file.open"), std::string("file.write"),
                                   std::string("file.sync"), std::string("folder.commit")}) {
    for (int pass = 1; pass < 100; ++pass) {
      ASSERT_OK(SetFailpoints(fmt::format("{}:{}=enospc", point, pass)));
      const auto summary = ImportText(folder_, "c\td\ne\tf\n");
      ASSERT_OK(SetFailpoints(""));
      if (summary.ok()) {  // the import needs fewer passes: all were tried
        ASSERT_OK(ImportText(folder_, "a\tb\n"));
        break;
      }
      ++failures;
      EXPECT_ERROR(summary, kRuntime, "No space left") << point << pass;
      ASSERT_TRUE(Files() == before) << point << pass;
      ASSERT_EQ(Leftovers(), "graph ") << point << pass;
    }
  }
  EXPECT_GT(failures, 30);
}

TEST_F(ImportTest, StopLeavesNothing) {
  int asked = 0;
  const auto stopped = ImportText(folder_, "a\tb\n", {.stop = [&] { return ++asked > 3; }});
  EXPECT_TRUE(absl::IsCancelled(stopped.status()));
  EXPECT_EQ(Leftovers(), "");
}

TEST_F(ImportTest, StopsInEveryStage) {
  const std::string text = Joined(ManyLines());
  WriteFileBytes(folder_ / "input.tsv", text);
  for (const std::string stage : {"reading", "ranking", "encoding", "writing"}) {
    std::string last;
    ImportOptions options{.inputs = {(folder_ / "input.tsv").string()}, .graph = folder_ / "graph"};
    std::atomic<bool> stopped = false;
    options.stop = [&] { return stopped.load(); };
    const auto summary = Import(options, [&](const ImportProgress& progress) {
      last = progress.stage;
      stopped = progress.stage == stage || stopped;
    });
    EXPECT_TRUE(absl::IsCancelled(summary.status())) << stage;
    EXPECT_EQ(last, stage);
    EXPECT_EQ(Leftovers(), "");
  }
}

TEST_F(ImportTest, StandardBenchmarksHaveTheirPublishedCounts) {
  struct Benchmark {
    const char* name;
    std::uint64_t nodes, relations, train, valid, test;
  };
  for (const Benchmark& b :
       {Benchmark{"FB15k-237", 14541, 237, 272115, 17535, 20466}, Benchmark{"WN18RR", 40943, 11, 86835, 3034, 3134},
        Benchmark{"UMLS", 135, 46, 5216, 652, 661}, Benchmark{"Kinship", 104, 25, 8544, 1068, 1074},
        Benchmark{"Nations", 14, 55, 1592, 199, 201}}) {
    const std::string base = std::string(b.name) + "/";
    OCTAVO_REQUIRE_DATA(base + "train.txt.zst");
    ImportOptions options;
    options.inputs = {TestData(base + "train.txt.zst").string()};
    options.valid = TestData(base + "valid.txt.zst").string();
    options.test = TestData(base + "test.txt.zst").string();
    options.graph = folder_ / b.name;
    ASSERT_OK_AND_ASSIGN(const ImportSummary summary, Import(options));
    EXPECT_EQ(summary.graph.node_count, b.nodes) << b.name;
    EXPECT_EQ(summary.graph.relation_count, b.relations) << b.name;
    EXPECT_EQ(summary.graph.train_edges, b.train) << b.name;
    EXPECT_EQ(summary.graph.valid_edges, b.valid) << b.name;
    EXPECT_EQ(summary.graph.test_edges, b.test) << b.name;
    EXPECT_OK(Graph::Open(options.graph));
  }
}

}  // namespace
}  // namespace octavo
