// Writes the node dictionary of a graph, name by name: nodes.hash, nodes.names and nodes.offsets.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "format/array_header.h"
#include "format/paths.h"
#include "import/array_writer.h"
#include "io/file.h"

namespace octavo {

struct NodeArrays {
  ArrayHeader hashes;
  ArrayHeader offsets;
};

// One owner, one thread. Holds three buffers for any number of names.
class NodeWriter {
 public:
  // `hash_seed` is the seed of all appended hashes.
  static absl::StatusOr<std::unique_ptr<NodeWriter>> Create(const GraphPaths& paths, std::uint64_t hash_seed);

  // Appends the node with the next id. REQUIRES: hashes are appended in ascending order
  absl::Status Append(std::uint64_t hash, std::string_view name);
  std::uint64_t count() const { return hashes_.count(); }

  // Writes the headers and returns them. Call it once, last.
  absl::StatusOr<NodeArrays> Finish();

 private:
  NodeWriter(File hashes, File names, File offsets, std::uint64_t hash_seed);

  ArrayWriter hashes_;
  AppendedFile names_;
  ArrayWriter offsets_;
};

}  // namespace octavo
