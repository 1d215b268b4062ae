#include "import/name_table.h"

#include <algorithm>
#include <atomic>
#include <bitset>
#include <cstring>
#include <mutex>
#include <numeric>

#include "base/mutex.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr std::size_t kFirstArenaBytes = std::size_t{4} << 10;
constexpr std::size_t kMaxArenaBytes = std::size_t{1} << 20;
constexpr std::size_t kFirstSlots = 64;
// In a table larger than the cache, a lookup misses in the name's slot, its entry and, if the name is long, its text.
// Each is prefetched this many names ahead of the next stage; texts only once there are long ones.
constexpr std::size_t kLookAhead = 6;
// Names sorted by shard at once: few enough for a core's cache, and a few hundred for each shard.
constexpr std::size_t kPieceNames = std::size_t{16} << 10;

}  // namespace

// In separate cache lines, so that locks of neighbouring shards do not share one.
class alignas(64) NameTable::Shard {
 public:
  // Interns the names at `order`, positions in `names`. Without `wait`, does nothing and returns false if another
  // thread holds the shard.
  absl::StatusOr<bool> Intern(std::span<const Name> names, std::span<const std::uint32_t> order, std::uint32_t shard,
                              bool wait, std::span<std::uint32_t> ids) ABSL_LOCKS_EXCLUDED(mutex_) {
    if (order.empty()) return true;
    if (wait) {
      const MutexLock lock(mutex_);
      RETURN_IF_ERROR(InternLocked(names, order, shard, ids));
      return true;
    }
    if (!mutex_.TryLock()) return false;
    const MutexLock lock(mutex_, std::adopt_lock);
    RETURN_IF_ERROR(InternLocked(names, order, shard, ids));
    return true;
  }

  std::uint64_t bytes(std::uint64_t bytes_beside) const {
    // Relaxed: the two counts need not be consistent.
    const std::uint64_t names = names_.load(std::memory_order_relaxed);
    return std::max(names, kept_names_) * kBytesOfName + names * bytes_beside +
           text_bytes_.load(std::memory_order_relaxed);
  }

  void Reset() {
    const MutexLock lock(mutex_);
    kept_names_ = std::max<std::uint64_t>(kept_names_, entries_.size());
    entries_.clear();
    std::ranges::fill(slots_, 0);
    arenas_.clear();
    free_ = nullptr;
    room_ = 0;
    next_arena_bytes_ = kFirstArenaBytes / 2;
    names_.store(0, std::memory_order_relaxed);
    text_bytes_.store(0, std::memory_order_relaxed);
  }

  // Nothing writes after the last Intern, so these take no lock.
  std::size_t size() const ABSL_NO_THREAD_SAFETY_ANALYSIS { return entries_.size(); }
  std::string_view Text(std::size_t i) const ABSL_NO_THREAD_SAFETY_ANALYSIS { return entries_[i].Text(); }
  void FetchEntryAt(std::size_t i) const ABSL_NO_THREAD_SAFETY_ANALYSIS { __builtin_prefetch(&entries_[i]); }
  void FetchTextAt(std::size_t i) const ABSL_NO_THREAD_SAFETY_ANALYSIS { __builtin_prefetch(Text(i).data()); }
  std::uint64_t Hash(std::size_t i) const ABSL_NO_THREAD_SAFETY_ANALYSIS { return entries_[i].hash; }

 private:
  // Half a cache line. Short texts are stored inline (Neumann and Freitag, Umbra, CIDR 2020): enough for any 64-bit
  // number.
  struct alignas(32) Entry {
    std::uint64_t hash;
    std::uint32_t bytes;
    std::array<char, 20> text;  // for a longer name: a pointer to it

    bool is_short() const { return bytes <= text.size(); }
    const char* Far() const {
      const char* far = nullptr;
      std::memcpy(&far, text.data(), sizeof(far));
      return far;
    }
    std::string_view Text() const { return {is_short() ? text.data() : Far(), bytes}; }
    // Text() == other. Compares a short text eight bytes at a time: the vectors of memcmp reach beyond the entry, and
    // the next cache line would be a miss.
    bool Has(std::string_view other) const {
      if (bytes != other.size()) return false;
      if (!is_short() || bytes < sizeof(std::uint64_t)) return Text() == other;
      const auto same = [&](std::size_t at) {
        return std::memcmp(text.data() + at, other.data() + at, sizeof(std::uint64_t)) == 0;
      };
      const std::size_t last = bytes - sizeof(std::uint64_t);
      return same(0) && same(last) && (last <= sizeof(std::uint64_t) || same(sizeof(std::uint64_t)));
    }
  };
  static_assert(sizeof(Entry) == 32);

