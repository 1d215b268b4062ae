#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <system_error>
#include <vector>

#include "base/byte_size.h"
#include "base/count_text.h"
#include "base/escape.h"
#include "base/json_escape.h"
#include "base/status.h"
#include "cmd/inspect.h"
#include "fmt/format.h"
#include "graph/graph.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

// The most relations in the table; --json has all of them.
constexpr std::size_t kShownRelations = 10;

std::uint64_t BytesOf(const GraphPaths& paths) {
  std::uint64_t bytes = 0;
  for (const std::string& name : GraphPaths::FileNames()) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(paths.folder() / name, error);
    if (!error) bytes += size;
  }
  return bytes;
}

// Relation ids, the most frequent first.
std::vector<RelationId> ByFrequency(const Graph& graph) {
  std::vector<std::uint32_t> ids(graph.relation_count());
  std::iota(ids.begin(), ids.end(), 0U);
  std::ranges::stable_sort(ids, std::greater<>(),
                           [&](std::uint32_t id) { return graph.RelationTrainEdges(RelationId{id}); });
  std::vector<RelationId> relations;
  for (const std::uint32_t id : ids) relations.push_back(RelationId{id});
  return relations;
}

void PrintTable(const Graph& graph) {
  const GraphDescription& d = graph.description();
  const auto row = [](std::string_view name, const std::string& value) { fmt::print("{:<14} {:>14}\n", name, value); };
  row("nodes", fmt::format("{}", d.node_count));
  row("relations", d.has_relations ? fmt::format("{}", d.relation_count) : "none");
  row("train edges", fmt::format("{}", d.train_edges));
  row("valid edges", fmt::format("{}", d.valid_edges));
  row("test edges", fmt::format("{}", d.test_edges));
  row("weights", d.has_weights ? "yes" : "no");
  if (d.HasLabels()) {
    row("labelled", CountText(d.labelled_nodes, "node"));
    if (d.has_relations) row("", CountText(d.labelled_relations, "relation"));
  }
  row("partitions", fmt::format("{}", d.partition_count));
  row("rows each", fmt::format("{}", d.partition_rows));
  row("size", FormatByteSize(BytesOf(graph.paths())));
  row("fingerprint", fmt::format("{:016x}", d.fingerprint));
  if (!d.has_relations) return;
  const std::vector<RelationId> relations = ByFrequency(graph);
  fmt::print("\n{:>14}  relation\n", "train edges");
  for (std::size_t i = 0; i < std::min(relations.size(), kShownRelations); ++i) {
    const std::string_view label = graph.LabelOf(relations[i]);
    fmt::print("{:>14}  {}{}\n", graph.RelationTrainEdges(relations[i]), EscapeCell(graph.RelationName(relations[i])),
               label.empty() ? "" : fmt::format(" ({})", EscapeCell(label)));
  }
  if (relations.size() > kShownRelations) {
    fmt::print("{:>14}  {} more (--json lists them)\n", "...", relations.size() - kShownRelations);
  }
}

void PrintJson(const Graph& graph) {
  const GraphDescription& d = graph.description();
  auto object = nlohmann::ordered_json::object();
  object["kind"] = "graph";
  object["path"] = graph.paths().folder().string();
  object["nodes"] = d.node_count;
  object["relations"] = d.relation_count;
  object["train_edges"] = d.train_edges;
  object["valid_edges"] = d.valid_edges;
  object["test_edges"] = d.test_edges;
  object["has_relations"] = d.has_relations;
  object["has_weights"] = d.has_weights;
  if (d.HasLabels()) {
    object["labelled_nodes"] = d.labelled_nodes;
    object["labelled_relations"] = d.labelled_relations;
  }
  object["partitions"] = d.partition_count;
  object["partition_rows"] = d.partition_rows;
  object["bytes"] = BytesOf(graph.paths());
  object["fingerprint"] = fmt::format("{:016x}", d.fingerprint);
  auto& relations = object["relation_train_edges"] = nlohmann::ordered_json::object();
  for (std::uint32_t id = 0; id < graph.relation_count(); ++id) {
    relations[std::string(graph.RelationName(RelationId{id}))] = graph.RelationTrainEdges(RelationId{id});
  }
  fmt::print("{}\n", EscapeJsonControls(object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)));
}

}  // namespace

absl::Status InspectGraph(const std::filesystem::path& folder, bool json, Program&) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(folder));
  if (json) {
    PrintJson(*graph);
  } else {
    PrintTable(*graph);
  }
  return absl::OkStatus();
}

}  // namespace octavo
