// The distinct names of the input, each with a provisional id that depends on the order of arrival.
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

// A hash table in kShards parts, each with its own lock. Names are compared byte for byte, so two names with the same
// hash stay distinct. Takes about 40 bytes per name, plus the text of names longer than 20 bytes.
class NameTable {
 public:
  struct Name {
    std::string_view text;
    std::uint64_t hash = 0;  // HashName(text, 0)
  };

  NameTable();
  ~NameTable();

  // Sets ids[i] to the id of names[i]; copies names that are new. Any thread. The ids depend on the order of the calls.
  // REQUIRES: ids.size() == names.size()
  absl::Status Intern(std::span<const Name> names, std::span<std::uint32_t> ids);

  // The memory of the names, counted as if every table were about to grow, plus `bytes_beside` for each. Any thread;
  // may miss additions of a concurrent Intern.
  std::uint64_t bytes(std::uint64_t bytes_beside = 0) const;

  // Removes all names, but keeps their memory for as many others: fresh pages take time. bytes() counts it.
  // REQUIRES: no concurrent call
  void Reset();
  // Removes all names and frees their memory. REQUIRES: no concurrent call
  void Clear();

  // For use after the last Intern, from any thread:

  std::uint64_t size() const;
  // Every id is below this; not every number below this is an id.
  std::uint32_t id_limit() const;
  // REQUIRES: Contains(id). Text is valid until the next Intern or Clear.
  std::string_view Text(std::uint32_t id) const;
  std::uint64_t Hash(std::uint32_t id) const;
  bool Contains(std::uint32_t id) const;
  // Two-stage prefetch before Text: FetchEntry, later FetchText.
  void FetchEntry(std::uint32_t id) const;
  void FetchText(std::uint32_t id) const;

  // An id is (position in the shard) * kShards + shard.
  static constexpr std::uint32_t kShards = 64;
  // The high bits of the hash, so that the shards are in ascending order of the hashes.
  static constexpr std::uint32_t ShardOf(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 58); }
  static_assert(kShards == 1U << (64 - 58));
  static constexpr std::uint32_t kMaxNamesInShard = (std::uint32_t{1} << 26) - 1;

 private:
  class Shard;
  std::array<std::unique_ptr<Shard>, kShards> shards_;
};

}  // namespace octavo
