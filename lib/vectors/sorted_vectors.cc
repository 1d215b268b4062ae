#include "vectors/sorted_vectors.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/byte_size.h"
#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/checksum.h"

namespace octavo {
namespace {

// A record: this struct, the values, the name.
struct RecordHead {
  std::uint64_t hash = 0;
  std::uint64_t number = 0;  // in the source
  std::uint64_t name_bytes = 0;
};

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

RecordHead HeadOf(std::span<const std::byte> record) {
  RecordHead head;
  std::memcpy(&head, record.data(), sizeof(head));
  return head;
}

void Append(std::span<const std::byte> bytes, std::vector<std::byte>& out) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

// Reads a sorted extent of the file, and its current record.
struct SortedVectors::Reader {
  Reader(const SpillFile& file, SpillExtent extent, std::size_t buffer, std::size_t columns)
      : reader(file, extent, buffer), value_bytes(columns * sizeof(float)) {}

  // Moves to the next record; returns false at the end.
  absl::StatusOr<bool> Advance() {
    reader.Consume(record.size());
    record = {};
    ASSIGN_OR_RETURN(std::span<const std::byte> bytes, reader.Peek(sizeof(RecordHead)));
    if (bytes.empty()) return false;
    head = HeadOf(bytes);
    const std::size_t size = sizeof(RecordHead) + value_bytes + head.name_bytes;
    ASSIGN_OR_RETURN(bytes, reader.Peek(size));
    record = bytes.first(size);
    return true;
  }
  std::string_view name() const {
    const auto bytes = record.subspan(sizeof(RecordHead) + value_bytes);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  auto key() const { return std::tuple(head.hash, name(), head.number); }

  SpillReader reader;
  const std::size_t value_bytes;
  RecordHead head;
  std::span<const std::byte> record;
};

SortedVectors::SortedVectors(std::unique_ptr<VectorSource> source, std::uint64_t hash_seed, SpillUse& use)
    : source_(std::move(source)), hash_seed_(hash_seed), use_(use) {}
SortedVectors::~SortedVectors() = default;

absl::StatusOr<std::unique_ptr<SortedVectors>> SortedVectors::Make(std::unique_ptr<VectorSource> source,
                                                                   std::uint64_t hash_seed, std::uint64_t memory_bytes,
                                                                   const std::filesystem::path& spill, SpillUse& use) {
  auto sorted = std::unique_ptr<SortedVectors>(new SortedVectors(std::move(source), hash_seed, use));
  if (sorted->source_->order() == hash_seed) return sorted;
  RETURN_IF_ERROR(sorted->Sort(memory_bytes, spill));
  return sorted;
}

absl::Status SortedVectors::CheckStop() const {
  return use_.stop && use_.stop() ? absl::CancelledError("interrupted") : absl::OkStatus();
}

absl::Status SortedVectors::Sort(std::uint64_t memory_bytes, const std::filesystem::path& spill) {
  values_.resize(columns());
  while (true) {
    RETURN_IF_ERROR(CheckStop());
    ASSIGN_OR_RETURN(const std::optional<NamedVector> vector, source_->Next());
    if (!vector) break;
    Hold(*vector);
    // A growing vector briefly holds its bytes twice.
    if (2 * (held_.size() + keys_.size() * sizeof(Key)) >= memory_bytes) RETURN_IF_ERROR(SpillHeld(spill));
  }
  if (file_ == nullptr) {
    SortHeld();
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(SpillHeld(spill));
  RETURN_IF_ERROR(file_->FinishWriting());
  held_ = {};
  keys_ = {};
  return BeginMerge(memory_bytes);
}

void SortedVectors::Hold(const NamedVector& vector) {
  const RecordHead head = {
      .hash = HashName(vector.name, hash_seed_), .number = source_->count() - 1, .name_bytes = vector.name.size()};
  const std::size_t begin = held_.size();
  Append(std::as_bytes(std::span(&head, 1)), held_);
  Append(std::as_bytes(vector.values), held_);
  Append(std::as_bytes(std::span(vector.name)), held_);
  keys_.push_back({head.hash, begin, held_.size() - begin});
  largest_record_ = std::max(largest_record_, keys_.back().bytes);
}

void SortedVectors::SortHeld() {
  const std::size_t before_name = sizeof(RecordHead) + columns() * sizeof(float);
  const auto name = [&](const Key& key) {
    return std::string_view(reinterpret_cast<const char*>(held_.data()) + key.begin + before_name,
                            key.bytes - before_name);
  };
  // Records are in the order of their numbers.
  std::ranges::sort(keys_, [&](const Key& a, const Key& b) {
    return std::tuple(a.hash, name(a), a.begin) < std::tuple(b.hash, name(b), b.begin);
  });
}

absl::Status SortedVectors::SpillHeld(const std::filesystem::path& spill) {
  if (keys_.empty()) return absl::OkStatus();
  if (file_ == nullptr) {
    ASSIGN_OR_RETURN(file_, SpillFile::Create(spill, use_));
  }
  SortHeld();
  SpillWriter writer(*file_, std::max(kBufferBytes, largest_record_));
  for (const Key& key : keys_) RETURN_IF_ERROR(writer.Append(std::span(held_).subspan(key.begin, key.bytes)));
  ASSIGN_OR_RETURN(const SpillExtent extent, writer.Finish());
  extents_.push_back(extent);
  held_.clear();
  keys_.clear();
  return absl::OkStatus();
}

absl::Status SortedVectors::BeginMerge(std::uint64_t memory_bytes) {
  const std::size_t buffer = std::max(kBufferBytes, largest_record_);
  if (extents_.size() * buffer > memory_bytes) {
    return UsageError(
        fmt::format("{}: sorting the vectors into the order of the nodes needs {} more than --memory allows",
                    source_->PlaceOf(0), FormatByteSize(extents_.size() * buffer - memory_bytes)));
  }
  for (const SpillExtent& extent : extents_) {
    readers_.push_back(std::make_unique<Reader>(*file_, extent, buffer, columns()));
    RETURN_IF_ERROR(readers_.back()->Advance().status());
  }
  std::ranges::make_heap(readers_, std::ranges::greater(), [](const auto& reader) { return reader->key(); });
  return absl::OkStatus();
}

void SortedVectors::Take(std::span<const std::byte> record) {
  const RecordHead head = HeadOf(record);
  hash_ = head.hash;
  number_ = head.number;
  std::memcpy(values_.data(), record.data() + sizeof(head), values_.size() * sizeof(float));
  const auto name = record.subspan(sizeof(head) + values_.size() * sizeof(float));
  name_.assign(reinterpret_cast<const char*>(name.data()), name.size());
}

absl::StatusOr<bool> SortedVectors::ReadSorted() {
  ASSIGN_OR_RETURN(const std::optional<NamedVector> vector, source_->Next());
  if (!vector) return false;
  name_.assign(vector->name);
  hash_ = HashName(name_, hash_seed_);
  number_ = source_->count() - 1;
  values_.assign(vector->values.begin(), vector->values.end());
  return true;
}

absl::StatusOr<bool> SortedVectors::ReadMerged() {
  const auto key = [](const auto& reader) { return reader->key(); };
  if (readers_.empty()) return false;
  std::ranges::pop_heap(readers_, std::ranges::greater(), key);
  Reader& first = *readers_.back();
  Take(first.record);
  ASSIGN_OR_RETURN(const bool more, first.Advance());
  if (!more) {
    readers_.pop_back();
    return true;
  }
  std::ranges::push_heap(readers_, std::ranges::greater(), key);
  return true;
}

// Runs after every read: checks the order, and that no name occurs twice.
absl::Status SortedVectors::CheckOrder() {
  if (std::exchange(any_, true)) {
    if (hash_ == last_hash_ && name_ == last_name_) {
      return InputError(fmt::format("{}: found \"{}\" again, first at {}; expected each name once",
                                    source_->PlaceOf(number_), Escape(name_), source_->PlaceOf(last_number_)));
    }
    if (hash_ < last_hash_) {
      return CorruptError(fmt::format("{}: \"{}\" is not where its hash belongs; check its graph with octavo verify",
                                      source_->PlaceOf(number_), Escape(name_)));
    }
  }
  last_hash_ = hash_;
  last_number_ = number_;
  last_name_ = name_;
  return absl::OkStatus();
}

absl::StatusOr<std::optional<HashedVector>> SortedVectors::Next() {
  RETURN_IF_ERROR(CheckStop());
  bool more = false;
  if (source_->order() == hash_seed_) {
    ASSIGN_OR_RETURN(more, ReadSorted());
  } else if (file_ != nullptr) {
    ASSIGN_OR_RETURN(more, ReadMerged());
  } else if ((more = next_ < keys_.size())) {
    const Key& key = keys_[next_++];
    Take(std::span(held_).subspan(key.begin, key.bytes));
  }
  if (!more) return std::nullopt;
  RETURN_IF_ERROR(CheckOrder());
  return HashedVector{hash_, name_, values_};
}

}  // namespace octavo
