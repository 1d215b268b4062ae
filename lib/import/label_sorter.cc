#include "import/label_sorter.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "base/status.h"
#include "cells/extent_reduction.h"

namespace octavo {
namespace {

// A record in memory and in the file: this, the name, the label.
struct RecordHead {
  std::uint64_t key = 0;
  std::uint64_t number = 0;
  std::uint32_t name_bytes = 0;
  std::uint32_t label_bytes = 0;
};

constexpr std::size_t kMinBuffer = sizeof(RecordHead) + kMaxLabelRecordBytes;
constexpr std::size_t kMaxBuffer = std::size_t{1} << 20;
constexpr std::uint64_t kRecordsBetweenStops = std::uint64_t{64} << 10;

std::size_t BytesOf(const RecordHead& head) { return sizeof(head) + head.name_bytes + head.label_bytes; }

RecordHead HeadAt(const std::byte* bytes) {
  RecordHead head;
  std::memcpy(&head, bytes, sizeof(head));
  return head;
}

LabelRecord RecordAt(const std::byte* bytes) {
  const RecordHead head = HeadAt(bytes);
  const char* const text = reinterpret_cast<const char*>(bytes) + sizeof(head);
  return {head.key, head.number, {text, head.name_bytes}, {text + head.name_bytes, head.label_bytes}};
}

std::tuple<std::uint64_t, std::string_view, std::uint64_t> OrderOf(const LabelRecord& record) {
  return {record.key, record.name, record.number};
}

RecordHead HeadOf(const LabelRecord& record) {
  return {record.key, record.number, static_cast<std::uint32_t>(record.name.size()),
          static_cast<std::uint32_t>(record.label.size())};
}

// Reads one extent.
class Reader {
 public:
  Reader(const SpillFile& file, SpillExtent extent, std::size_t buffer) : reader_(file, extent, buffer) {}

  // Moves to the next record; returns false at the end.
  absl::StatusOr<bool> Next() {
    reader_.Consume(std::exchange(bytes_, 0));
    ASSIGN_OR_RETURN(const auto head, reader_.Peek(sizeof(RecordHead)));
    if (head.empty()) return false;
    bytes_ = BytesOf(HeadAt(head.data()));
    ASSIGN_OR_RETURN(const auto all, reader_.Peek(bytes_));
    record_ = RecordAt(all.data());
    return true;
  }
  const LabelRecord& record() const { return record_; }

 private:
  SpillReader reader_;
  LabelRecord record_;
  std::size_t bytes_ = 0;
};

}  // namespace

// The records of several extents, in order.
class LabelSorter::Merge {
 public:
  static absl::StatusOr<std::unique_ptr<Merge>> Begin(const SpillFile& file, std::span<const SpillExtent> extents,
                                                      std::uint64_t memory_bytes) {
    auto merge = std::make_unique<Merge>();
    const std::size_t buffer =
        std::clamp<std::size_t>(memory_bytes / std::max<std::size_t>(1, extents.size()), kMinBuffer, kMaxBuffer);
    for (const SpillExtent& extent : extents) {
      merge->readers_.push_back(std::make_unique<Reader>(file, extent, buffer));
      ASSIGN_OR_RETURN(const bool any, merge->readers_.back()->Next());
      if (!any) merge->readers_.pop_back();
    }
    std::ranges::make_heap(merge->readers_, std::ranges::greater(), Order);
    return merge;
  }

  // Moves to the next record; empty at the end. Valid until the next call.
  absl::StatusOr<std::optional<LabelRecord>> Next() {
    if (std::exchange(begun_, true)) {
      ASSIGN_OR_RETURN(const bool more, readers_.back()->Next());
      if (more) {
        std::ranges::push_heap(readers_, std::ranges::greater(), Order);
      } else {
        readers_.pop_back();
      }
    }
    if (readers_.empty()) return std::nullopt;
    std::ranges::pop_heap(readers_, std::ranges::greater(), Order);
    return readers_.back()->record();
  }

 private:
  static std::tuple<std::uint64_t, std::string_view, std::uint64_t> Order(const std::unique_ptr<Reader>& reader) {
    return OrderOf(reader->record());
  }

