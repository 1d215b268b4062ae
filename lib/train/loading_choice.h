// Decides how a training's tables are loaded, by --exchange and the memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "graph/graph.h"
#include "plan/epoch_plan.h"
#include "run/options.h"
#include "tables/partition_loading.h"

namespace octavo {

// `auto` reads larger tables into huge pages even if memory has room to map them. The larger the table, the more TLB
// misses small pages cost; starting without reading is worth at most 3 % of the edges per second. Set this from
// `octavo bench tables`: the largest size whose column "mapped / direct" is at least 0.97 for rows of 100 floats.
// docs/partitions.md has the measured figures.
inline constexpr std::uint64_t kMostMappedBytes = std::uint64_t{256} << 20;

struct LoadingChoice {
  Loading loading = Loading::kDirect;
  std::string why;  // for the log: "as --exchange says"
};

// Returns how the tables of `graph`, divided by `shape`, are loaded with `memory` bytes. They are mapped only if all of
// them stay in memory and there is also room for their clean pages in the page cache: the tables once more, in addition
// to the estimate and the edges. The choice does not change the result, and the shape does not depend on it. `folder`
// is the run's; it need not exist yet.
LoadingChoice ChooseLoading(const TrainOptions& options, const Graph& graph, std::uint64_t memory, int threads,
                            const PartitionShape& shape, const std::filesystem::path& folder);

}  // namespace octavo
