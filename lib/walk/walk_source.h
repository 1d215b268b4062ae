// What both ways of taking walks share: their input, and how work is distributed over threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/parallel.h"
#include "cells/spill_file.h"
#include "graph/cell_reader.h"
#include "walk/adjacency.h"
#include "walk/pair_counter.h"
#include "walk/walk_options.h"
#include "walk/walk_plan.h"

namespace octavo {

// Keeps references to everything.
struct WalkSource {
  const WalkOptions& options;
  const WalkPlan& plan;
  const CellReader& cells;              // the training edges
  const std::filesystem::path& folder;  // for temporary files
  SpillUse& use;
  const std::function<bool()>& stop;                                             // may be empty
  const std::function<void(std::uint64_t done, std::uint64_t total)>& progress;  // walks; may be empty

  std::uint64_t walks() const { return cells.header().node_count * options.walks_of_node(); }
  bool weighted() const { return cells.header().has_weights != 0; }
  absl::StatusOr<Adjacency> Rows(const PartitionRange& range) const {
    return Adjacency::Build(cells, range, options.both_ways);
  }
  absl::Status CheckStop() const { return stop && stop() ? absl::CancelledError("interrupted") : absl::OkStatus(); }
};

// Calls work(worker, i) for each i in [begin, end). Each worker (0 to workers - 1) runs on one thread at a time.
template <typename Work>
void ParallelWorkers(std::size_t workers, std::uint64_t begin, std::uint64_t end, const Work& work) {
  std::atomic<std::uint64_t> next = begin;
  ParallelEach(0, workers, [&](std::size_t worker) {
    // Relaxed: the counter orders no other data.
    for (std::uint64_t i = next.fetch_add(1, std::memory_order_relaxed); i < end;
         i = next.fetch_add(1, std::memory_order_relaxed)) {
      work(worker, i);
    }
  });
}

// Takes every walk from end to end, with the neighbours of all nodes in memory.
absl::Status TakeHeldWalks(const WalkSource& source, PairCounter& counter);

// Takes all walks step by step, those whose next step needs the same partitions together. Counts the same pairs.
absl::Status TakeStreamedWalks(const WalkSource& source, PairCounter& counter);

// The names of TakeStreamedWalks' temporary files. They exist only between creation and unlinking.
inline constexpr std::string_view kAdjacencyFileName = "adjacency.spill";
inline constexpr std::string_view kWalkerFileName = "walkers.spill";

}  // namespace octavo
