// Every file name inside the folder of a graph, a run or a search.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/edge.h"

namespace octavo {

// "train", "valid" or "test".
std::string_view SplitName(Split split);

class GraphPaths {
 public:
  explicit GraphPaths(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path Description() const { return folder_ / "graph.json"; }
  std::filesystem::path NodeHashes() const { return folder_ / "nodes.hash"; }
  std::filesystem::path NodeNames() const { return folder_ / "nodes.names"; }
  std::filesystem::path NodeOffsets() const { return folder_ / "nodes.offsets"; }
  std::filesystem::path Relations() const { return folder_ / "relations.tsv"; }
  std::filesystem::path Cells(Split split) const;
  // The name of every file that a graph folder has: what --overwrite may replace.
  static std::vector<std::string> FileNames();

 private:
  std::filesystem::path folder_;
};

// The tables of a run. Each has two slots: `<name>.npy` (slot 0) and `<name>.other.npy` (slot 1).
enum class TableName { kEmbeddings, kOptimizer, kRelations, kRelationOptimizer };

class RunPaths {
 public:
  explicit RunPaths(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path Configuration() const { return folder_ / "run.json"; }
  std::filesystem::path State() const { return folder_ / "STATE"; }
  std::filesystem::path Metrics() const { return folder_ / "metrics.jsonl"; }
  std::filesystem::path Lock() const { return folder_ / "LOCK"; }
  // Scratch, made anew by each process: sums of gradients, the edges that are trained where these are not all, and
  // vectors on their way into the order of the nodes.
  std::filesystem::path Gradients() const { return folder_ / "gradients.map"; }
  std::filesystem::path TrainedEdges() const { return folder_ / "edges.cells"; }
  std::filesystem::path UnsortedVectors() const { return folder_ / "vectors.spill"; }
  // Empty. Of a warm start, which has events before its first commit: there until that, so without STATE nothing was
  // trained.
  std::filesystem::path Beginning() const { return folder_ / "beginning"; }
  // Empty. Of a run that replaces an older one together with a graph: there until both have their places, it says that
  // the run is the one that stands as soon as its graph has its name (train/run_exchange.h).
  std::filesystem::path Growth() const { return folder_ / "growth"; }
  // Which rows --init has given, where that matters on (format/known_rows.h).
  std::filesystem::path KnownRows() const { return folder_ / "known.rows"; }
  // The run of the best validation, a folder of its own.
  RunPaths Best() const { return RunPaths(folder_ / "best"); }
  // Where a run is made that is to take the place of this one once it is committed (checkpoint/run_replacement.h).
  RunPaths Replacement() const { return RunPaths(folder_ / ".replacement"); }
  // Where a copy of a run is made that is to take the place of this one.
  RunPaths Unfinished() const {
    return RunPaths(folder_.parent_path() / (folder_.filename().string() + ".unfinished"));
  }
  // embeddings.npy, optimizer.npy, relations.npy, relations.optimizer.npy and their .other.npy.
  // REQUIRES: slot is 0 or 1
  std::filesystem::path Table(TableName table, int slot) const;
  // The files that appear when they are whole: a kill can leave each under a temporary name (io/file.h: PartialPath).
  std::vector<std::filesystem::path> WrittenWhole() const { return {Configuration(), State(), KnownRows()}; }
  // Every file that a run can have: what --overwrite may remove.
  std::vector<std::filesystem::path> All() const;

 private:
  std::filesystem::path folder_;
};

// The folder of a search.
class SearchPaths {
 public:
  explicit SearchPaths(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path Log() const { return folder_ / "tune.jsonl"; }
  std::filesystem::path Preset() const { return folder_ / "best.toml"; }
  std::filesystem::path Lock() const { return folder_ / "LOCK"; }
  // The run of a trial: trial-000, trial-001, ...
  RunPaths Trial(std::uint64_t trial) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace octavo