  // An entry and four slots: the most per name in a growing table.
  static constexpr std::uint64_t kBytesOfName = sizeof(Entry) + 4 * sizeof(std::uint32_t);

  absl::Status InternLocked(std::span<const Name> names, std::span<const std::uint32_t> order, std::uint32_t shard,
                            std::span<std::uint32_t> ids) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (entries_.size() + order.size() > kMaxNamesInShard) {
      return RuntimeError(
          fmt::format("more than {} different names; expected fewer", std::uint64_t{kMaxNamesInShard} * kShards));
    }
    while ((entries_.size() + order.size()) * 2 > slots_.size()) Grow();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto ahead = [&](std::size_t steps) -> const Name* {
        const std::size_t later = i + steps * kLookAhead;
        return later < order.size() ? &names[order[later]] : nullptr;
      };
      if (const Name* const name = ahead(3)) __builtin_prefetch(&slots_[FirstSlot(name->hash)]);
      if (const Name* const name = ahead(2)) __builtin_prefetch(LikelyEntry(*name));
      if (!arenas_.empty()) {
        if (const Name* const name = ahead(1)) __builtin_prefetch(LikelyText(*name));
      }
      ids[order[i]] = FindOrAdd(names[order[i]]) * kShards + shard;
    }
    names_.store(entries_.size(), std::memory_order_relaxed);
    return absl::OkStatus();
  }

  // A slot is 0 if free. Otherwise its low bits are the position in entries_ plus 1, its high bits a tag from the hash.
  // A lookup skips slots with other tags without reading their entries.
  static constexpr std::uint32_t kPlaceMask = kMaxNamesInShard;
  static_assert((kPlaceMask & (kPlaceMask + 1)) == 0);
  // Bits of the hash that determine neither shard nor slot.
  static std::uint32_t TagOf(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 26) & ~kPlaceMask; }

  std::size_t FirstSlot(std::uint64_t hash) const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return hash & (slots_.size() - 1);
  }

  // Return the address to prefetch, or null. GCC 12 would optimise away a function that prefetches and returns nothing.
  const Entry* LikelyEntry(const Name& name) const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    const std::size_t mask = slots_.size() - 1;
    const std::uint32_t tag = TagOf(name.hash);
    for (std::size_t slot = FirstSlot(name.hash); slots_[slot] != 0; slot = (slot + 1) & mask) {
      if ((slots_[slot] & ~kPlaceMask) == tag) return &entries_[(slots_[slot] & kPlaceMask) - 1];
    }
    return nullptr;
  }
  const char* LikelyText(const Name& name) const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    const Entry* const entry = LikelyEntry(name);
    return entry == nullptr ? nullptr : entry->Text().data();
  }

  std::uint32_t FindOrAdd(const Name& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const std::size_t mask = slots_.size() - 1;
    const std::uint32_t tag = TagOf(name.hash);
    std::size_t slot = FirstSlot(name.hash);
    for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
      if ((slots_[slot] & ~kPlaceMask) != tag) continue;
      const std::uint32_t place = (slots_[slot] & kPlaceMask) - 1;
      const Entry& entry = entries_[place];
      if (entry.hash == name.hash && entry.Has(name.text)) return place;
    }
    Add(name);
    slots_[slot] = tag | static_cast<std::uint32_t>(entries_.size());
    return static_cast<std::uint32_t>(entries_.size() - 1);
  }

  void Add(const Name& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Entry& entry = entries_.emplace_back(Entry{name.hash, static_cast<std::uint32_t>(name.text.size()), {}});
    if (entry.is_short()) {
      name.text.copy(entry.text.data(), entry.text.size());
    } else {
      const char* const far = Copy(name.text);
      std::memcpy(entry.text.data(), &far, sizeof(far));
    }
  }

  const char* Copy(std::string_view text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (text.size() > room_) {
      // Doubles, so that small inputs take little and large ones waste little.
      next_arena_bytes_ = std::min(next_arena_bytes_ * 2, kMaxArenaBytes);
      room_ = std::max(next_arena_bytes_, text.size());
      text_bytes_.fetch_add(room_, std::memory_order_relaxed);
      arenas_.push_back(std::make_unique_for_overwrite<char[]>(room_));
      free_ = arenas_.back().get();
    }
    char* const copy = free_;
    std::memcpy(copy, text.data(), text.size());
    free_ += text.size();
    room_ -= text.size();
    return copy;
  }

  void Grow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    slots_.assign(std::max(kFirstSlots, slots_.size() * 2), 0);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      std::size_t slot = FirstSlot(entries_[i].hash);
      while (slots_[slot] != 0) slot = (slot + 1) & mask;
      slots_[slot] = TagOf(entries_[i].hash) | static_cast<std::uint32_t>(i + 1);
    }
  }

  Mutex mutex_;
  std::vector<Entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::uint32_t> slots_ ABSL_GUARDED_BY(mutex_);  // their number is a power of two
  std::vector<std::unique_ptr<char[]>> arenas_ ABSL_GUARDED_BY(mutex_);
  char* free_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::size_t room_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t next_arena_bytes_ ABSL_GUARDED_BY(mutex_) = kFirstArenaBytes / 2;
  // For callers without the lock: the number of entries after the last Intern, and the bytes of all arenas.
  std::atomic<std::uint64_t> names_ = 0;
  std::atomic<std::uint64_t> text_bytes_ = 0;
  std::uint64_t kept_names_ = 0;  // the most before a Reset, during which nothing else runs
};

