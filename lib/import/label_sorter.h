// Sorts labels by the hash of the name that they belong to, in bounded memory: sorted extents in a temporary file, and
// one merge of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cells/spill_file.h"

namespace octavo {

struct LabelRecord {
  std::uint64_t key = 0;     // of the order: the hash of the name
  std::uint64_t number = 0;  // of records with the same key and name, the lowest comes first
  std::string_view name;     // together with the label at most kMaxLabelRecordBytes
  std::string_view label;
};

inline constexpr std::size_t kMaxLabelRecordBytes = std::size_t{128} << 10;

// Add every record, then Finish, then read with Next. One owner; one thread at a time. Starts no threads.
class LabelSorter {
 public:
  // Holds about `memory_bytes`, but at most kMostHeldBytes; the rest goes to a file at `spill`, which is made when it
  // is needed and is unlinked at once. `use`, whose `stop` ends the work, must outlive this object.
  LabelSorter(std::filesystem::path spill, std::uint64_t memory_bytes, SpillUse& use);
  ~LabelSorter();

  // Copies the record.
  absl::Status Add(const LabelRecord& record);
  // Ends adding. The merge holds about `memory_bytes`, and at least two buffers.
  absl::Status Finish(std::uint64_t memory_bytes);
  // Moves to the next record, by ascending key, name and number; returns false at the end.
  absl::StatusOr<bool> Next();
  // Valid until the next call of Next.
  const LabelRecord& record() const { return record_; }

  std::uint64_t count() const { return count_; }

  // A label is read by people and a graph can have 100 million of them: they do not fill a memory without a limit.
  static constexpr std::uint64_t kMostHeldBytes = std::uint64_t{256} << 20;

 private:
  class Merge;

  absl::Status CheckStop() const;
  void SortHeld();
  absl::Status SpillHeld();
  // Merges extents into one at the end of the file.
  absl::StatusOr<SpillExtent> MergeToExtent(const std::vector<SpillExtent>& extents, std::uint64_t memory_bytes);

  const std::filesystem::path spill_;
  const std::uint64_t memory_bytes_;
  SpillUse& use_;
  // Records in memory, one after the other, and where each begins.
  std::vector<std::byte> held_;
  std::vector<std::size_t> begins_;
  std::size_t next_ = 0;  // index into begins_
  std::unique_ptr<SpillFile> file_;
  std::vector<SpillExtent> extents_;
  std::unique_ptr<Merge> merge_;  // null if everything is in memory
  LabelRecord record_;
  std::uint64_t count_ = 0;
};

}  // namespace octavo
