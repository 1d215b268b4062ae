#include "import/node_writer.h"

#include <utility>

#include "base/status.h"

namespace octavo {

NodeWriter::NodeWriter(File hashes, File names, File offsets, std::uint64_t hash_seed)
    : hashes_(std::move(hashes), ArrayKind::kNodeHashes, hash_seed),
      names_(std::move(names), 0),
      offsets_(std::move(offsets), ArrayKind::kNodeOffsets, 0) {}

absl::StatusOr<std::unique_ptr<NodeWriter>> NodeWriter::Create(const GraphPaths& paths, std::uint64_t hash_seed) {
  ASSIGN_OR_RETURN(File hashes, File::Create(paths.NodeHashes()));
  ASSIGN_OR_RETURN(File names, File::Create(paths.NodeNames()));
  ASSIGN_OR_RETURN(File offsets, File::Create(paths.NodeOffsets()));
  return std::unique_ptr<NodeWriter>(
      new NodeWriter(std::move(hashes), std::move(names), std::move(offsets), hash_seed));
}

absl::Status NodeWriter::Append(std::uint64_t hash, std::string_view name) {
  RETURN_IF_ERROR(hashes_.Append(hash));
  RETURN_IF_ERROR(offsets_.Append(names_.size()));
  RETURN_IF_ERROR(names_.Append(name));
  return names_.Append("\n");
}

absl::StatusOr<NodeArrays> NodeWriter::Finish() {
  NodeArrays arrays;
  RETURN_IF_ERROR(offsets_.Append(names_.size()));
  RETURN_IF_ERROR(names_.Close());
  ASSIGN_OR_RETURN(arrays.hashes, hashes_.Finish());
  ASSIGN_OR_RETURN(arrays.offsets, offsets_.Finish());
  return arrays;
}

}  // namespace octavo