NameTable::NameTable() {
  for (auto& shard : shards_) shard = std::make_unique<Shard>();
}
NameTable::~NameTable() = default;

absl::Status NameTable::Intern(std::span<const Name> names, std::span<std::uint32_t> ids) {
  for (; names.size() > kPieceNames; names = names.subspan(kPieceNames), ids = ids.subspan(kPieceNames)) {
    RETURN_IF_ERROR(Intern(names.first(kPieceNames), ids.first(kPieceNames)));
  }
  // A counting sort by shard, so that each lock is taken once.
  std::array<std::uint32_t, kShards + 1> begin{};
  for (const Name& name : names) ++begin[ShardOf(name.hash) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::uint32_t> order(names.size());
  auto next = begin;
  for (std::uint32_t i = 0; i < names.size(); ++i) order[next[ShardOf(names[i].hash)]++] = i;
  // Callers start at different shards and first skip those that another thread holds. A caller that waited would follow
  // that thread from shard to shard.
  const std::uint32_t first = names.empty() ? 0 : static_cast<std::uint32_t>(names[0].hash % kShards);
  std::bitset<kShards> done;
  for (const bool wait : {false, true}) {
    for (std::uint32_t i = 0; i < kShards; ++i) {
      const std::uint32_t shard = (first + i) % kShards;
      if (done[shard]) continue;
      const auto mine = std::span(order).subspan(begin[shard], begin[shard + 1] - begin[shard]);
      ASSIGN_OR_RETURN(done[shard], shards_[shard]->Intern(names, mine, shard, wait, ids));
    }
  }
  return absl::OkStatus();
}

std::uint64_t NameTable::bytes(std::uint64_t bytes_beside) const {
  std::uint64_t bytes = 0;
  for (const auto& shard : shards_) bytes += shard->bytes(bytes_beside);
  return bytes;
}

void NameTable::Reset() {
  for (auto& shard : shards_) shard->Reset();
}

void NameTable::Clear() {
  for (auto& shard : shards_) shard = std::make_unique<Shard>();
}

std::uint64_t NameTable::size() const {
  std::uint64_t size = 0;
  for (const auto& shard : shards_) size += shard->size();
  return size;
}

std::uint32_t NameTable::id_limit() const {
  std::size_t most = 0;
  for (const auto& shard : shards_) most = std::max(most, shard->size());
  return static_cast<std::uint32_t>(most * kShards);
}

std::string_view NameTable::Text(std::uint32_t id) const { return shards_[id % kShards]->Text(id / kShards); }
std::uint64_t NameTable::Hash(std::uint32_t id) const { return shards_[id % kShards]->Hash(id / kShards); }
void NameTable::FetchEntry(std::uint32_t id) const { shards_[id % kShards]->FetchEntryAt(id / kShards); }
void NameTable::FetchText(std::uint32_t id) const { shards_[id % kShards]->FetchTextAt(id / kShards); }
bool NameTable::Contains(std::uint32_t id) const { return id / kShards < shards_[id % kShards]->size(); }

}  // namespace octavo
