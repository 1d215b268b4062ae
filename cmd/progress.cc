#include "cmd/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/byte_size.h"
#include "base/duration.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr double kFirstSeconds = 1;  // no rates are shown before this
constexpr double kDiskSeconds = 1;   // over which the disk's rate is measured
constexpr double kLeastDiskRate = 1e5;
constexpr int kBarCells = 24;

// 312 k, 1.21 M, 950
std::string Count(double value) {
  for (const auto& [scale, prefix] : {std::pair(1e9, "G"), std::pair(1e6, "M"), std::pair(1e3, "k")}) {
    if (value >= scale) return fmt::format("{:.3g} {}", value / scale, prefix);
  }
  return fmt::format("{:.3g}", value);
}

std::string Rate(double value, std::string_view unit) {
  if (unit == "bytes") return fmt::format("{}B/s", Count(value));
  return fmt::format("{} {}/s", Count(value), unit);
}

std::string Bar(double share) {
  const int full = static_cast<int>(share * kBarCells + 0.5);
  std::string text;
  for (int i = 0; i < kBarCells; ++i) text += i < full ? "━" : "─";
  return text;
}

// The width in columns; characters such as "━" take one.
std::size_t Columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::uint64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t DiskBytes() {
  std::ifstream file("/proc/self/io");
  std::string key;
  std::uint64_t value = 0;
  std::uint64_t sum = 0;
  while (file >> key >> value) {
    if (key == "read_bytes:" || key == "write_bytes:") sum += value;
  }
  return sum;
}

}  // namespace

double SecondsLeft(const ShownProgress& progress, const ProgressFacts& facts) {
  const double share = progress.share - std::max(0.0, facts.share_before);
  if (facts.seconds < kFirstSeconds || !(share > 0)) return -1;
  return facts.seconds * (1 - progress.share) / share;
}

std::string ProgressLine(const ShownProgress& progress, const ProgressFacts& facts, bool bar, std::size_t columns) {
  std::string line = progress.phase;
  bool full = false;
  const auto add = [&](std::string_view gap, const std::string& part) {
    full = full || Columns(line) + Columns(part) + gap.size() > columns;
    if (!full) line += fmt::format("{}{}", gap, part);
  };
  const double share = std::min(progress.share, 1.0);
  if (share >= 0) {
    if (bar && columns >= line.size() + kBarCells + 7) add(" ", Bar(share));
    add(" ", fmt::format("{:3.0f} %", 100 * share));
  }
  if (const double left = SecondsLeft(progress, facts); left >= 0) {
    const double whole = share < 1 ? left / (1 - share) : 0;  // of the whole phase
    const double all = left + static_cast<double>(progress.later) * whole;
    add("  ", "ETA " + DurationText(left) + (progress.later > 0 && whole > 0 ? ", all " + DurationText(all) : ""));
  }
  if (!progress.unit.empty() && facts.seconds >= kFirstSeconds) {
    add("  ", Rate((progress.done - facts.done_before) / facts.seconds, progress.unit));
  }
  if (!progress.detail.empty()) add("  ", progress.detail);
  add("  ", "memory " + FormatByteSize(facts.memory) +
                (facts.memory_limit > 0 ? " of " + FormatByteSize(facts.memory_limit) : ""));
  if (facts.disk_bytes_per_second >= kLeastDiskRate) add("  ", "disk " + Rate(facts.disk_bytes_per_second, "bytes"));
  return line;
}

void ProgressMeter::Enter(const ShownProgress& progress) {
  if (progress.phase == phase_) return;
  phase_ = progress.phase;
  share_before_ = progress.share;
  done_before_ = progress.done;
  phase_begin_ = Clock::now();
}

ProgressFacts ProgressMeter::Take(std::uint64_t memory_limit) {
  const Clock::time_point now = Clock::now();
  const auto since = [now](Clock::time_point begin) { return std::chrono::duration<double>(now - begin).count(); };
  if (since(disk_time_) >= kDiskSeconds) {
    const std::uint64_t bytes = DiskBytes();
    // The first count has no predecessor.
    if (disk_time_ != Clock::time_point()) disk_rate_ = static_cast<double>(bytes - disk_bytes_) / since(disk_time_);
    disk_bytes_ = bytes;
    disk_time_ = now;
  }
  return {.seconds = since(phase_begin_),
          .share_before = share_before_,
          .done_before = done_before_,
          .memory = ResidentBytes(),
          .memory_limit = memory_limit,
          .disk_bytes_per_second = disk_rate_};
}

}  // namespace octavo
