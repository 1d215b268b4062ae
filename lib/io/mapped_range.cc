#include "io/mapped_range.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "base/escape.h"

namespace octavo {
namespace {

constexpr std::size_t kNameBytes = 1024;

// An entry goes free -> taken -> entered -> free. The thread that took it writes the other fields. They are read only
// in state entered; the release store to `state` orders this. A reader may race with an entry that is being freed and
// reused. That is harmless: the signal handler looks up a range that is in use, and the entry of such a range is not
// freed.
struct Entry {
  enum State : int { kFree, kTaken, kEntered };
  std::atomic<int> state = kFree;
  std::atomic<std::uintptr_t> begin = 0;
  std::atomic<std::uintptr_t> end = 0;
  std::atomic<int> descriptor = 0;  // all zeros: the entries take no space in the program
  std::atomic<std::uint64_t> offset = 0;
  std::array<char, kNameBytes> name{};
};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);

std::array<Entry, 1280> entries;

// The end of a long path, which distinguishes the files of a folder.
std::string NameOf(const std::filesystem::path& path) {
  constexpr std::size_t kMost = kNameBytes / 4 - 4;  // a byte takes up to four characters
  const std::string name = path.string();
  return name.size() <= kMost ? Escape(name, kMost) : "..." + Escape(name.substr(name.size() - kMost), kMost);
}

}  // namespace

MappedRange::MappedRange(const void* address, std::size_t bytes, const std::filesystem::path& path, int descriptor,
                         std::uint64_t offset) {
  const std::string name = NameOf(path);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = entries[i];
    int free = Entry::kFree;
    if (!entry.state.compare_exchange_strong(free, Entry::kTaken, std::memory_order_acquire)) continue;
    entry.begin.store(reinterpret_cast<std::uintptr_t>(address), std::memory_order_relaxed);
    entry.end.store(reinterpret_cast<std::uintptr_t>(address) + bytes, std::memory_order_relaxed);
    entry.descriptor.store(descriptor, std::memory_order_relaxed);
    entry.offset.store(offset, std::memory_order_relaxed);
    entry.name[name.copy(entry.name.data(), kNameBytes - 1)] = '\0';
    entry.state.store(Entry::kEntered, std::memory_order_release);
    entry_ = static_cast<int>(i);
    return;
  }
}

MappedRange::~MappedRange() {
  if (entry_ != kNone) entries[static_cast<std::size_t>(entry_)].state.store(Entry::kFree, std::memory_order_release);
}

MappedPlace MappedPlaceAt(const void* address) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  for (const Entry& entry : entries) {
    if (entry.state.load(std::memory_order_acquire) != Entry::kEntered) continue;
    const std::uintptr_t begin = entry.begin.load(std::memory_order_relaxed);
    if (place < begin || place >= entry.end.load(std::memory_order_relaxed)) continue;
    return {.name = entry.name.data(),
            .descriptor = entry.descriptor.load(std::memory_order_relaxed),
            .offset = entry.offset.load(std::memory_order_relaxed) + (place - begin)};
  }
  return {};
}

}  // namespace octavo
