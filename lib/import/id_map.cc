#include "import/id_map.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "io/file.h"

namespace octavo {
namespace {

// Reads the block with the number of some place, in ascending order, each once.
class BlockReader {
 public:
  BlockReader(const SpillFile& file, const StoredIdMap& map) : file_(file), map_(map) {}

  absl::Status MoveTo(std::size_t block) {
    if (block == number_) return absl::OkStatus();
    number_ = block;
    return file_.ReadOnce(map_.blocks[block], std::as_writable_bytes(std::span(block_.get(), 1)));
  }
  const IdMapBlock& block() const { return *block_; }

 private:
  const SpillFile& file_;
  const StoredIdMap& map_;
  std::unique_ptr<IdMapBlock> block_ = std::make_unique<IdMapBlock>();
  std::size_t number_ = SIZE_MAX;
};

}  // namespace

absl::Status IdMapWriter::Flush() {
  map_.blocks.push_back(file_.size());
  RETURN_IF_ERROR(file_.Append(AsBytes(*block_)));
  *block_ = {};
  return absl::OkStatus();
}

absl::StatusOr<StoredIdMap> IdMapWriter::Finish() {
  if (map_.names % IdMapBlock::kNames != 0) RETURN_IF_ERROR(Flush());
  return std::move(map_);
}

absl::StatusOr<IdMap> IdMap::Read(const SpillFile& file, const StoredIdMap& stored) {
  IdMap map;
  map.ids_.reserve(stored.blocks.size() * IdMapBlock::kNames);
  map.in_train_.reserve(stored.blocks.size() * (IdMapBlock::kNames / 64));
  BlockReader reader(file, stored);
  for (std::size_t i = 0; i < stored.blocks.size(); ++i) {
    RETURN_IF_ERROR(reader.MoveTo(i));
    map.ids_.insert(map.ids_.end(), reader.block().ids.begin(), reader.block().ids.end());
    map.in_train_.insert(map.in_train_.end(), reader.block().in_train.begin(), reader.block().in_train.end());
  }
  map.ids_.resize(stored.names);
  return map;
}

absl::Status IdMap::Then(const SpillFile& file, const StoredIdMap& next) {
  BlockReader reader(file, next);
  std::ranges::fill(in_train_, 0);
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const std::size_t place = ids_[i] % IdMapBlock::kNames;
    RETURN_IF_ERROR(reader.MoveTo(ids_[i] / IdMapBlock::kNames));
    const IdMapBlock& block = reader.block();
    ids_[i] = block.ids[place];
    in_train_[i / 64] |= (block.in_train[place / 64] >> (place % 64) & 1) << (i % 64);
  }
  return absl::OkStatus();
}

}  // namespace octavo
