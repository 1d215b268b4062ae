// The vectors of a source sorted by the hashes of their names, which is the order of a graph's nodes. Uses temporary
// files if they do not fit the memory.
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
  // Reads all of `source`, unless its names are already in the order of this seed's hashes. Holds about `memory_bytes`;
  // the rest goes to a file at `spill`, which is already unlinked on return. A usage error if the memory is too small
  // for one buffer per extent. `use.stop` ends this call, and Next, with absl::CancelledError. `use` must outlive this
  // object.
  static absl::StatusOr<std::unique_ptr<SortedVectors>> Make(std::unique_ptr<VectorSource> source,
                                                             std::uint64_t hash_seed, std::uint64_t memory_bytes,
                                                             const std::filesystem::path& spill, SpillUse& use);
  ~SortedVectors();

  std::size_t columns() const { return source_->columns(); }
  // Returns the next vector, empty at the end. Vectors with equal hashes are ordered by name. A repeated name is an
  // input error that names both places.
  absl::StatusOr<std::optional<HashedVector>> Next();
  // The number of vectors in the source. Valid after the end.
  std::uint64_t count() const { return source_->count(); }

 private:
  // The key of a record in memory.
  struct Key {
    std::uint64_t hash = 0;
    std::size_t begin = 0;  // in held_
    std::size_t bytes = 0;
  };
  struct Reader;

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
  // Records in memory, concatenated, and the keys that order them.
  std::vector<std::byte> held_;
  std::vector<Key> keys_;
  std::size_t next_ = 0;  // index into keys_
  // Records in the file.
  std::unique_ptr<SpillFile> file_;
  std::vector<SpillExtent> extents_;
  std::size_t largest_record_ = 0;
  std::vector<std::unique_ptr<Reader>> readers_;  // a heap by key; the first one's record was returned last
  // The vector returned last.
  std::uint64_t hash_ = 0;
  std::uint64_t number_ = 0;
  std::string name_;
  std::vector<float> values_;
  // The vector returned before it.
  std::uint64_t last_hash_ = 0;
  std::uint64_t last_number_ = 0;
  std::string last_name_;
  bool any_ = false;
};

}  // namespace octavo
