// The node dictionary of an imported graph: name to id and back, over mapped files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "format/array_header.h"
#include "format/paths.h"

namespace octavo {

// Constant after Open and DropBehind; any thread. Its memory is page cache only.
class NodeNames {
 public:
  // Maps nodes.hash, nodes.names and nodes.offsets read-only and checks their headers and sizes against each other.
  static absl::StatusOr<std::unique_ptr<NodeNames>> Open(const GraphPaths& paths);
  ~NodeNames();

  std::uint64_t size() const;
  // Returns the name of `id`: bytes of the mapping, valid as long as this object. Compares it with its hash; status()
  // reports a difference. Empty if damaged offsets point outside the file. REQUIRES: id < size()
  std::string_view Name(NodeId id) const;
  // Returns a corrupt-file error if a name read so far does not match its hash: nodes.names, nodes.offsets or
  // nodes.hash is damaged. Ask before what was made of names is given out.
  absl::Status status() const;
  // Reads every name. `stop` ends it with a cancelled error.
  absl::Status CheckAll(const std::function<bool()>& stop) const;
  // Returns the id of `name`: interpolation search over the hashes, then a comparison of the name.
  std::optional<NodeId> Find(std::string_view name) const;

  // The names of nodes [first, first + count) are about to be read: the kernel may read them at once, not page by page.
  // REQUIRES: first + count <= size(), here and below
  void WillRead(std::uint64_t first, std::uint64_t count) const;
  // Keeps the names from filling the page cache: from now on Forget drops what was read. Not concurrently with other
  // calls.
  void DropBehind();
  // They were read and are not needed again soon. Names returned before stay valid; using them reads the page again.
  void Forget(std::uint64_t first, std::uint64_t count) const;

  // Returns the hash of the name of `id`, as nodes.hash has it. REQUIRES: id < size()
  std::uint64_t Hash(NodeId id) const;
  std::uint64_t hash_seed() const;
  const ArrayHeader& hash_header() const;
  const ArrayHeader& offset_header() const;

 private:
  struct Mapping;
  explicit NodeNames(std::unique_ptr<Mapping> mapping);
  std::unique_ptr<Mapping> mapping_;
};

}  // namespace octavo
