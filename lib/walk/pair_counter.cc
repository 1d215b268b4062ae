#include "walk/pair_counter.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <utility>

#include "base/parallel.h"
#include "base/status.h"
#include "hwy/contrib/sort/vqsort.h"

namespace octavo {
namespace {

// Keys in one chunk of a writer: 8 KiB, so that the chunks of a few hundred buckets fit a core's cache.
constexpr std::size_t kChunkKeys = 1024;
constexpr std::size_t kChunksPerSlab = 128;
// More buckets would not sort faster, but leave more chunks partly filled.
constexpr std::uint64_t kMaxBuckets = 256;
// Padding after the last key. If few keys differ, Highway 1.0.3's sort on NEON reads the 16 bytes after the last key
// and writes them back unchanged (MaybePartitionTwoValue; google/highway issue 2281 is a crash caused by it).
constexpr std::size_t kKeysBehind = 2;
// Whole numbers up to this are exact as float, so that weights add up to the same sum in any order.
constexpr std::uint32_t kMaxCount = std::uint32_t{1} << 24;
constexpr std::uint64_t kCountBytes = sizeof(std::uint64_t) + sizeof(std::uint32_t);
// Peak bytes per edge while it is made and put into the order of the cells.
constexpr std::uint64_t kSpillBytesOfRecord = 40;
// Bytes per edge, including the part that has been distributed but not freed yet.
constexpr std::uint64_t kHeldBytesOfRecord = 24;

// Distinct pairs and their counts, in ascending order. A count above kMaxCount continues in the next entry.
struct Counts {
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> counts;

  void Reserve(std::size_t size) {
    keys.reserve(size);
    counts.reserve(size);
  }
  void Add(std::uint64_t key, std::uint64_t count) {
    while (count > 0) {
      const auto some = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, kMaxCount));
      keys.push_back(key);
      counts.push_back(some);
      count -= some;
    }
  }
};

// Returns how many entries of `counts`, starting at `at`, have the key of entry `at`, and adds their counts to `sum`.
std::size_t SameKey(const Counts& counts, std::size_t at, std::uint64_t& sum) {
  std::size_t end = at;
  for (; end < counts.keys.size() && counts.keys[end] == counts.keys[at]; ++end) sum += counts.counts[end];
  return end - at;
}

std::size_t RunLength(std::span<const std::uint64_t> keys, std::size_t at) {
  std::size_t end = at + 1;
  while (end < keys.size() && keys[end] == keys[at]) ++end;
  return end - at;
}

// Calls take(key, count) for each distinct key of both, in ascending order.
template <typename Take>
void ForEachSum(const Counts& before, std::span<const std::uint64_t> keys, const Take& take) {
  std::size_t i = 0;
  for (std::size_t k = 0; k < keys.size();) {
    while (i < before.keys.size() && before.keys[i] < keys[k]) {
      std::uint64_t count = 0;
      const std::uint64_t key = before.keys[i];
      i += SameKey(before, i, count);
      take(key, count);
    }
    const std::size_t length = RunLength(keys, k);
    std::uint64_t count = length;
    if (i < before.keys.size() && before.keys[i] == keys[k]) i += SameKey(before, i, count);
    take(keys[k], count);
    k += length;
  }
  while (i < before.keys.size()) {
    std::uint64_t count = 0;
    const std::uint64_t key = before.keys[i];
    i += SameKey(before, i, count);
    take(key, count);
  }
}

// Merges `before` with the counts of sorted keys.
Counts Join(const Counts& before, std::span<const std::uint64_t> keys) {
  std::size_t size = 0;
  ForEachSum(before, keys, [&](std::uint64_t, std::uint64_t count) { size += (count + kMaxCount - 1) / kMaxCount; });
  Counts joined;
  joined.Reserve(size);
  ForEachSum(before, keys, [&](std::uint64_t key, std::uint64_t count) { joined.Add(key, count); });
  return joined;
}

}  // namespace

struct PairCounter::Bucket {
  std::vector<std::uint64_t*> chunks;  // of kChunkKeys, in the slabs; guarded by mutex_ while there are writers
  Counts counts;
  std::uint64_t self_loops = 0;  // entries of counts without an opposite direction
};

