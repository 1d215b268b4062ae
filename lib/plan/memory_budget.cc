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
  return ParseWholeNumber(text);  // "max" is no number: no limit
}

// What the limit of the control group at `folder` leaves, or empty without one.
std::optional<std::uint64_t> GroupRoom(const std::string& folder, std::string_view limit_name,
                                       std::string_view usage_name) {
  const auto limit = ReadNumber(fmt::format("{}/{}", folder, limit_name));
  const auto usage = ReadNumber(fmt::format("{}/{}", folder, usage_name));
  // Version 1 writes a number near 2^63 for no limit.
  if (!limit || *limit > (std::uint64_t{1} << 60)) return std::nullopt;
  return *limit - std::min(*limit, usage.value_or(0));
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
    const std::string root = version2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    // A limit of any ancestor binds too. Inside a container the path may be that of the host; then the root has it.
    while (true) {
      const auto left = version2 ? GroupRoom(root + path, "memory.max", "memory.current")
                                 : GroupRoom(root + path, "memory.limit_in_bytes", "memory.usage_in_bytes");
      if (left) room = std::min(room, *left);
      if (path.empty() || path == "/") break;
      path.erase(path.rfind('/'));
    }
  }
  return room / 10 * 7;
}

}  // namespace octavo
