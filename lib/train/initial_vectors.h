// The rows that a new run takes over from an earlier run or from a file of vectors, by name: a warm start.
//
// Vectors are of nodes, mapped by name. A run gives its relations, too, by name where the model is the same, and the
// optimizer state of both where the optimizer is the same; with Adam's the number of its updates, which its estimates
// go by. What the source has not begins as in any other run. Neither side's names nor rows need to fit the memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cells/spill_file.h"
#include "format/known_rows.h"
#include "format/paths.h"
#include "graph/graph.h"
#include "train/initial_source.h"
#include "train/options.h"
#include "train/telemetry.h"
#include "train/trained_run.h"
#include "vectors/vectors_by_node.h"

namespace octavo {

// One owner; not for concurrent use.
class InitialVectors {
 public:
  // Opens the source and reads no vector. Other dimensions than the options' are a usage error, and so is a `memory`
  // that has no room for the program, the relations of both sides, the marks, and rows on their way; the rest of it
  // bounds what is held to bring vectors into order, beside paths.UnsortedVectors(). `stop`, which may be empty, is
  // asked as rows are taken over: true ends that with absl::CancelledError. Graph, options and paths are borrowed.
  static absl::StatusOr<std::unique_ptr<InitialVectors>> Open(const InitialSource& source, const Graph& graph,
                                                              const TrainOptions& options, std::uint64_t memory,
                                                              const RunPaths& paths, std::function<bool()> stop = {});

  // As of RowOverlay (checkpoint/run_tables.h): first all embeddings, then all of the optimizer state.
  absl::Status CopyEmbeddings(std::uint64_t first, std::span<float> rows);
  absl::Status CopyOptimizer(std::uint64_t first, std::span<float> rows);
  // Rows of the relation table and its optimizer state; those that the source has not stay as they are.
  void CopyRelation(std::uint64_t row, std::span<float> values);
  void CopyRelationState(std::uint64_t row, std::span<float> values) const;

  // To be called when all was copied: reads the source to its end, so that whatever is wrong with it is found, and
  // returns what came of it. A run that was committed meanwhile is an error: its rows would be of two moments.
  absl::StatusOr<InitialEvent> Finish();

  const KnownRows& known() const { return known_; }
  const std::function<bool()>& stop() const { return spill_.stop; }
  // Updates that the optimizer state has seen.
  std::uint64_t step() const { return state_ && options_.optimizer == OptimizerKind::kAdam ? state_->step : 0; }

 private:
  InitialVectors(InitialSource source, const Graph& graph, const TrainOptions& options, const RunPaths& paths,
                 std::function<bool()> stop);

  absl::Status OpenSource();
  absl::Status OpenRun();
  absl::Status ShareMemory(std::uint64_t memory);
  bool InOrder() const;
  std::uint64_t BesideBytes() const;
  absl::Status FinishEmbeddings();
  absl::Status CheckStop() const;
  absl::Status CheckDimensions(std::uint64_t columns) const;
  // Returns the source's row of relation row `row`.
  std::optional<std::uint64_t> SourceRelation(std::uint64_t row) const;
  absl::Status Sort(std::unique_ptr<VectorSource> source, std::unique_ptr<VectorsByNode>& vectors);
  std::unique_ptr<VectorSource> SourceOf(const TableReader& table, TableName name) const;

  const InitialSource source_;
  const Graph& graph_;
  const TrainOptions& options_;
  const RunPaths& paths_;
  std::uint64_t sort_bytes_ = 0;
  SpillUse spill_;
  std::optional<TrainedRun> run_;
  std::optional<TrainedState> state_;          // of run_, where it is taken over
  std::unique_ptr<VectorSource> file_;         // until it is sorted
  std::unique_ptr<VectorsByNode> embeddings_;  // until they are all read
  std::uint64_t vectors_ = 0;                  // of the source, from then on
  std::unique_ptr<VectorsByNode> optimizer_;
  KnownRows known_;
};

}  // namespace octavo