PairCounter::PairCounter(PairCounterOptions options, SpillUse& use) : options_(std::move(options)), use_(use) {
  constexpr std::uint64_t kChunkBytes = kChunkKeys * sizeof(std::uint64_t);
  chunk_limit_ = options_.key_bytes / kChunkBytes;
  // Partly filled chunks take at most a quarter.
  const std::uint64_t most = std::clamp<std::uint64_t>(chunk_limit_ / 4 / options_.writers, 1, kMaxBuckets);
  bucket_bits_ = static_cast<unsigned>(std::bit_width(most)) - 1;
  buckets_.resize(std::size_t{1} << bucket_bits_);
  for (std::size_t i = 0; i < options_.writers; ++i) writers_.push_back(Writer(*this, buckets_.size()));
}

PairCounter::~PairCounter() = default;

void PairCounter::Writer::Extend(std::size_t bucket) {
  std::uint64_t* const chunk = counter_->TakeChunk(bucket);
  open_[bucket] = {.next = chunk, .end = chunk + kChunkKeys};
}

std::uint64_t* PairCounter::TakeChunk(std::size_t bucket) {
  const MutexLock lock(mutex_);
  if (chunks_taken_ == slabs_.size() * kChunksPerSlab) {
    slabs_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(kChunksPerSlab * kChunkKeys));
  }
  std::uint64_t* const chunk =
      slabs_[chunks_taken_ / kChunksPerSlab].get() + chunks_taken_ % kChunksPerSlab * kChunkKeys;
  ++chunks_taken_;
  buckets_[bucket].chunks.push_back(chunk);
  return chunk;
}

std::uint64_t PairCounter::Room() const {
  const MutexLock lock(mutex_);
  // Each writer may start one chunk of each bucket that stays nearly empty.
  const std::uint64_t used = chunks_taken_ + writers_.size() * buckets_.size();
  return used < chunk_limit_ ? (chunk_limit_ - used) * kChunkKeys : 0;
}

std::uint64_t PairCounter::WholeRoom() const {
  const std::uint64_t used = writers_.size() * buckets_.size();
  return used < chunk_limit_ ? (chunk_limit_ - used) * kChunkKeys : 0;
}

std::uint64_t PairCounter::pairs() const {
  std::uint64_t pairs = 0;
  for (const Writer& writer : writers_) pairs += writer.pairs_;
  return pairs;
}

// Returns the sorted keys of a bucket.
std::vector<std::uint64_t> PairCounter::TakeKeys(std::size_t bucket) {
  const std::vector<std::uint64_t*> chunks = std::exchange(buckets_[bucket].chunks, {});
  std::vector<std::uint64_t> keys;
  keys.reserve(chunks.size() * kChunkKeys + kKeysBehind);
  for (std::uint64_t* const chunk : chunks) {
    std::uint64_t* end = chunk + kChunkKeys;
    for (const Writer& writer : writers_) {
      if (writer.open_[bucket].end == end) end = writer.open_[bucket].next;
    }
    keys.insert(keys.end(), chunk, end);
  }
  for (Writer& writer : writers_) writer.open_[bucket] = {};
  hwy::Sorter()(keys.data(), keys.size(), hwy::SortAscending());
  return keys;
}

absl::Status PairCounter::Compact() {
  ParallelEach(0, buckets_.size(), [&](std::size_t i) {
    if (buckets_[i].chunks.empty()) return;
    Bucket& bucket = buckets_[i];
    bucket.counts = Join(bucket.counts, TakeKeys(i));
    bucket.self_loops = static_cast<std::uint64_t>(std::ranges::count_if(
        bucket.counts.keys, [](std::uint64_t key) { return key >> 32 == static_cast<std::uint32_t>(key); }));
  });
  {
    const MutexLock lock(mutex_);
    chunks_taken_ = 0;
  }
  return CountBytes() > options_.count_bytes ? Spill() : absl::OkStatus();
}

