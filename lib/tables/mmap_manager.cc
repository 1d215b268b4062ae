#include "tables/mmap_manager.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <string>
#include <utility>

#include "base/checked_math.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/checksum.h"
#include "io/failpoint.h"
#include "tables/table_file.h"

namespace octavo {
namespace {

// Rows begin on a huge-page boundary, so that they can be in huge pages.
constexpr std::uint64_t kHugePageBytes = std::uint64_t{2} << 20;

std::uint64_t GroupCount(std::uint64_t rows) { return (rows + StripeLocks::kGroupRows - 1) / StripeLocks::kGroupRows; }

std::uint64_t PageBytes() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

absl::Status CheckLayout(const TableLayout& layout, const std::vector<std::uint8_t>& committed_slots) {
  if (layout.partition_rows == 0 || layout.partition_rows % kPartitionRowQuantum != 0) {
    return UsageError(
        fmt::format("partitions of {} rows; expected a multiple of {}", layout.partition_rows, kPartitionRowQuantum));
  }
  const std::uint64_t partitions = layout.shape.rows / layout.partition_rows +
                                   (layout.shape.rows % layout.partition_rows != 0 ? 1 : 0);  // cannot wrap
  if (committed_slots.size() != partitions) {
    return CorruptError(fmt::format("{}: {} partitions of {} rows each are recorded; expected {}",
                                    layout.slots[0].string(), committed_slots.size(), layout.partition_rows,
                                    partitions));
  }
  if (kNpyHeaderBytes % PageBytes() != 0) {
    return RuntimeError(fmt::format("this machine has pages of {} bytes; tables need 4,096", PageBytes()));
  }
  // A partition is mapped and unmapped in whole pages, which must not be shared with the next partition. With float32
  // every quantum of rows is whole pages.
  if (partitions > 1 && layout.partition_rows % PageBytes() * layout.shape.row_bytes() % PageBytes() != 0) {
    return UsageError(fmt::format("{}: {} columns of {}; expected an even number", layout.slots[0].string(),
                                  layout.shape.columns, ElementName(layout.shape.element)));
  }
  return absl::OkStatus();
}

// Whether the slot's file has committed rows.
bool HoldsRows(const TableLayout& layout, const std::vector<std::uint8_t>& committed_slots, std::uint8_t slot) {
  for (std::size_t p = 0; p < committed_slots.size(); ++p) {
    if (committed_slots[p] == slot && (layout.here.empty() || layout.here[p])) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::unique_ptr<MmapManager>> MmapManager::Open(TableLayout layout,
                                                               std::vector<std::uint8_t> committed_slots) {
  RETURN_IF_ERROR(CheckLayout(layout, committed_slots));
  ASSIGN_OR_RETURN(const std::uint64_t file_bytes, NpyFileBytes(layout.shape));
  std::array<File, 2> files;
  // First the slots with committed rows: if they do not fit the layout, nothing is created or replaced.
  for (const bool spare : {false, true}) {
    for (std::uint8_t slot = 0; slot < 2; ++slot) {
      if (HoldsRows(layout, committed_slots, slot) == spare) continue;
      ASSIGN_OR_RETURN(files[slot], spare ? OpenSpareTableFile(layout.slots[slot], layout.shape, !layout.here.empty())
                                          : OpenTableFile(layout.slots[slot], layout.shape, /*writable=*/true));
      // Partitions are read and written whole and kept here, so the kernel's copies would only take memory.
      files[slot].UseDirect();
    }
  }
  const std::uint64_t data_bytes = RoundUp(file_bytes - kNpyHeaderBytes, PageBytes());
  const std::uint64_t bytes = data_bytes == 0 ? 0 : data_bytes + kHugePageBytes;  // to begin on a huge page
  std::byte* reserved = nullptr;
  if (bytes > 0) {
    void* address = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
      return ErrnoError(fmt::format("reserve {} bytes of addresses for {}", bytes, layout.slots[0].string()), errno);
    }
    reserved = static_cast<std::byte*>(address);
  }
  return std::unique_ptr<MmapManager>(
      new MmapManager(std::move(layout), std::move(committed_slots), std::move(files), reserved, bytes));
}

MmapManager::MmapManager(TableLayout layout, std::vector<std::uint8_t> committed_slots, std::array<File, 2> files,
                         std::byte* reserved, std::uint64_t reserved_bytes)
    : layout_(std::move(layout)),
      row_bytes_(layout_.shape.row_bytes()),
      reserved_(reserved),
      reserved_bytes_(reserved_bytes),
      rows_(reinterpret_cast<std::byte*>(RoundUp(reinterpret_cast<std::uintptr_t>(reserved), kHugePageBytes))),
      files_(std::move(files)),
      partitions_(committed_slots.size()),
      locks_(layout_.own_locks ? StripeLocks::kDefaultStripes : 0),
      touched_(GroupCount(layout_.shape.rows)),
      stale_{AtomicBitmap(GroupCount(layout_.shape.rows)), AtomicBitmap(GroupCount(layout_.shape.rows))} {
  for (std::uint32_t p = 0; p < partitions_.size(); ++p) {
    partitions_[p].committed = partitions_[p].newest = committed_slots[p];
    // The contents of the uncommitted slot are unknown.
    const RowRange groups = GroupsOf(RowsOf(static_cast<PartitionId>(p)));
    stale_[1 - committed_slots[p]].SetRange(groups.begin, groups.end);
  }
}

MmapManager::~MmapManager() {
  for (Partition& partition : partitions_) partition.range = MappedRange();
  if (reserved_ != nullptr) ::munmap(reserved_, reserved_bytes_);
}

MmapManager::RowRange MmapManager::RowsOf(PartitionId partition) const {
  const std::uint64_t begin = Value(partition) * layout_.partition_rows;
  return {begin, std::min(begin + layout_.partition_rows, layout_.shape.rows)};
}

std::span<std::byte> MmapManager::BytesOf(RowRange rows) const {
  return {rows_ + rows.begin * row_bytes_, (rows.end - rows.begin) * row_bytes_};
}

MmapManager::RowRange MmapManager::GroupsOf(RowRange rows) {
  return {rows.begin / StripeLocks::kGroupRows, GroupCount(rows.end)};
}

std::uint64_t MmapManager::resident_bytes() const {
  std::uint64_t bytes = 0;
  for (std::uint32_t p = 0; p < partitions_.size(); ++p) {
    if (partitions_[p].resident) bytes += BytesOf(RowsOf(static_cast<PartitionId>(p))).size();
  }
  return bytes;
}

PartitionPlace MmapManager::PlaceOf(PartitionId partition) const {
  const RowRange rows = RowsOf(partition);
  return {
      .memory = BytesOf(rows), .file = files_[NewestSlot(partition)], .offset = RowOffset(layout_.shape, rows.begin)};
}

absl::Status MmapManager::CheckPartition(PartitionId partition) const {
  if (Value(partition) < partitions_.size()) return absl::OkStatus();
  return absl::OutOfRangeError(absl::string_view(
      fmt::format("{}: partition {} of {}", layout_.slots[0].string(), Value(partition), partitions_.size())));
}

absl::Status MmapManager::BringIn(PartitionId partition, std::optional<std::uint64_t> expected_checksum,
                                  Loading loading) {
  Partition& state = partitions_[Value(partition)];
  const PartitionPlace place = PlaceOf(partition);
  const std::string name = fmt::format("partition {}", Value(partition));
  std::uint64_t found = Checksum64({});
  if (!place.memory.empty()) {
    RETURN_IF_ERROR(Failpoint("table.load"));
    if (loading != Loading::kDirect) {
      state.range = MappedRange(place.memory.data(), place.memory.size(), place.file.path(), place.file.descriptor(),
                                place.offset);
    }
    if (loading == Loading::kMapped) {
      RETURN_IF_ERROR(MapPartition(place));
      state.has_clean_pages = true;
      if (expected_checksum) checks_.Add({&place.file, place.offset, place.memory.size(), *expected_checksum, name});
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(found, loading == Loading::kPopulated ? PopulatePartition(place, expected_checksum.has_value())
                                                           : ReadPartition(place, expected_checksum.has_value()));
    bytes_read_ += place.memory.size();
  }
  if (!expected_checksum || found == *expected_checksum) return absl::OkStatus();
  return ChecksumError(place.file, name, place.offset, found, *expected_checksum);
}

void MmapManager::Release(PartitionId partition) {
  Partition& state = partitions_[Value(partition)];
  state.range = MappedRange();
  state.has_clean_pages = false;
  ReleaseMemory(BytesOf(RowsOf(partition)));
}

absl::Status MmapManager::LoadPartition(PartitionId partition, std::optional<std::uint64_t> expected_checksum,
                                        Loading loading) {
  RETURN_IF_ERROR(CheckPartition(partition));
  Partition& state = partitions_[Value(partition)];
  if (state.resident) return absl::OkStatus();
  if (absl::Status status = BringIn(partition, expected_checksum, loading); !status.ok()) {
    Release(partition);
    return status;
  }
  state.resident = true;
  return absl::OkStatus();
}

absl::Status MmapManager::EvictPartition(PartitionId partition) {
  RETURN_IF_ERROR(CheckPartition(partition));
  Partition& state = partitions_[Value(partition)];
  if (!state.resident) return absl::OkStatus();
  if (IsChanged(partition)) {
    if (absl::StatusOr<std::uint64_t> checksum = WritePartition(partition); !checksum.ok()) return checksum.status();
  }
  state.resident = false;
  Release(partition);
  return absl::OkStatus();
}

absl::Status MmapManager::CheckRow(NodeId node) const {
  if (Value(node) >= layout_.shape.rows) {
    return absl::OutOfRangeError(
        absl::string_view(fmt::format("{}: row {} of {}", layout_.slots[0].string(), Value(node), layout_.shape.rows)));
  }
  if (!IsResident(PartitionOf(node))) {
    return absl::FailedPreconditionError(
        absl::string_view(fmt::format("{}: row {} is in partition {}, which is not loaded", layout_.slots[0].string(),
                                      Value(node), Value(PartitionOf(node)))));
  }
  return absl::OkStatus();
}

absl::Status MmapManager::ReadRow(NodeId node, std::span<float> out) const {
  const ReaderStripeLock lock(LockFor(node));
  return ReadRowUnlocked(node, out);
}

absl::Status MmapManager::ReadRowUnlocked(NodeId node, std::span<float> out) const {
  RETURN_IF_ERROR(CheckRow(node));
  if (out.size() != layout_.shape.columns) {
    return absl::InvalidArgumentError(absl::string_view(
        fmt::format("{}: {} floats for a row of {}", layout_.slots[0].string(), out.size(), layout_.shape.columns)));
  }
  if (element() == NpyElement::kFloat32) {
    std::ranges::copy(FloatsUnlocked(node), out.begin());
  } else {
    Widen(WordsUnlocked(node), out);
  }
  return absl::OkStatus();
}

bool MmapManager::IsChanged(PartitionId partition) const {
  const RowRange groups = GroupsOf(RowsOf(partition));
  return touched_.AnyInRange(groups.begin, groups.end);
}

absl::Status MmapManager::WriteStaleGroups(PartitionId partition, std::uint8_t slot) {
  const RowRange rows = RowsOf(partition);
  const RowRange groups = GroupsOf(rows);
  absl::Status status;
  RowRange run;  // of rows to write: adjacent stale groups
  const auto flush = [&] {
    if (run.begin == run.end || !status.ok()) return;
    unsynced_[slot] = true;
    bytes_written_ += BytesOf(run).size();
    status = files_[slot].WriteAt(RowOffset(layout_.shape, run.begin), BytesOf(run));
  };
  stale_[slot].Drain(groups.begin, groups.end, [&](std::uint64_t group) {
    const std::uint64_t begin = group * StripeLocks::kGroupRows;
    const std::uint64_t end = std::min(begin + StripeLocks::kGroupRows, rows.end);
    if (begin == run.end && run.begin != run.end) {
      run.end = end;
      return;
    }
    flush();
    run = {begin, end};
  });
  flush();
  // The file may hold any subset of these groups.
  if (!status.ok()) stale_[slot].SetRange(groups.begin, groups.end);
  return status;
}

absl::StatusOr<std::uint64_t> MmapManager::WritePartition(PartitionId partition) {
  RETURN_IF_ERROR(CheckPartition(partition));
  Partition& state = partitions_[Value(partition)];
  if (!state.resident) {
    return absl::FailedPreconditionError("a partition is written only while it is loaded");
  }
  // A background check may still read the file that is written here.
  RETURN_IF_ERROR(checks_.Wait());
  // The first write has all rows, as the contents of the other slot are unknown. Neither it nor a later commit may
  // write to a file whose clean pages are in use.
  if (state.has_clean_pages) {
    RETURN_IF_ERROR(MakePrivate(PlaceOf(partition)));
    state.has_clean_pages = false;
  }
  const RowRange groups = GroupsOf(RowsOf(partition));
  touched_.Drain(groups.begin, groups.end, [this](std::uint64_t group) {
    stale_[0].Set(group);
    stale_[1].Set(group);
  });
  const auto target = static_cast<std::uint8_t>(1 - state.committed);
  // The rows do not change meanwhile, so they are checksummed while the disk writes them.
  std::future<std::uint64_t> checksum = std::async([rows = BytesOf(RowsOf(partition))] { return Checksum64(rows); });
  if (absl::Status status = WriteStaleGroups(partition, target); !status.ok()) {
    MarkChanged(partition);  // counts as not written at all, so it can be neither committed nor evicted
    return status;
  }
  state.newest = target;
  return checksum.get();
}

void MmapManager::MarkChanged(PartitionId partition) {
  const RowRange groups = GroupsOf(RowsOf(partition));
  touched_.SetRange(groups.begin, groups.end);
}

absl::Status MmapManager::Sync() {
  if (sync_failed_) {
    return RuntimeError(fmt::format("{}: an earlier sync failed, so what was written is not known to be on the disk",
                                    layout_.slots[0].string()));
  }
  for (std::size_t slot = 0; slot < files_.size(); ++slot) {
    if (!unsynced_[slot]) continue;
    if (absl::Status status = files_[slot].Sync(); !status.ok()) {
      sync_failed_ = true;
      return status;
    }
    unsynced_[slot] = false;
  }
  return absl::OkStatus();
}

void MmapManager::MarkCommitted() {
  for (Partition& partition : partitions_) partition.committed = partition.newest;
}

absl::Status MmapManager::ReadStored(PartitionId partition, std::uint64_t offset, std::span<std::byte> bytes) const {
  return files_[NewestSlot(partition)].ReadCachedAt(RowOffset(layout_.shape, RowsOf(partition).begin) + offset, bytes);
}

absl::Status MmapManager::WriteStored(PartitionId partition, std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::size_t slot = 1 - CommittedSlot(partition);
  const std::uint64_t begin = RowOffset(layout_.shape, RowsOf(partition).begin) + offset;
  // A full disk is an error here, and not at the sync.
  if (!layout_.here.empty()) RETURN_IF_ERROR(files_[slot].AllocateRange(begin, bytes.size()));
  unsynced_[slot] = true;
  bytes_written_ += bytes.size();
  return files_[slot].WriteAt(begin, bytes);
}

void MmapManager::Follow(PartitionId partition, std::uint8_t slot, bool here) {
  partitions_[Value(partition)].newest = slot;
  const RowRange groups = GroupsOf(RowsOf(partition));
  stale_[1 - slot].SetRange(groups.begin, groups.end);
  if (here) {
    stale_[slot].Drain(groups.begin, groups.end, [](std::uint64_t) {});
  } else {
    stale_[slot].SetRange(groups.begin, groups.end);
  }
}

void MmapManager::FreeStored(PartitionId partition) {
  const RowRange rows = RowsOf(partition);
  for (File& file : files_) file.PunchHole(RowOffset(layout_.shape, rows.begin), BytesOf(rows).size());
}

}  // namespace octavo
