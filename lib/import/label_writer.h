// Writes the labels of a graph (graph/labels.h): joins them, sorted by the hashes of the names, with its nodes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "format/graph_description.h"
#include "format/paths.h"
#include "graph/node_names.h"
#include "import/array_writer.h"
#include "import/label_sorter.h"

namespace octavo {

// Where a label comes from: the label of the first source counts. The number of a record (label_sorter.h) is
// NumberOf(source, place).
enum class LabelSource : std::uint64_t { kFile = 0, kTriple = 1, kBase = 2 };
inline constexpr std::uint64_t kLabelPlaceBits = 56;
constexpr std::uint64_t NumberOf(LabelSource source, std::uint64_t place) {
  return static_cast<std::uint64_t>(source) << kLabelPlaceBits | place;
}
constexpr LabelSource SourceOf(std::uint64_t number) { return static_cast<LabelSource>(number >> kLabelPlaceBits); }

// Labels of names that are in the graph and of names that are not; those of a base are not counted as repeated.
struct ImportedLabels {
  std::uint64_t nodes = 0;
  std::uint64_t relations = 0;
  std::uint64_t repeated = 0;  // further labels of a name, which are left out
  std::uint64_t unknown = 0;   // names that the graph lacks
  std::string first_unknown;   // by hash
};

// One use. One owner, one thread.
class LabelWriter {
 public:
  // Writes the files of labels. `sorted` is finished and has the keys of the hashes in `nodes`. `memory_bytes` is for
  // sorting the nodes by their labels, at `spill` if they do not fit. All references must outlive the call of Run.
  LabelWriter(const GraphPaths& paths, const NodeNames& nodes, LabelSorter& sorted, std::filesystem::path spill,
              std::uint64_t memory_bytes, SpillUse& use);

  // Sets the labels' part of `graph`. Leaves no file of labels if no name of the graph has one.
  absl::StatusOr<ImportedLabels> Run(GraphDescription& graph);

 private:
  // All labels of one name: the one that counts.
  struct Group {
    std::uint64_t key = 0;
    std::string name;
    std::string label;
  };

  absl::Status ReadRelations(const GraphDescription& graph);
  // Reads the next name into group_; has_group_ is false at the end.
  absl::Status NextGroup();
  // Ends the work on the current name, which is that of a node or not.
  absl::Status Leave(bool is_node);
  absl::StatusOr<ArrayHeader> WriteNodes(ArrayHeader& hashes, ArrayHeader& offsets);
  absl::StatusOr<ArrayHeader> WriteOrder();
  absl::StatusOr<std::string> WriteRelations();

  const GraphPaths& paths_;
  const NodeNames& nodes_;
  LabelSorter& sorted_;
  const std::uint64_t memory_bytes_;
  LabelSorter order_;  // of nodes by the hashes of their labels
  absl::flat_hash_map<std::string, std::uint32_t> relations_;
  std::vector<std::string> relation_labels_;
  std::uint64_t relation_bytes_ = 0;  // of them
  bool has_record_ = false;
  bool has_group_ = false;
  Group group_;
  ImportedLabels counts_;
};

}  // namespace octavo