std::uint64_t PairCounter::CountBytes() const {
  std::uint64_t bytes = 0;
  for (const Bucket& bucket : buckets_) bytes += bucket.counts.keys.size() * kCountBytes;
  return bytes;
}

// The number of edges that the counts will become.
std::uint64_t PairCounter::Records() const {
  std::uint64_t records = 0;
  for (const Bucket& bucket : buckets_) {
    const std::uint64_t entries = bucket.counts.keys.size();
    records += options_.both_directions ? 2 * entries - bucket.self_loops : entries;
  }
  return records;
}

std::vector<EdgeRecord> PairCounter::TakeRecords(Bucket& bucket) const {
  const Counts counts = std::exchange(bucket.counts, {});
  bucket.self_loops = 0;
  std::vector<EdgeRecord> records;
  records.reserve((options_.both_directions ? 2 : 1) * counts.keys.size());
  for (std::size_t i = 0; i < counts.keys.size(); ++i) {
    EdgeRecord record;
    record.head = static_cast<std::uint32_t>(counts.keys[i] >> 32);
    record.tail = static_cast<std::uint32_t>(counts.keys[i]);
    record.weight = static_cast<float>(counts.counts[i]);
    if (options_.both_directions && record.head == record.tail) record.weight *= 2;
    records.push_back(record);
    if (!options_.both_directions || record.head == record.tail) continue;
    std::swap(record.head, record.tail);
    records.push_back(record);
  }
  return records;
}

EdgeChunks PairCounter::TakeChunks(std::size_t first, std::size_t end) {
  EdgeChunks chunks(end - first);
  ParallelEach(0, chunks.size(), [&](std::size_t i) { chunks[i] = TakeRecords(buckets_[first + i]); });
  return chunks;
}

// Frees the memory for keys. REQUIRES: just after Compact
void PairCounter::ReleaseKeys() {
  const MutexLock lock(mutex_);
  slabs_.clear();
}

// Writes the counts to the file, in as many batches as the memory for keys, which is empty, requires.
absl::Status PairCounter::Spill() {
  ReleaseKeys();
  if (!spill_) {
    ASSIGN_OR_RETURN(std::unique_ptr<SpillFile> file, SpillFile::Create(options_.spill / kFileName, use_));
    spill_.emplace(std::move(file), options_.partitions, options_.stop);
  }
  const std::uint64_t most = options_.key_bytes / kSpillBytesOfRecord;
  for (std::size_t first = 0; first < buckets_.size();) {
    std::size_t end = first;
    for (std::uint64_t records = 0; end < buckets_.size(); ++end) {
      records += 2 * buckets_[end].counts.keys.size();
      if (end > first && records > most) break;
    }
    EdgeChunks chunks = TakeChunks(first, end);
    RETURN_IF_ERROR(spill_->Append(chunks));
    first = end;
  }
  return absl::OkStatus();
}

absl::StatusOr<WrittenEdges> PairCounter::Write(
    const GraphPaths& paths, const CellsHeader& layout,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& progress) {
  RETURN_IF_ERROR(Compact());
  ReleaseKeys();
  EdgeWriterOptions write = {
      .merge_duplicates = true, .work_bytes = options_.write_bytes, .stop = options_.stop, .progress = nullptr};
  std::uint64_t total = Records();
  const bool held = !spill_ && CountBytes() + total * kHeldBytesOfRecord + IndexBytes(total, layout.partition_count) <=
                                   options_.write_bytes;
  if (!held) {
    RETURN_IF_ERROR(Spill());
    RETURN_IF_ERROR(spill_->FinishWriting());
    total = spill_->edges();
    RETURN_IF_ERROR(CheckMergeMemory(options_.write_bytes, total, layout.partition_count));
  }
  if (progress) write.progress = [&](std::uint64_t done) { progress(done, total); };
  if (!held) return WriteSpilled(paths, *spill_, layout, write);
  SortedEdges edges(TakeChunks(0, buckets_.size()), options_.partitions);
  write.work_bytes -= edges.All().size_bytes() + IndexBytes(total, layout.partition_count);
  return WriteEdges(paths, edges, layout, write);
}

}  // namespace octavo
