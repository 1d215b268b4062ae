// graph.json: describes an imported graph and identifies it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/edge.h"
#include "format/array_header.h"
#include "format/cells.h"

namespace octavo {

// The contents of graph.json.
struct GraphDescription {
  std::uint64_t node_count = 0;
  std::uint32_t relation_count = 0;  // at least 1
  std::uint64_t partition_rows = 0;  // a multiple of kPartitionRowQuantum
  std::uint32_t partition_count = 0;
  bool has_relations = false;  // the input had a relation column
  bool has_weights = false;
  // How input lines became edges; a command that adds edges follows it. False in graphs written before this was
  // recorded.
  bool undirected = false;        // each line gave an edge in both directions
  bool keeps_duplicates = false;  // copies of an edge were not merged
  std::uint64_t train_edges = 0;
  std::uint64_t valid_edges = 0;
  std::uint64_t test_edges = 0;
  // GraphFingerprint. A run records it and refuses any other graph.
  std::uint64_t fingerprint = 0;
  // Texts for people, which no training depends on: a graph has the same fingerprint with and without them. If both
  // numbers are 0, there are no files of labels.
  std::uint64_t labelled_nodes = 0;
  std::uint32_t labelled_relations = 0;
  std::uint64_t label_checksum = 0;  // LabelChecksum

  bool HasLabels() const { return labelled_nodes > 0 || labelled_relations > 0; }
  std::uint64_t Edges(Split split) const {
    return split == Split::kTrain ? train_edges : split == Split::kValid ? valid_edges : test_edges;
  }
  friend bool operator==(const GraphDescription&, const GraphDescription&) = default;
};

// The relation's name in a graph whose input had no relation column.
inline constexpr std::string_view kOnlyRelationName = "edge";

// XXH3-64 of the header and index checksums of the cells (train, valid, test), the data checksums of the node arrays,
// and the bytes of relations.tsv.
std::uint64_t GraphFingerprint(const std::array<CellsHeader, 3>& cells, const ArrayHeader& hashes,
                               const ArrayHeader& offsets, std::string_view relations);

// XXH3-64 of the data checksums of the labels' arrays (hashes, offsets, order) and the bytes of relations.labels. The
// hashes stand for the text of nodes.labels.
std::uint64_t LabelChecksum(const ArrayHeader& hashes, const ArrayHeader& offsets, const ArrayHeader& order,
                            std::string_view relation_labels);

// Returns the text of graph.json. `origin_json` is a JSON object with the options and statistics of the command
// `origin` that made the graph. It is for people and is not read back. REQUIRES: `origin_json` is well-formed JSON
std::string EncodeGraphDescription(const GraphDescription& description, std::string_view origin_json,
                                   std::string_view origin = "import");

// Parses graph.json. A corrupt-file error names the key, what was found and what was expected.
absl::StatusOr<GraphDescription> DecodeGraphDescription(std::string_view text, std::string_view file_name);

}  // namespace octavo
