// Labels of nodes, and lists of nodes: text files with names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace octavo {

// Lines whose name is not a node of the graph.
struct UnknownNames {
  std::uint64_t lines = 0;
  std::string first;  // the name in the first such line
};

// The labelled nodes of a graph. Constant once read; any thread.
struct NodeLabels {
  std::vector<std::string> names;      // of labels that some node has, ascending by bytes: label i is names[i]
  std::vector<std::uint64_t> nodes;    // nodes with labels, ascending
  std::vector<std::uint64_t> offsets;  // [nodes + 1]
  std::vector<std::uint32_t> labels;   // of nodes[i]: [offsets[i], offsets[i + 1]), ascending and distinct
  UnknownNames unknown;

  std::span<const std::uint32_t> Of(std::size_t place) const {
    return std::span(labels).subspan(offsets[place], offsets[place + 1] - offsets[place]);
  }
  // Whether any node has several labels.
  bool multi_label() const { return labels.size() > nodes.size(); }
  // Signs of a file that was not meant for this: half as many labels as nodes, or more, as if they were texts for
  // people; or a label of every node beside others, as the first word of names with blanks is. The latter is valid as
  // long as the labels are.
  bool NearlyAllDiffer() const;
  std::optional<std::string_view> LabelOfAll() const;
  std::uint64_t Bytes() const;
};

// Reads lines "NODE<TAB>CLASS [CLASS ...]" of a text file, plain, .gz or .zst ("-": standard input). A node's name is
// everything before the first tab. Its labels are separated by blanks or tabs, may be on several lines, and count once.
// Skips lines that are blank or begin with # or %.
//
// Any other line is an input error "file:line: found, expected". Names that the graph lacks are counted; a file without
// any node of the graph is an input error. More labels than fit `max_bytes` are a usage error.
absl::StatusOr<NodeLabels> ReadNodeLabels(const Graph& graph, const std::string& path, std::uint64_t max_bytes);

// Nodes listed in a file, one name per line, in the same format.
struct NodeList {
  std::vector<std::uint64_t> nodes;  // ascending and distinct
  UnknownNames unknown;
};
absl::StatusOr<NodeList> ReadNodeList(const Graph& graph, const std::string& path, std::uint64_t max_bytes);

// The smallest useful `max_bytes`: what reading takes before the first label.
inline constexpr std::uint64_t kLeastLabelBytes = std::uint64_t{4} << 20;

}  // namespace octavo
