// One table of a run, embeddings or optimizer state, in memory: rows addressed by node id in one flat reserved address
// range, into which partitions are loaded and from which they are evicted.
//
// A table has two slots, two .npy files of the same shape. For each partition one slot holds the committed rows; it is
// never written. What is mapped where, and when:
//
//   Open            Reserves addresses for all rows as PROT_NONE: accessing a row that is not loaded faults.
//   LoadPartition   Puts private memory with the newest rows at the partition's place, in one of three ways
//                   (tables/partition_loading.h): maps the slot's file there copy-on-write without reading it (mapped),
//                   or with every page copied at once (populated), or reads the file into huge pages (direct). In all
//                   three, no store reaches the file and the kernel never writes a half-trained page back.
//   WritePartition  Writes the changed rows to the slot that is not committed. The first write to a slot is of all
//                   rows, so a mapped partition's pages all become private copies then. The file stays mapped until the
//                   eviction, but nothing is read from it any more: no file is ever written while clean pages of it are
//                   in use.
//   MarkCommitted   Swaps the slots, once a manifest that says so is durable.
//   EvictPartition  Writes what changed and makes the place PROT_NONE again.
//
// Memory holds the loaded partitions. Of a mapped partition it holds the touched pages and, until the first write, the
// clean page of each private copy in the page cache.
//
// Threads: a thread that uses rows which others write concurrently takes LockFor(row); this is so in the schedule
// `async`. Where disjoint rows or a barrier already exclude other threads, the Unlocked methods take no lock: it would
// only move its cache line between cores. Loading, evicting, writing and committing are for one thread at a time, and
// not while another thread uses a row of that partition.
//
// A sketch of these classes in ruvector-gnn had weaknesses to avoid; tests/tables/mmap_manager_test.cc names each one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "format/npy_header.h"
#include "io/file.h"
#include "io/mapped_range.h"
#include "tables/atomic_bitmap.h"
#include "tables/bfloat16.h"
#include "tables/mapped_checks.h"
#include "tables/partition_loading.h"
#include "tables/stripe_locks.h"

namespace octavo {

// Starts to prefetch `bytes` bytes at `data` into the processor's cache.
inline void PrefetchBytes(const std::byte* data, std::size_t bytes) {
  constexpr std::size_t kLineBytes = 64;
  for (std::size_t i = 0; i < bytes; i += kLineBytes) __builtin_prefetch(data + i);
  // To GCC a function that only prefetches has no effect, and it removes calls of it. This is an effect, without code.
  asm volatile("");
}

// The same for `count` floats.
inline void PrefetchFloats(const float* data, std::size_t count) {
  PrefetchBytes(reinterpret_cast<const std::byte*>(data), count * sizeof(float));
}

struct TableLayout {
  std::array<std::filesystem::path, 2> slots;
  NpyShape shape;                    // [rows, columns] of floats or bf16 words; columns may be 0
  std::uint64_t partition_rows = 0;  // a multiple of kPartitionRowQuantum, whose bytes are whole pages
  // False: the table has no locks, as those of another table guard its rows (optimizer state: those of the embeddings).
  bool own_locks = true;
  // Of a run in several folders: the partitions whose committed rows are in these files; empty: all. The others are
  // holes, and no space is reserved for them.
  std::vector<bool> here = {};
};

class MmapManager {
 public:
  // Opens a table for training. `committed_slots` has the committed slot, 0 or 1, of each partition. A slot that holds
  // committed rows must exist and have the right shape. A slot without committed rows is created, with its space
  // reserved, if it is missing or incomplete. Nothing is loaded yet.
  static absl::StatusOr<std::unique_ptr<MmapManager>> Open(TableLayout layout,
                                                           std::vector<std::uint8_t> committed_slots);
  ~MmapManager();
  MmapManager(const MmapManager&) = delete;
  MmapManager& operator=(const MmapManager&) = delete;

  std::uint64_t rows() const { return layout_.shape.rows; }
  std::size_t columns() const { return layout_.shape.columns; }
  NpyElement element() const { return layout_.shape.element; }
  std::uint32_t partition_count() const { return static_cast<std::uint32_t>(partitions_.size()); }
  PartitionId PartitionOf(NodeId node) const { return static_cast<PartitionId>(Value(node) / layout_.partition_rows); }
  // The first row after those of the partition.
  NodeId EndOf(PartitionId partition) const { return static_cast<NodeId>(RowsOf(partition).end); }

  // ---- Residency. A partition past the end is an error.