  std::vector<std::unique_ptr<Reader>> readers_;  // a heap, but its last one, once begun, has the current record
  bool begun_ = false;
};

LabelSorter::LabelSorter(std::filesystem::path spill, std::uint64_t memory_bytes, SpillUse& use)
    : spill_(std::move(spill)), memory_bytes_(std::min(memory_bytes, kMostHeldBytes)), use_(use) {}
LabelSorter::~LabelSorter() = default;

absl::Status LabelSorter::CheckStop() const {
  return use_.stop && use_.stop() ? absl::CancelledError("interrupted") : absl::OkStatus();
}

absl::Status LabelSorter::Add(const LabelRecord& record) {
  const RecordHead head = HeadOf(record);
  begins_.push_back(held_.size());
  const auto append = [&](std::span<const std::byte> bytes) { held_.insert(held_.end(), bytes.begin(), bytes.end()); };
  append(std::as_bytes(std::span(&head, 1)));
  append(std::as_bytes(std::span<const char>(record.name)));
  append(std::as_bytes(std::span<const char>(record.label)));
  if (++count_ % kRecordsBetweenStops == 0) RETURN_IF_ERROR(CheckStop());
  // A growing vector briefly holds its bytes twice.
  if (2 * (held_.size() + begins_.size() * sizeof(begins_[0])) < memory_bytes_) return absl::OkStatus();
  return SpillHeld();
}

void LabelSorter::SortHeld() {
  // On one thread: it runs while the input is parsed in parallel (import/ordered_work.h).
  std::sort(begins_.begin(), begins_.end(), [&](std::size_t a, std::size_t b) {
    return OrderOf(RecordAt(held_.data() + a)) < OrderOf(RecordAt(held_.data() + b));
  });
}

absl::Status LabelSorter::SpillHeld() {
  if (begins_.empty()) return absl::OkStatus();
  if (file_ == nullptr) {
    ASSIGN_OR_RETURN(file_, SpillFile::Create(spill_, use_));
  }
  SortHeld();
  SpillWriter writer(*file_, kMaxBuffer);
  for (const std::size_t begin : begins_) {
    const std::byte* const bytes = held_.data() + begin;
    RETURN_IF_ERROR(writer.Append({bytes, BytesOf(HeadAt(bytes))}));
  }
  ASSIGN_OR_RETURN(const SpillExtent extent, writer.Finish());
  extents_.push_back(extent);
  held_.clear();
  begins_.clear();
  return absl::OkStatus();
}

absl::StatusOr<SpillExtent> LabelSorter::MergeToExtent(const std::vector<SpillExtent>& extents,
                                                       std::uint64_t memory_bytes) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Merge> merge, Merge::Begin(*file_, extents, memory_bytes));
  SpillWriter writer(*file_, kMaxBuffer);
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<LabelRecord> record, merge->Next());
    if (!record) break;
    const RecordHead head = HeadOf(*record);
    RETURN_IF_ERROR(writer.Append(std::as_bytes(std::span(&head, 1))));
    RETURN_IF_ERROR(writer.Append(std::as_bytes(std::span<const char>(record->name))));
    RETURN_IF_ERROR(writer.Append(std::as_bytes(std::span<const char>(record->label))));
  }
  return writer.Finish();
}

absl::Status LabelSorter::Finish(std::uint64_t memory_bytes) {
  if (file_ == nullptr) {
    SortHeld();
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(SpillHeld());
  held_ = {};
  begins_ = {};
  RETURN_IF_ERROR(file_->FinishWriting());
  memory_bytes = std::min(memory_bytes, kMostHeldBytes);
  const std::size_t most = std::max<std::size_t>(2, memory_bytes / kMinBuffer);
  const auto merge = [&](std::span<const SpillExtent> some) -> absl::StatusOr<std::optional<SpillExtent>> {
    RETURN_IF_ERROR(CheckStop());
    ASSIGN_OR_RETURN(const SpillExtent extent, MergeToExtent({some.begin(), some.end()}, memory_bytes));
    RETURN_IF_ERROR(file_->FinishWriting());
    return std::optional<SpillExtent>(extent);
  };
  RETURN_IF_ERROR(ReduceExtents(extents_, {.most = most, .fan_in = most}, merge).status());
  ASSIGN_OR_RETURN(merge_, Merge::Begin(*file_, extents_, memory_bytes));
  return absl::OkStatus();
}

absl::StatusOr<bool> LabelSorter::Next() {
  if (merge_ != nullptr) {
    ASSIGN_OR_RETURN(const std::optional<LabelRecord> record, merge_->Next());
    if (!record) return false;
    record_ = *record;
    return true;
  }
  if (next_ == begins_.size()) return false;
  record_ = RecordAt(held_.data() + begins_[next_++]);
  return true;
}

}  // namespace octavo
