// The names of the input, each once, with a provisional id in the order in which they happened to come.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

namespace octavo {

// A hash table in kShards parts, each under its own lock. Names are compared byte for byte, so that two with the same
// hash stay two. Costs about 40 bytes a name, and the bytes of those that have more than 20.
class NameTable {
 public:
  struct Name {
    std::string_view text;
    std::uint64_t hash = 0;  // HashName(text, 0)
  };

  NameTable();
  ~NameTable();

  // Sets ids[i] to the id of names[i]; a name seen for the first time is copied. Any thread. Which ids names get
  // depends on the order of the calls. REQUIRES: ids.size() == names.size()
  absl::Status Intern(std::span<const Name> names, std::span<std::uint32_t> ids);

  // What the names hold, counted as if every table were about to grow, and `bytes_beside` for each. Any thread; what an
  // Intern adds at the time may be missing.
  std::uint64_t bytes(std::uint64_t bytes_beside = 0) const;

  // Forgets all names and gives their memory back. REQUIRES: no other call at the time
  void Clear();

  // The functions below are for the time after the last Intern, from any thread.

  std::uint64_t size() const;
  // Every id is below this; not every number below this is an id.
  std::uint32_t id_limit() const;
  // REQUIRES: Contains(id). Text is valid until the next Intern or Clear.
  std::string_view Text(std::uint32_t id) const;
  std::uint64_t Hash(std::uint32_t id) const;
  bool Contains(std::uint32_t id) const;
  // For a Text that comes soon: first the one, some work later the other.
  void FetchEntry(std::uint32_t id) const;
  void FetchText(std::uint32_t id) const;

  // An id is (place in the shard) * kShards + shard.
  static constexpr std::uint32_t kShards = 64;
  // By the high bits of the hash: what is in a shard comes before what is in the next, by hash.
  static constexpr std::uint32_t ShardOf(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 58); }
  static_assert(kShards == 1U << (64 - 58));
  static constexpr std::uint32_t kMaxNamesInShard = (std::uint32_t{1} << 26) - 1;

 private:
  class Shard;
  std::array<std::unique_ptr<Shard>, kShards> shards_;
};

}  // namespace octavo
