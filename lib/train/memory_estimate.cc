#include "train/memory_estimate.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "base/byte_size.h"
#include "base/checked_math.h"
#include "base/number.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

// Measured on an idle program with its libraries and TBB's arenas, rounded up.
constexpr std::uint64_t kProgramBytes = std::uint64_t{48} << 20;

// Sums and products that stop at 1 EiB: the largest values of the options overflow 64 bits together, and an estimate
// that wrapped around would let them pass.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;
template <typename... More>
std::uint64_t Product(std::uint64_t first, More... more) {
  for (const std::uint64_t factor : {std::uint64_t{more}...}) {
    first = std::min(CheckedMultiply(first, factor).value_or(kMostBytes), kMostBytes);
  }
  return first;
}
template <typename... More>
std::uint64_t Sum(std::uint64_t first, More... more) {
  for (const std::uint64_t term : {std::uint64_t{more}...}) {
    first = std::min(CheckedAdd(first, term).value_or(kMostBytes), kMostBytes);
  }
  return first;
}

std::uint64_t NegativesPerSide(const TrainOptions& options, const GraphDescription& graph) {
  return options.negatives == 0 ? graph.node_count : options.negatives;
}

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

std::uint64_t MaxTouchedRows(const TrainOptions& options, const GraphDescription& graph) {
  const std::uint64_t chunks = (options.batch + options.chunk - 1) / options.chunk;
  const std::uint64_t batch_rows = Sum(2 * options.batch, Product(2, chunks, NegativesPerSide(options, graph)));
  const std::uint64_t rows = Product(options.accumulate, batch_rows);
  return std::min(rows, graph.node_count);
}

MemoryEstimate EstimateTrainingMemory(const TrainOptions& options, const GraphDescription& graph, int threads) {
  const std::uint64_t negatives = NegativesPerSide(options, graph);
  const std::uint64_t row = options.dim * sizeof(float);
  const std::uint64_t state = StateWidth(options.optimizer, options.dim) * sizeof(float);
  const std::uint64_t relation_width = options.model_spec().RelationWidth() * sizeof(float);
  const std::uint64_t batch = std::min(options.batch, std::max<std::uint64_t>(1, graph.train_edges));
  const std::uint64_t chunk = std::min(options.chunk, batch);
  const std::uint64_t chunks = (batch + chunk - 1) / chunk;
  const std::uint64_t relation_rows = std::uint64_t{graph.relation_count} * (options.reciprocal ? 2 : 1);

  MemoryEstimate estimate;
  estimate.tables = Sum(Product(graph.node_count, row + state), Product(relation_rows, relation_width, 3U));
  estimate.edges = 2 * std::min(RoundUp(kWindowEdges, batch), graph.train_edges) * sizeof(Edge);
  // Each chunk keeps its gradients until they are summed; a contribution is 16 bytes and its sort key as much.
  const std::uint64_t rows_of_batch = Sum(2 * batch, Product(2, chunks, negatives));
  estimate.gradients = Sum(Product(rows_of_batch, row + 48), Product(2, batch, relation_width),
                           Product(MaxTouchedRows(options, graph), row));
  // Gathered rows, queries and their gradients, scores of a side, transposes.
  const std::uint64_t worker = Sum(Product(6 * chunk + 4 * negatives, row), Product(2, chunk, negatives, sizeof(float)),
                                   Product(2, chunk, relation_width));
  estimate.workers = Product(static_cast<std::uint64_t>(std::max(1, threads)), worker);
  estimate.program = kProgramBytes;
  return estimate;
}

absl::Status CheckMemory(const MemoryEstimate& estimate, std::uint64_t limit) {
  if (estimate.total() <= limit) return absl::OkStatus();
  return UsageError(fmt::format(
      "training needs {} (tables {}, edges {}, gradients {}, workers {}, program {}) and --memory allows {}; the "
      "smallest --memory that would do is {}MiB. Tables larger than memory cannot be trained yet",
      FormatByteSize(estimate.total()), FormatByteSize(estimate.tables), FormatByteSize(estimate.edges),
      FormatByteSize(estimate.gradients), FormatByteSize(estimate.workers), FormatByteSize(estimate.program),
      FormatByteSize(limit), (estimate.total() >> 20) + 1));
}

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
