// The vectors of a source in the order of their names' hashes, which is that of a graph's nodes: through temporary
// files where they do not fit the memory.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cells/spill_file.h"
#include "vectors/vector_source.h"

namespace octavo {

// Valid until the next one is read.
struct HashedVector {
  std::uint64_t hash = 0;
  std::string_view name;
  std::span<const float> values;  // [columns]
};

// One reader; not for concurrent use.
class SortedVectors {
 public:
  // Reads all of `source`, unless its names come in the order of that seed's hashes already. What is held at a time
  // takes about `memory_bytes`; the rest goes to a file at `spill`, which has no name any more when this returns. A
  // usage error where the memory is too little for a buffer a run. `use.stop` ends this, and Next, soon, with
  // absl::CancelledError. `use` must outlive this.
  static absl::StatusOr<std::unique_ptr<SortedVectors>> Make(std::unique_ptr<VectorSource> source,
                                                             std::uint64_t hash_seed, std::uint64_t memory_bytes,
                                                             const std::filesystem::path& spill, SpillUse& use);
  ~SortedVectors();

  std::size_t columns() const { return source_->columns(); }
  // Returns the next vector, empty at the end; those of one hash by name. A name that comes twice is an input error
  // that names both places.
  absl::StatusOr<std::optional<HashedVector>> Next();
  // Vectors of the source, at the end.
  std::uint64_t count() const { return source_->count(); }

 private:
  // Of a record that is held.
  struct Key {
    std::uint64_t hash = 0;
    std::size_t begin = 0;  // in held_
    std::size_t bytes = 0;
  };
  struct Run;

  SortedVectors(std::unique_ptr<VectorSource> source, std::uint64_t hash_seed, SpillUse& use);

  absl::Status CheckStop() const;
  absl::Status Sort(std::uint64_t memory_bytes, const std::filesystem::path& spill);
  void Hold(const NamedVector& vector);
  void SortHeld();
  absl::Status SpillHeld(const std::filesystem::path& spill);
  absl::Status BeginMerge(std::uint64_t memory_bytes);
  absl::StatusOr<bool> ReadSorted();
  absl::StatusOr<bool> ReadMerged();
  void Take(std::span<const std::byte> record);
  absl::Status CheckOrder();

  const std::unique_ptr<VectorSource> source_;
  const std::uint64_t hash_seed_;
  SpillUse& use_;
  // What is held: records one behind the other, and where each begins, in order.
  std::vector<std::byte> held_;
  std::vector<Key> keys_;
  std::size_t next_ = 0;  // of keys_
  // What is not.
  std::unique_ptr<SpillFile> file_;
  std::vector<SpillExtent> extents_;
  std::size_t largest_record_ = 0;
  std::vector<std::unique_ptr<Run>> runs_;  // a heap by key; the first one's record was handed out last
  // The vector that was handed out last.
  std::uint64_t hash_ = 0;
  std::uint64_t number_ = 0;
  std::string name_;
  std::vector<float> values_;
  // And the one before.
  std::uint64_t last_hash_ = 0;
  std::uint64_t last_number_ = 0;
  std::string last_name_;
  bool any_ = false;
};

}  // namespace octavo