  // Loads the newest rows of the partition. With `expected_checksum`, the XXH3-64 of the rows is compared: a difference
  // is a corrupt-file error and the partition is not loaded. kMapped returns at once; another thread then reads and
  // compares the rows, and CheckLoaded and the next WritePartition return the error. Loading a loaded partition does
  // nothing. REQUIRES: CanMapTables(), or loading is kDirect
  absl::Status LoadPartition(PartitionId partition, std::optional<std::uint64_t> expected_checksum = std::nullopt,
                             Loading loading = Loading::kDirect);
  // The first error so far of comparing mapped rows. Any thread.
  absl::Status CheckLoaded() const { return checks_.Check(); }
  // Writes the partition if it changed, and frees its memory. Evicting a partition that is not loaded does nothing.
  // After an error it is still loaded and changed.
  absl::Status EvictPartition(PartitionId partition);
  bool IsResident(PartitionId partition) const { return partitions_[Value(partition)].resident; }
  // Bytes of rows in resident partitions.
  std::uint64_t resident_bytes() const;
  // Bytes loaded from and written to the files since Open. Mapped rows count when they have been compared.
  std::uint64_t bytes_read() const { return bytes_read_ + checks_.bytes_read(); }
  std::uint64_t bytes_written() const { return bytes_written_; }

  // ---- Rows. A row past the end, or of a partition that is not loaded, is an error; nothing is touched then.

  // Starts to prefetch the row of `node` into the processor's cache. A hint: any node is allowed.
  void PrefetchRow(NodeId node) const { PrefetchBytes(Row(node), row_bytes_); }

  // Copies the row of `node` into `out` as floats, under its lock; out.size() must be columns(). REQUIRES: own_locks
  absl::Status ReadRow(NodeId node, std::span<float> out) const;
  // The same without the lock. REQUIRES: no thread writes the row meanwhile
  absl::Status ReadRowUnlocked(NodeId node, std::span<float> out) const;

  // The row of `node` in the mapping, [columns] floats of a float32 table, or words of a bf16 one. REQUIRES: element()
  // is kFloat32 or kBfloat16, CheckRow(node) is ok, and no thread writes the row meanwhile
  std::span<const float> FloatsUnlocked(NodeId node) const {
    return {reinterpret_cast<const float*>(Row(node)), columns()};
  }
  std::span<const std::uint16_t> WordsUnlocked(NodeId node) const {
    return {reinterpret_cast<const std::uint16_t*>(Row(node)), columns()};
  }

  // Returns the lock of the stripe that `node` falls in. Two nodes may share a stripe, so hold at most one at a time.
  // REQUIRES: own_locks
  StripeMutex& LockFor(NodeId node) const ABSL_LOCK_RETURNED(locks_.LockFor(node)) { return locks_.LockFor(node); }

  // OK if the row of `node` is loaded and may be accessed.
  absl::Status CheckRow(NodeId node) const;

  // Calls update(row) with the row of `node` for writing, [columns] floats, and marks it changed. If the table is bf16,
  // the floats are a copy in `wide`, [columns] or more; the result of `update` is rounded stochastically, with draws
  // that depend on `rounding` and node (tables/bfloat16.h). Float32 tables ignore `rounding` and `wide`. REQUIRES:
  // CheckRow(node) is ok and LockFor(node) is held.
  template <typename Update>
  void UpdateRow(NodeId node, const RowRounding& rounding, std::span<float> wide, const Update& update)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(LockFor(node)) {
    UpdateRowUnlocked(node, rounding, wide, update);
  }
  // The same without the lock. REQUIRES: CheckRow(node) is ok and no other thread reads or writes the row meanwhile
  template <typename Update>
  void UpdateRowUnlocked(NodeId node, const RowRounding& rounding, std::span<float> wide, const Update& update) {
    if (element() == NpyElement::kFloat32) {
      update(TouchFloats(node));
      return;
    }
    const std::span<std::uint16_t> words = TouchWords(node);
    wide = wide.first(words.size());
    Widen(words, wide);
    update(wide);
    RoundStochastically(rounding, node, wide, words);
  }

  // Returns the row of `node` for writing, [columns] floats inside the mapping, and marks it changed: of optimizer
  // state, for who may write the row with the same id in the embeddings, under its lock there or alone. REQUIRES:
  // element() is kFloat32 and CheckRow(node) is ok
  std::span<float> MutableStateRow(NodeId node) { return TouchFloats(node); }

  // ---- Commit. checkpoint/run_tables.h defines the order of these steps.

