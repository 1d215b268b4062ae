// Labels of a graph's nodes and relations: texts that people read beside the names, over mapped files.
//
//   nodes.labels      one line per node: line i + 1 is the label of node i, empty for none
//   nodes.labels.hash, nodes.labels.offsets, nodes.labels.order    format/array_header.h
//   relations.labels  the same for relations, in id order
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "format/graph_description.h"
#include "format/paths.h"
#include "graph/mapped_array.h"

namespace octavo {

// Nodes with the same label.
struct LabelledNodes {
  std::vector<NodeId> nodes;  // the first ones by id
  std::uint64_t count = 0;    // of all
};

// Constant after Open and DropBehind; any thread. Its memory is page cache, and the labels of the relations.
class Labels {
 public:
  // Maps the files and checks their headers and sizes against each other and `description`, which has labels.
  static absl::StatusOr<std::unique_ptr<Labels>> Open(const GraphPaths& paths, const GraphDescription& description);

  // Returns the label, empty for none: bytes of the mapping, valid as long as this object. Compares it with its hash;
  // status() reports a difference. REQUIRES: id < the number of nodes
  std::string_view Of(NodeId id) const;
  // REQUIRES: id < the number of relations
  std::string_view Of(RelationId id) const { return relations_[Value(id)]; }

  // Returns the nodes with exactly this label, at most `most` of them.
  LabelledNodes FindNodes(std::string_view label, std::size_t most) const;
  // Returns the relations with exactly this label.
  std::vector<RelationId> FindRelations(std::string_view label) const;

  // Returns a corrupt-file error if a label read so far does not match its hash.
  absl::Status status() const;

  // As those of NodeNames, for labels.
  void WillRead(std::uint64_t first, std::uint64_t count) const;
  void DropBehind() { drop_behind_ = true; }
  void Forget(std::uint64_t first, std::uint64_t count) const;

 private:
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  explicit Labels(GraphPaths paths) : paths_(std::move(paths)) {}
  absl::Status CheckSizes(const GraphDescription& description) const;

  const GraphPaths paths_;
  MappedFile text_;
  MappedArray offsets_;
  MappedArray hashes_;
  MappedArray order_;
  std::vector<std::string> relations_;  // empty texts for none
  bool drop_behind_ = false;
  // A node whose label does not match its hash. Relaxed: it is only compared with kNone and reported.
  mutable std::atomic<std::uint64_t> damaged_ = kNone;
};

// Parses relations.labels: one line for each of `count` relations. A corrupt-file error tells how many were found.
absl::StatusOr<std::vector<std::string>> ParseRelationLabels(std::string_view text, std::uint32_t count,
                                                             std::string_view file_name);

}  // namespace octavo
