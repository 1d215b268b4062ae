// Small graphs for tests: text in, an imported folder out.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fmt/format.h"
#include "graph/graph.h"
#include "import/importer.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {

// Writes `text` to a file and imports it as the graph `folder`/graph. `options` gives the rest.
inline absl::StatusOr<ImportSummary> ImportText(const TemporaryFolder& folder, const std::string& text,
                                                ImportOptions options = {}) {
  WriteFileBytes(folder / "input.tsv", text);
  options.inputs = {(folder / "input.tsv").string()};
  options.graph = folder / "graph";
  options.overwrite = true;
  return Import(options);
}

// The edges of a split as "head relation tail weight", sorted.
inline std::vector<std::string> EdgeTexts(const Graph& graph, Split split) {
  std::vector<std::string> texts;
  const std::vector<Edge> edges = graph.Edges(split).ReadAll().value();
  for (const Edge& edge : edges) {
    texts.push_back(fmt::format("{} {} {} {}", graph.nodes().Name(edge.head), graph.RelationName(edge.relation),
                                graph.nodes().Name(edge.tail), edge.weight));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace octavo
