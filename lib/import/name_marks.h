// Records in which edges the names of the input occur.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace octavo {

// One byte of marks for each NameTable id. Any thread may set marks, but not while others read or grow them.
class NameMarks {
 public:
  enum : std::uint8_t { kInTrain = 1, kElsewhere = 2 };

  explicit NameMarks(std::uint32_t ids = 0) : marks_(ids) {}
  void GrowTo(std::uint32_t ids) {
    if (ids > marks_.size()) marks_.resize(ids);
  }

  void Set(std::uint32_t id, std::uint8_t mark) {
    // Relaxed: the marks are read after the threads have been joined. The load avoids a locked write, as nearly every
    // name already has its mark.
    const std::atomic_ref<std::uint8_t> cell(marks_[id]);
    if ((cell.load(std::memory_order_relaxed) & mark) == 0) cell.fetch_or(mark, std::memory_order_relaxed);
  }
  std::uint8_t Of(std::uint32_t id) const { return marks_[id]; }
  bool InTrain(std::uint32_t id) const { return (marks_[id] & kInTrain) != 0; }
  bool Seen(std::uint32_t id) const { return marks_[id] != 0; }
  std::size_t size() const { return marks_.size(); }

  // How many names were seen, but not in a training edge.
  std::uint64_t CountUnseen() const {
    std::uint64_t count = 0;
    for (const std::uint8_t mark : marks_) count += mark == kElsewhere ? 1 : 0;
    return count;
  }
  // Whether the name was seen; with `only_train`, whether it is in a training edge.
  bool Keeps(std::uint32_t id, bool only_train) const { return only_train ? InTrain(id) : Seen(id); }

 private:
  std::vector<std::uint8_t> marks_;
};

}  // namespace octavo