  // Whether rows of the partition changed since they were last written.
  bool IsChanged(PartitionId partition) const;
  // Writes those rows of the partition that the uncommitted slot lacks (dirty 64-row groups only) and returns the
  // XXH3-64 of all rows of the partition. First waits until all mapped rows of the table are compared, so that nothing
  // builds on rows that were not verified. After an error the whole partition counts as changed. REQUIRES: the
  // partition is resident
  absl::StatusOr<std::uint64_t> WritePartition(PartitionId partition);
  // Counts every row of the partition as changed, so that the next commit moves it to its other slot.
  void MarkChanged(PartitionId partition);
  // Syncs each file that was written since its last sync. After a failed sync all later ones fail too: the kernel would
  // report success although the data is lost.
  absl::Status Sync();
  // The slot that holds the newest written rows of the partition, and the committed one.
  std::uint8_t NewestSlot(PartitionId partition) const { return partitions_[Value(partition)].newest; }
  std::uint8_t CommittedSlot(PartitionId partition) const { return partitions_[Value(partition)].committed; }
  // Makes the newest slot of every partition the committed one. Call it when a manifest that says so is durable.
  void MarkCommitted();

  // ---- Rows that move to another process, which trains the same run.

  // Reads or writes bytes of the partition's rows, from byte `offset` of them on: in the newest slot, or in that which
  // is not committed. Any thread, beside all other functions but those of the same partition. REQUIRES: the partition
  // is not resident
  absl::Status ReadStored(PartitionId partition, std::uint64_t offset, std::span<std::byte> bytes) const;
  absl::Status WriteStored(PartitionId partition, std::uint64_t offset, std::span<const std::byte> bytes);
  // The newest rows of the partition were written by another process, to its slot `slot`; if `here`, these files have
  // them too. REQUIRES: the partition is not resident
  void Follow(PartitionId partition, std::uint8_t slot, bool here);
  // Gives the disk space of a partition back that is in another folder. REQUIRES: the partition is not resident
  void FreeStored(PartitionId partition);
  std::uint64_t BytesOfPartition(PartitionId partition) const { return BytesOf(RowsOf(partition)).size(); }

 private:
  struct Partition {
    std::uint8_t committed = 0;
    std::uint8_t newest = 0;
    bool resident = false;
    bool has_clean_pages = false;  // of the newest slot's file, which is mapped
    MappedRange range;             // registered while a file is mapped
  };
  struct RowRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  MmapManager(TableLayout layout, std::vector<std::uint8_t> committed_slots, std::array<File, 2> files,
              std::byte* reserved, std::uint64_t reserved_bytes);

  absl::Status CheckPartition(PartitionId partition) const;
  std::byte* Row(NodeId node) const { return rows_ + Value(node) * row_bytes_; }
  // Tests first: the marks of a small table share one cache line, and a write would take it from the other cores. No
  // mark is lost, as the partition of a row in use is not drained.
  void Touch(NodeId node) {
    const std::uint64_t group = Value(node) / StripeLocks::kGroupRows;
    if (!touched_.Test(group)) touched_.Set(group);
  }
  // The row for writing, marked as changed.
  std::span<float> TouchFloats(NodeId node) {
    Touch(node);
    return {reinterpret_cast<float*>(Row(node)), layout_.shape.columns};
  }
  std::span<std::uint16_t> TouchWords(NodeId node) {
    Touch(node);
    return {reinterpret_cast<std::uint16_t*>(Row(node)), layout_.shape.columns};
  }
  RowRange RowsOf(PartitionId partition) const;
  std::span<std::byte> BytesOf(RowRange rows) const;
  // The 64-row groups that cover the rows.
  static RowRange GroupsOf(RowRange rows);
  PartitionPlace PlaceOf(PartitionId partition) const;
  // Loads the partition's newest rows to its place and compares them, or starts to compare them.
  absl::Status BringIn(PartitionId partition, std::optional<std::uint64_t> expected_checksum, Loading loading);
  void Release(PartitionId partition);
  absl::Status WriteStaleGroups(PartitionId partition, std::uint8_t slot);

  // Constant after construction.
  const TableLayout layout_;
  const std::uint64_t row_bytes_;
  std::byte* const reserved_;  // nullptr when columns is 0
  const std::uint64_t reserved_bytes_;
  std::byte* const rows_;  // of row 0: inside the reserved range, aligned to a huge page
  // Used by the loading thread only.
  std::array<File, 2> files_;
  std::array<std::atomic<bool>, 2> unsynced_{};
  bool sync_failed_ = false;
  std::uint64_t bytes_read_ = 0;
  std::atomic<std::uint64_t> bytes_written_ = 0;
  std::vector<Partition> partitions_;
  MappedChecks checks_;  // declared after the files, which its thread reads
  // Shared by threads. touched_ has the groups that changed since the last WritePartition; stale_[s] has those whose
  // rows in slot s are not the newest.
  StripeLocks locks_;
  AtomicBitmap touched_;
  std::array<AtomicBitmap, 2> stale_;
};

}  // namespace octavo
