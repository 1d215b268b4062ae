#include "plan/memory_budget.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "base/number.h"
#include "fmt/format.h"

namespace octavo {
namespace {

std::optional<std::uint64_t> ReadNumber(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  if (!(file >> text)) return std::nullopt;
  return ParseWholeNumber(text);  // "max" is not a number: no limit
}

// File names of a control group and, in memory.stat, the keys of the page cache of the group and its children.
struct GroupNames {
  std::string_view root;
  std::string_view limit;
  std::string_view usage;
  std::string_view inactive_cache;
  std::string_view active_cache;
};
constexpr GroupNames kVersion1{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file", "total_active_file"};
constexpr GroupNames kVersion2{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file", "active_file"};

// Bytes of page cache that the group can give up.
std::uint64_t GroupCache(const std::string& folder, const GroupNames& names) {
  std::ifstream file(fmt::format("{}/memory.stat", folder));
  std::uint64_t cache = 0;
  std::string key;
  for (std::uint64_t bytes = 0; file >> key >> bytes;) {
    if (key == names.inactive_cache || key == names.active_cache) cache += bytes;
  }
  return cache;
}

// What the limit of the control group at `folder` leaves, or empty if there is no limit.
std::optional<std::uint64_t> GroupRoom(const std::string& folder, const GroupNames& names) {
  const auto limit = ReadNumber(fmt::format("{}/{}", folder, names.limit));
  const auto usage = ReadNumber(fmt::format("{}/{}", folder, names.usage));
  // Version 1 expresses "no limit" as a number near 2^63.
  if (!limit || *limit > (std::uint64_t{1} << 60)) return std::nullopt;
  const std::uint64_t held = usage.value_or(0) - std::min(usage.value_or(0), GroupCache(folder, names));
  return *limit - std::min(*limit, held);
}

std::optional<std::uint64_t> MachineAvailable() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string key;
    std::uint64_t kib = 0;
    if (fields >> key >> kib && key == "MemAvailable:") return kib * 1024;
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t DefaultMemoryLimit() {
  std::uint64_t room = MachineAvailable().value_or(~std::uint64_t{0});
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    const bool version2 = controllers.empty();
    if (!version2 && controllers.find("memory") == std::string::npos) continue;
    const GroupNames& names = version2 ? kVersion2 : kVersion1;
    // Limits of ancestors apply too. In a container the path may be the host's; the limit is then at the root.
    while (true) {
      const auto left = GroupRoom(std::string(names.root) + path, names);
      if (left) room = std::min(room, *left);
      if (path.empty() || path == "/") break;
      path.erase(path.rfind('/'));
    }
  }
  return room / 10 * 7;
}

}  // namespace octavo
