#include "evaluate/edge_list.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/byte_size.h"
#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/line_reader.h"

namespace octavo {
namespace {

constexpr std::size_t kMostFields = 3;
// Memory of an edge while the vector doubles.
constexpr std::uint64_t kEdgeBytes = 3 * sizeof(Edge);

struct Words {
  std::array<std::string_view, kMostFields> fields;
  std::size_t count = 0;  // kMostFields + 1 if there are more
};

Words SplitLine(std::string_view line) {
  const std::string_view separators = line.find('\t') != std::string_view::npos ? "\t" : " ";
  Words words;
  while (words.count <= kMostFields) {
    if (separators == " ") line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (separators == " " && line.empty()) break;
    const std::size_t end = line.find_first_of(separators);
    if (words.count < kMostFields) words.fields[words.count] = line.substr(0, end);
    ++words.count;
    if (end == std::string_view::npos) break;
    line.remove_prefix(end + 1);
  }
  return words;
}

// Finds the edge of a line; empty if the graph lacks a name, which `missing` then has.
std::optional<Edge> FindEdge(const Graph& graph, const Words& words, std::string_view& missing) {
  const std::string_view tail_name = words.fields[words.count - 1];
  const std::optional<NodeId> head = graph.nodes().Find(words.fields[0]);
  const std::optional<NodeId> tail = graph.nodes().Find(tail_name);
  const std::optional<RelationId> relation = words.count == 2 ? RelationId{0} : graph.FindRelation(words.fields[1]);
  missing = !head ? words.fields[0] : !relation ? words.fields[1] : tail_name;
  if (!head || !tail || !relation) return std::nullopt;
  return Edge{*head, *tail, *relation, 1.0F};
}

}  // namespace

absl::StatusOr<EdgeList> ReadEdgeList(const Graph& graph, const std::string& path, std::uint64_t max_bytes) {
  const std::uint64_t window =
      std::clamp<std::uint64_t>(max_bytes / 2, std::uint64_t{1} << 20, std::uint64_t{128} << 20);
  ASSIGN_OR_RETURN(LineReader reader, LineReader::Open(path, {window, 0}));
  const bool one_relation = graph.relation_count() == 1;
  EdgeList list;
  for (std::uint64_t lines = 1;; ++lines) {
    ASSIGN_OR_RETURN(const std::optional<std::string_view> line, reader.Next());
    if (!line) break;
    const Words words = SplitLine(*line);
    if (words.count != 3 && !(words.count == 2 && one_relation)) {
      return InputError(fmt::format("{}: found {} in \"{}\"; expected head<TAB>relation<TAB>tail{}", reader.Place(),
                                    words.count == 1             ? "one field"
                                    : words.count <= kMostFields ? "two fields"
                                                                 : "more than three fields",
                                    Escape(*line, 60), one_relation ? " or head<TAB>tail" : ""));
    }
    constexpr std::uint64_t kReadings = 4096;  // between two drops of the pages of names from the cache
    if (lines % kReadings == 0) graph.nodes().Forget(0, graph.node_count());
    std::string_view missing;
    const std::optional<Edge> edge = FindEdge(graph, words, missing);
    if (!edge) {
      if (list.unknown.lines++ == 0) list.unknown.first = std::string(missing);
      continue;
    }
    list.edges.push_back(*edge);
    if (list.edges.size() * kEdgeBytes > max_bytes / 2) {
      return UsageError(
          fmt::format("{}: the edges up to here take more than the {} that --memory leaves for them; "
                      "expected a larger --memory",
                      reader.Place(), FormatByteSize(max_bytes / 2)));
    }
  }
  if (!list.edges.empty()) return list;
  return InputError(list.unknown.lines == 0
                        ? fmt::format("{}: found no line with an edge; expected head<TAB>relation<TAB>tail", path)
                        : fmt::format("{}: found no edge between nodes of {} in {} lines; \"{}\" is the first unknown "
                                      "name",
                                      path, graph.paths().folder().string(), list.unknown.lines,
                                      Escape(list.unknown.first)));
}

}  // namespace octavo
