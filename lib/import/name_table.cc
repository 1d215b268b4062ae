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

// The shard is in the high bits of the hash, the place in its table in the low ones.
std::uint32_t ShardOf(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 58); }
static_assert(NameTable::kShards == 1U << (64 - 58));

constexpr std::size_t kFirstArenaBytes = std::size_t{4} << 10;
constexpr std::size_t kMaxArenaBytes = std::size_t{1} << 20;
constexpr std::size_t kFirstSlots = 64;
// A table larger than the cache misses three times a name: in its slot, its entry and its text. Each is fetched this
// many names ahead of the next.
constexpr std::size_t kLookAhead = 6;
// Names that are sorted by shard at once: they stay in a core's cache, and each shard gets a few hundred.
constexpr std::size_t kPieceNames = std::size_t{16} << 10;

}  // namespace

// A cache line of its own, so that neighbours' locks do not share one.
class alignas(64) NameTable::Shard {
 public:
  // Interns the names at `order`, positions in `names`. Without `wait` it does nothing where another thread is here,
  // and returns false.
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
    // Relaxed: two counts that need not agree.
    return names_.load(std::memory_order_relaxed) * (kBytesOfName + bytes_beside) +
           text_bytes_.load(std::memory_order_relaxed);
  }

  // After the last Intern nobody writes any more, so these take no lock.
  std::size_t size() const ABSL_NO_THREAD_SAFETY_ANALYSIS { return entries_.size(); }
  std::string_view Text(std::size_t i) const ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return {entries_[i].text, entries_[i].bytes};
  }
  void FetchEntryAt(std::size_t i) const ABSL_NO_THREAD_SAFETY_ANALYSIS { __builtin_prefetch(&entries_[i]); }
  std::uint64_t Hash(std::size_t i) const ABSL_NO_THREAD_SAFETY_ANALYSIS { return entries_[i].hash; }

 private:
  struct Entry {
    std::uint64_t hash;
    const char* text;
    std::uint32_t bytes;
  };

  // Of its entry and of four slots: a table that grows leaves at most so many for each name.
  static constexpr std::uint64_t kBytesOfName = sizeof(Entry) + 4 * sizeof(std::uint32_t);

  absl::Status InternLocked(std::span<const Name> names, std::span<const std::uint32_t> order, std::uint32_t shard,
                            std::span<std::uint32_t> ids) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (entries_.size() + order.size() > kMaxNamesInShard) {
      return RuntimeError(
          fmt::format("more than {} different names; expected fewer", std::uint64_t{kMaxNamesInShard} * kShards));
    }
    while ((entries_.size() + order.size()) * 2 > slots_.size()) Grow();
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i + 3 * kLookAhead < order.size()) __builtin_prefetch(&Slot(names[order[i + 3 * kLookAhead]]));
      if (i + 2 * kLookAhead < order.size()) FetchEntry(names[order[i + 2 * kLookAhead]]);
      if (i + kLookAhead < order.size()) FetchText(names[order[i + kLookAhead]]);
      ids[order[i]] = FindOrAdd(names[order[i]]) * kShards + shard;
    }
    names_.store(entries_.size(), std::memory_order_relaxed);
    return absl::OkStatus();
  }

  // Where a name is looked for first; most are found there.
  const std::uint32_t& Slot(const Name& name) const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return slots_[name.hash & (slots_.size() - 1)];
  }
  void FetchEntry(const Name& name) const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    if (const std::uint32_t slot = Slot(name); slot != 0) __builtin_prefetch(&entries_[slot - 1]);
  }
  void FetchText(const Name& name) const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    if (const std::uint32_t slot = Slot(name); slot != 0) __builtin_prefetch(entries_[slot - 1].text);
  }

  std::uint32_t FindOrAdd(const Name& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = name.hash & mask;
    for (; slots_[place] != 0; place = (place + 1) & mask) {
      const Entry& entry = entries_[slots_[place] - 1];
      if (entry.hash == name.hash && std::string_view(entry.text, entry.bytes) == name.text) return slots_[place] - 1;
    }
    entries_.push_back({name.hash, Copy(name.text), static_cast<std::uint32_t>(name.text.size())});
    slots_[place] = static_cast<std::uint32_t>(entries_.size());
    return slots_[place] - 1;
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
      std::size_t place = entries_[i].hash & mask;
      while (slots_[place] != 0) place = (place + 1) & mask;
      slots_[place] = static_cast<std::uint32_t>(i + 1);
    }
  }

  Mutex mutex_;
  std::vector<Entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::uint32_t> slots_
      ABSL_GUARDED_BY(mutex_);  // place in entries_ plus 1; 0 is free; size a power of two
  std::vector<std::unique_ptr<char[]>> arenas_ ABSL_GUARDED_BY(mutex_);
  char* free_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::size_t room_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t next_arena_bytes_ ABSL_GUARDED_BY(mutex_) = kFirstArenaBytes / 2;
  // For whoever asks without the lock: the entries behind the last Intern, the bytes of all arenas.
  std::atomic<std::uint64_t> names_ = 0;
  std::atomic<std::uint64_t> text_bytes_ = 0;
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
  // Callers begin at different shards and come back later to those that another one is in: who waited would follow that
  // one from shard to shard.
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
void NameTable::FetchText(std::uint32_t id) const { __builtin_prefetch(Text(id).data()); }
bool NameTable::Contains(std::uint32_t id) const { return id / kShards < shards_[id % kShards]->size(); }

}  // namespace octavo
