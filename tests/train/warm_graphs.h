// A graph, and one that was grown from it, for the tests of warm starts.
#pragma once

#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "fmt/format.h"
#include "format/npy_header.h"
#include "graph/graph.h"
#include "import/importer.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"
#include "tests/train/tiny_training.h"

namespace octavo {

// `old` has the nodes n0, n1, ... and the relations r0, r1; `grown` has a third more nodes and r2, but lacks n0.
class WarmGraphs {
 public:
  explicit WarmGraphs(std::uint64_t nodes = 30, std::uint64_t edges = 100) {
    Make(old_graph(), 0, nodes, 2, edges);
    Make(grown_graph(), 1, nodes + nodes / 3, 3, edges + edges / 3);
  }
  std::filesystem::path old_graph() const { return folder_ / "old"; }
  std::filesystem::path grown_graph() const { return folder_ / "grown"; }
  std::filesystem::path run(const std::string& name) const { return folder_ / name; }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

  // Trains the run from which the others start.
  void TrainOld(const TrainOptions& options) const {
    ASSERT_OK(StartRun(old_graph(), run("source"), options, /*overwrite=*/true, {.memory = kPlenty}, {}));
  }
  absl::StatusOr<TrainOutcome> Grow(const TrainOptions& options, const std::string& name,
                                    const TrainSettings& settings = {.memory = kPlenty},
                                    const TrainCallbacks& callbacks = {}, bool state = true) const {
    return StartRun(grown_graph(), run(name), options, /*overwrite=*/false, settings, callbacks,
                    {.source = run("source"), .optimizer_state = state});
  }

 private:
  void Make(const std::filesystem::path& graph, std::uint64_t first, std::uint64_t nodes, std::uint64_t relations,
            std::uint64_t edges) const {
    RandomStream random(nodes, RandomPurpose::kSplit, 0, 0);
    std::string text;
    const auto node = [&](std::uint64_t i) { return fmt::format("n{}", std::max(first, i)); };
    for (std::uint64_t i = 0; i < edges; ++i) {
      text += fmt::format("{}\tr{}\t{}\n", node(i % nodes), i < relations ? i : random.Below(relations),
                          node(random.Below(nodes)));
    }
    WriteFileBytes(graph.string() + ".tsv", text);
    ImportOptions options{.inputs = {graph.string() + ".tsv"}, .graph = graph, .columns = "head,relation,tail"};
    const auto summary = Import(options);
    ASSERT_OK(summary);
    ASSERT_EQ(summary->graph.node_count, nodes - first);
    ASSERT_EQ(summary->graph.relation_count, relations);
  }

  const TemporaryFolder folder_;
};

// The rows of a finished run's tables as bytes, by name: a reader of the files only. Inverse relations are "NAME^-1".
using NamedRows = std::map<std::string, std::string>;
inline NamedRows RowsOf(const std::filesystem::path& table, const std::vector<std::string>& names) {
  const std::string bytes = FileBytes(table);
  NamedRows rows;
  if (names.empty()) return rows;
  const std::size_t width = (bytes.size() - kNpyHeaderBytes) / names.size();
  EXPECT_EQ(kNpyHeaderBytes + width * names.size(), bytes.size()) << table;
  for (std::size_t i = 0; i < names.size(); ++i) rows[names[i]] = bytes.substr(kNpyHeaderBytes + i * width, width);
  return rows;
}
inline std::vector<std::string> LinesOf(const std::filesystem::path& path, char end = '\n') {
  std::vector<std::string> lines;
  std::string text = FileBytes(path);
  for (std::size_t at = 0; at < text.size();) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    lines.push_back(line.substr(0, line.find(end)));
    at += line.size() + 1;
  }
  return lines;
}
struct NamedTables {
  NamedRows embeddings, optimizer, relations, relation_optimizer;

  friend bool operator==(const NamedTables&, const NamedTables&) = default;
};
inline NamedTables TablesOf(const std::filesystem::path& run, const std::filesystem::path& graph, bool reciprocal) {
  const RunPaths paths(run);
  const std::vector<std::string> nodes = LinesOf(GraphPaths(graph).NodeNames());
  std::vector<std::string> relations = LinesOf(GraphPaths(graph).Relations(), '\t');
  for (std::size_t i = 0, count = relations.size(); reciprocal && i < count; ++i) {
    relations.push_back(relations[i] + "^-1");
  }
  return {RowsOf(paths.Table(TableName::kEmbeddings, 0), nodes), RowsOf(paths.Table(TableName::kOptimizer, 0), nodes),
          RowsOf(paths.Table(TableName::kRelations, 0), relations),
          RowsOf(paths.Table(TableName::kRelationOptimizer, 0), relations)};
}

// The number of names of `rows` that are in `source`, and of those with its bytes.
struct Shared {
  std::uint64_t names = 0;
  std::uint64_t same = 0;

  friend bool operator==(const Shared&, const Shared&) = default;
};
inline Shared Compare(const NamedRows& rows, const NamedRows& source) {
  Shared shared;
  for (const auto& [name, bytes] : rows) {
    const auto found = source.find(name);
    if (found == source.end()) continue;
    ++shared.names;
    if (found->second == bytes) ++shared.same;
  }
  return shared;
}

}  // namespace octavo
