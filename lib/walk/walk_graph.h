// octavo walk: a graph becomes the graph of the pairs of nodes that come near each other on its walks.
//
// The training edges of the new graph are those pairs, weighted by how often each came, in the same cells as those of
// an import: training, evaluation and verification take it like any other graph. Its nodes, and so their ids and names,
// are those of the graph; valid and test edges are taken over as they are, and no walk steps on them.
//
// Where the neighbours of all nodes fit the memory, walks are taken from end to end; otherwise all of them step by
// step, those whose next step needs the same partitions together. Pairs that do not fit go through temporary files. The
// files are the same bytes for any number of threads and any memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "format/graph_description.h"
#include "walk/walk_options.h"
#include "walk/walk_plan.h"

namespace octavo {

struct WalkGraphOptions {
  std::filesystem::path graph{};   // the graph to walk on
  std::filesystem::path output{};  // the folder to make
  bool overwrite = false;
  WalkOptions walk{};
  std::uint64_t memory_bytes = 0;  // of everything that is held, page cache of its own files included; 0: no limit
  // In place of what memory_bytes would give: for tests.
  std::optional<WalkPlan> plan{};
  bool check_only = false;       // end behind all checks, with the graph that would be walked, and leave nothing
  std::function<bool()> stop{};  // may be empty; any thread. True: give up soon, with absl::CancelledError
};

struct WalkSummary {
  GraphDescription graph;
  std::uint64_t source_fingerprint = 0;  // of the graph that was walked
  std::uint64_t walks = 0;
  std::uint64_t pairs = 0;          // counted in one direction
  bool streamed = false;            // neighbours did not fit the memory
  std::uint64_t spilled_bytes = 0;  // written to temporary files
  double walk_seconds = 0;
  double write_seconds = 0;
};

struct WalkProgress {
  std::string_view stage;  // "walking" or "writing"
  std::string_view unit;   // of done and total: "walks" or "pairs"
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};

// Makes the folder. A graph of several relations is a usage error: a walk has no use for them. On any error nothing
// stands under the folder's name that was not there before. `progress` may be empty; from one thread at a time. Runs on
// TBB's workers.
absl::StatusOr<WalkSummary> MakeWalkGraph(const WalkGraphOptions& options,
                                          const std::function<void(const WalkProgress&)>& progress = nullptr);

// The options and counts as a JSON object, as graph.json has them: no times and no thread counts.
std::string WalkJson(const WalkOptions& options, const WalkSummary& summary);

}  // namespace octavo
