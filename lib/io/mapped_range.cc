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

// An entry goes free -> taken -> entered -> free. Its range and name are written by who has taken it, and read only
// while it is entered: the release of `state` orders the two. A reader that meets an entry while it is given back may
// see what is written into it next; but the handler asks for a range that is in use, whose entry nobody gives back.
struct Entry {
  enum State : int { kFree, kTaken, kEntered };
  std::atomic<int> state = kFree;
  std::atomic<std::uintptr_t> begin = 0;
  std::atomic<std::uintptr_t> end = 0;
  std::array<char, kNameBytes> name{};
};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::uintptr_t>::is_always_lock_free);

std::array<Entry, 64> entries;

// Of a long path the end, which tells the files of a folder apart.
std::string NameOf(const std::filesystem::path& path) {
  constexpr std::size_t kMost = kNameBytes / 4 - 4;  // a byte takes up to four characters
  const std::string name = path.string();
  return name.size() <= kMost ? Escape(name, kMost) : "..." + Escape(name.substr(name.size() - kMost), kMost);
}

}  // namespace

MappedRange::MappedRange(const void* address, std::size_t bytes, const std::filesystem::path& path) {
  const std::string name = NameOf(path);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = entries[i];
    int free = Entry::kFree;
    if (!entry.state.compare_exchange_strong(free, Entry::kTaken, std::memory_order_acquire)) continue;
    entry.begin.store(reinterpret_cast<std::uintptr_t>(address), std::memory_order_relaxed);
    entry.end.store(reinterpret_cast<std::uintptr_t>(address) + bytes, std::memory_order_relaxed);
    entry.name[name.copy(entry.name.data(), kNameBytes - 1)] = '\0';
    entry.state.store(Entry::kEntered, std::memory_order_release);
    entry_ = static_cast<int>(i);
    return;
  }
}

MappedRange::~MappedRange() {
  if (entry_ != kNone) entries[static_cast<std::size_t>(entry_)].state.store(Entry::kFree, std::memory_order_release);
}

const char* MappedFileAt(const void* address) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  for (const Entry& entry : entries) {
    if (entry.state.load(std::memory_order_acquire) != Entry::kEntered) continue;
    if (place < entry.begin.load(std::memory_order_relaxed) || place >= entry.end.load(std::memory_order_relaxed)) {
      continue;
    }
    return entry.name.data();
  }
  return nullptr;
}

}  // namespace octavo
