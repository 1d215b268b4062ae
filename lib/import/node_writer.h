// Writes the node dictionary of a graph, name by name: nodes.hash, nodes.names and nodes.offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "format/array_header.h"
#include "format/paths.h"
#include "io/checksum.h"
#include "io/file.h"
#include "io/write_behind.h"

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
  // A file that is appended to.
  class Output {
   public:
    Output(File file, std::uint64_t begin) : file_(std::move(file)), end_(begin) {}
    absl::Status Append(std::span<const std::byte> bytes);
    absl::Status Flush();
    File& file() { return file_; }
    std::uint64_t size() const { return end_ + buffer_.size(); }
    absl::Status Close();

   private:
    File file_;
    WriteBehind behind_;
    std::uint64_t end_;  // of the written bytes
    std::vector<std::byte> buffer_;
  };

  // An array after its header, which is written at the end.
  class Array {
   public:
    Array(File file, ArrayKind kind, std::uint64_t hash_seed);
    absl::Status Append(std::uint64_t value);
    std::uint64_t count() const { return header_.count; }
    absl::StatusOr<ArrayHeader> Finish();

   private:
    Output output_;
    ArrayHeader header_;
    std::unique_ptr<StreamingChecksum64> checksum_;
    std::vector<std::uint64_t> values_;
    absl::Status Flush();
  };

  NodeWriter(File hashes, File names, File offsets, std::uint64_t hash_seed);

  Array hashes_;
  Output names_;
  Array offsets_;
};

}  // namespace octavo
