#include "train/loading_choice.h"

#include "base/byte_size.h"
#include "base/checked_math.h"
#include "fmt/format.h"
#include "format/cells.h"
#include "io/disk_probe.h"
#include "run/footprint.h"
#include "run/trained_edges.h"
#include "train/memory_estimate.h"

namespace octavo {
namespace {

// Whether memory has room for the tables twice.
bool FitTwice(const TrainOptions& options, const Graph& graph, std::uint64_t memory, int threads,
              const PartitionShape& shape, std::uint64_t table_bytes) {
  const GraphDescription& description = graph.description();
  constexpr bool kHoldAll = true;
  const std::uint64_t edges = MostTrainedEdges(options, description) * EdgeBytes(graph.Edges(Split::kTrain).header());
  const auto others = CheckedAdd(edges, table_bytes);
  const auto all =
      others ? CheckedAdd(*others, EstimateTrainingMemory(options, description, threads, shape, kHoldAll).total())
             : std::nullopt;
  return all && *all <= memory;
}

}  // namespace

LoadingChoice ChooseLoading(const TrainOptions& options, const Graph& graph, std::uint64_t memory, int threads,
                            const PartitionShape& shape, const std::filesystem::path& folder) {
  if (options.exchange == ExchangeMode::kDirect) return {Loading::kDirect, "as --exchange says"};
  if (!CanMapTables()) return {Loading::kDirect, "mapping tables requires Linux 5.14"};
  const bool automatic = options.exchange == ExchangeMode::kAuto;
  if (!HoldsAllTables(options, graph.description(), threads, shape, memory)) {
    if (!automatic) return {Loading::kPopulated, "as --exchange says, read at once as partitions come and go"};
    if (TakesDirectTransfers(folder)) return {Loading::kDirect, "partitions come and go past the page cache"};
    return {Loading::kPopulated, "the disk does not support reading past the page cache"};
  }
  const std::uint64_t bytes = graph.description().node_count * NodeBytes(options);
  const bool room = FitTwice(options, graph, memory, threads, shape, bytes);
  if (room && (!automatic || bytes <= kMostMappedBytes)) {
    return {Loading::kMapped, "nothing is read before the first batch"};
  }
  const std::string none = "--memory has no room for the clean pages of mapped tables";
  if (!automatic) return {Loading::kPopulated, "read at once: " + none};
  return {
      Loading::kDirect,
      room ? fmt::format("tables of more than {} train faster in huge pages", FormatByteSize(kMostMappedBytes)) : none};
}

}  // namespace octavo
