// Every file name inside the folder of a graph, a run or a tuning search.
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
  // Labels, only in graphs that have any (graph_description.h).
  std::filesystem::path NodeLabels() const { return folder_ / "nodes.labels"; }
  std::filesystem::path NodeLabelOffsets() const { return folder_ / "nodes.labels.offsets"; }
  std::filesystem::path NodeLabelHashes() const { return folder_ / "nodes.labels.hash"; }
  std::filesystem::path NodeLabelOrder() const { return folder_ / "nodes.labels.order"; }
  std::filesystem::path RelationLabels() const { return folder_ / "relations.labels"; }
  // The name of every file in a graph folder: what --overwrite may replace.
  static std::vector<std::string> FileNames();
  // Those that every graph has, and those of labels.
  static std::vector<std::string> NeededFileNames();
  static std::vector<std::string> LabelFileNames();

 private:
  std::filesystem::path folder_;
};

// The tables of a run. Each has two slots: `<name>.npy` (slot 0) and `<name>.other.npy` (slot 1).
// The last two have the relations of all lanes while a run in lanes is within a round.
enum class TableName {
  kEmbeddings,
  kOptimizer,
  kRelations,
  kRelationOptimizer,
  kLaneRelations,
  kLaneRelationOptimizer
};

class RunPaths {
 public:
  explicit RunPaths(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path Configuration() const { return folder_ / "run.json"; }
  std::filesystem::path State() const { return folder_ / "STATE"; }
  std::filesystem::path Metrics() const { return folder_ / "metrics.jsonl"; }
  std::filesystem::path Lock() const { return folder_ / "LOCK"; }
  // Locked by the other processes that train a run with the one that has the lock.
  std::filesystem::path Ranks() const { return folder_ / "RANKS"; }
  // Scratch files, made anew by each process: sums of gradients; the trained edges where these are a subset; vectors
  // that are being sorted into node order.
  std::filesystem::path Gradients() const { return folder_ / "gradients.map"; }
  std::filesystem::path TrainedEdges() const { return folder_ / "edges.cells"; }
  // The same of a process that shares the folder with others. It removes the names as soon as it has the files open.
  std::filesystem::path GradientsOf(std::uint32_t rank) const;
  std::filesystem::path TrainedEdgesOf(std::uint32_t rank) const;
  std::filesystem::path UnsortedVectors() const { return folder_ / "vectors.spill"; }
  // An empty file that marks a warm start before its first commit. Such a run already has events; without STATE nothing
  // was trained.
  std::filesystem::path Beginning() const { return folder_ / "beginning"; }
  // An empty file in a run that replaces an older run together with its graph, until both are in place. It means: this
  // run is the valid one as soon as its graph has its final name (run/run_exchange.h).
  std::filesystem::path Growth() const { return folder_ / "growth"; }
  // The rows initialised by --init, if that matters later (format/known_rows.h).
  std::filesystem::path KnownRows() const { return folder_ / "known.rows"; }
  // The run of the best validation, in its own folder.
  RunPaths Best() const { return RunPaths(folder_ / "best"); }
  // Where a run is made that will replace this one after its first commit (checkpoint/run_replacement.h).
  RunPaths Replacement() const { return RunPaths(folder_ / ".replacement"); }
  // Where a copy of a run is made that will replace this one.
  RunPaths Unfinished() const {
    return RunPaths(folder_.parent_path() / (folder_.filename().string() + ".unfinished"));
  }
  // embeddings.npy, optimizer.npy, relations.npy, relations.optimizer.npy, relations.lanes.npy,
  // relations.lanes.optimizer.npy and their .other.npy.
  // REQUIRES: slot is 0 or 1
  std::filesystem::path Table(TableName table, int slot) const;
  // The files that are replaced atomically: a kill can leave each under a temporary name (io/file.h: PartialPath).
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
  // Locked by the other processes that train a run with the one that has the lock.
  std::filesystem::path Ranks() const { return folder_ / "RANKS"; }
  // The run of a trial: trial-000, trial-001, ...
  RunPaths Trial(std::uint64_t trial) const;
  // Of a search that holds edges out itself: the graph without them, and the best trial's run on all edges.
  std::filesystem::path Graph() const { return folder_ / "graph"; }
  RunPaths WholeRun() const { return RunPaths(folder_ / "run"); }

 private:
  std::filesystem::path folder_;
};

}  // namespace octavo
