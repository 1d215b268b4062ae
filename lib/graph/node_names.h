// The node dictionary of an imported graph: name to id and back, over mapped files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "format/array_header.h"
#include "format/paths.h"

namespace octavo {

// Constant after Open and DropBehind; any thread. Memory is page cache only.
class NodeNames {
 public:
  // Maps nodes.hash, nodes.names and nodes.offsets read-only and checks their headers and sizes against each other.
  static absl::StatusOr<std::unique_ptr<NodeNames>> Open(const GraphPaths& paths);
  ~NodeNames();

  std::uint64_t size() const;
  // Returns the name of `id`: bytes inside the mapping, valid as long as this object; empty where damaged offsets point
  // out of the file. REQUIRES: id < size()
  std::string_view Name(NodeId id) const;
  // Returns the id of `name`, by interpolation search over the hashes and a comparison of the name.
  std::optional<NodeId> Find(std::string_view name) const;

  // The names of nodes [first, first + count) will be asked for: the kernel may read them at once, not page by page.
  // REQUIRES: first + count <= size(), here and below
  void WillRead(std::uint64_t first, std::uint64_t count) const;
  // For names that the page cache must not fill up with: from here on Forget drops what was read. Not beside other
  // calls.
  void DropBehind();
  // They were read and will not be soon again. Names got before stay valid; to look at them reads them anew.
  void Forget(std::uint64_t first, std::uint64_t count) const;

  std::uint64_t hash_seed() const;
  const ArrayHeader& hash_header() const;
  const ArrayHeader& offset_header() const;

 private:
  struct Mapping;
  explicit NodeNames(std::unique_ptr<Mapping> mapping);
  std::unique_ptr<Mapping> mapping_;
};

}  // namespace octavo
