// octavo walk: makes a graph of the pairs of nodes that are close to each other on random walks of another graph.
//
// The training edges of the new graph are these pairs, weighted by how often each occurred, in cells like those of an
// import: training, evaluation and verification use it like any other graph. It has the same nodes, ids and names as
// the walked graph. Valid and test edges are copied; walks do not use them.
//
// If the neighbours of all nodes fit the memory, each walk is taken from end to end. Otherwise all walks advance
// together, step by step, grouped by the partitions that their next step needs. Pairs that do not fit the memory go
// through temporary files. The bytes of the result do not depend on the number of threads or the memory.
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
  std::uint64_t memory_bytes = 0;  // of everything held, including its files in the page cache; 0: no limit
  // Replaces the plan that memory_bytes would give. For tests.
  std::optional<WalkPlan> plan{};
  bool check_only = false;       // end after all checks, return the graph that would be walked, and leave nothing
  std::function<bool()> stop{};  // may be empty; any thread. True: return absl::CancelledError soon
};

struct WalkSummary {
  GraphDescription graph;
  std::uint64_t source_fingerprint = 0;  // of the walked graph
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

// Makes the folder. A graph with several relations is a usage error: walks ignore relations. An error leaves nothing
// new under the folder's name. `progress` may be empty; one thread at a time calls it. Runs on TBB's workers.
absl::StatusOr<WalkSummary> MakeWalkGraph(const WalkGraphOptions& options,
                                          const std::function<void(const WalkProgress&)>& progress = nullptr);

// The options and counts as a JSON object for graph.json. Without times and thread counts.
std::string WalkJson(const WalkOptions& options, const WalkSummary& summary);

}  // namespace octavo
