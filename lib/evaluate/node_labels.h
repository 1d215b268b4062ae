// Labels of nodes, and lists of nodes, as people have them: text files with names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace octavo {

// Lines of a file whose name no node of the graph has.
struct UnknownNames {
  std::uint64_t lines = 0;
  std::string first;  // the name in the first of them
};

// The labelled nodes of a graph. Constant once read; any thread.
struct NodeLabels {
  std::vector<std::string> names;      // of the labels that a node has, ascending by bytes: label i is names[i]
  std::vector<std::uint64_t> nodes;    // that have labels, ascending
  std::vector<std::uint64_t> offsets;  // [nodes + 1]
  std::vector<std::uint32_t> labels;   // of nodes[i]: [offsets[i], offsets[i + 1]), ascending and different
  UnknownNames unknown;

  std::span<const std::uint32_t> Of(std::size_t place) const {
    return std::span(labels).subspan(offsets[place], offsets[place + 1] - offsets[place]);
  }
  // Whether some node has several labels.
  bool multi_label() const { return labels.size() > nodes.size(); }
  std::uint64_t Bytes() const;
};

// Reads lines "node<TAB>label [label ...]" of a text file, plain, .gz or .zst ("-": standard input); the labels of a
// node stand behind blanks or tabs, on one line or on several, and repeated ones count once. The name of a node is all
// before the first tab. Lines that are blank or begin with # or % are passed over.
//
// Anything else is an input error "file:line: found, expected". Names that the graph lacks are counted; a file that
// names no node of the graph is an input error. More labels than `max_bytes` hold are a usage error.
absl::StatusOr<NodeLabels> ReadNodeLabels(const Graph& graph, const std::string& path, std::uint64_t max_bytes);

// Nodes named by a file with one name a line, in the same form.
struct NodeList {
  std::vector<std::uint64_t> nodes;  // ascending and different
  UnknownNames unknown;
};
absl::StatusOr<NodeList> ReadNodeList(const Graph& graph, const std::string& path, std::uint64_t max_bytes);

// The least `max_bytes` that can be of use: what reading takes before the first label.
inline constexpr std::uint64_t kLeastLabelBytes = std::uint64_t{4} << 20;

}  // namespace octavo
