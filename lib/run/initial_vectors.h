// A warm start: the rows that a new run takes over, by name, from an earlier run or from a file of vectors.
//
// A file provides vectors for nodes, matched by name. A run also provides its relations, by name, if the model is the
// same, and the optimizer state of both if the optimizer is the same; with Adam also the number of updates, on which
// the bias correction depends. Rows that the source does not have are initialised as in any other run. Neither side's
// names or rows need to fit the memory.
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
#include "run/initial_source.h"
#include "run/options.h"
#include "run/telemetry.h"
#include "run/trained_run.h"
#include "vectors/vectors_by_node.h"

namespace octavo {

// One owner; not for concurrent use.
class InitialVectors {
 public:
  // Opens the source and reads no vectors. A usage error if the dimension differs from the options', or if `memory` is
  // too small for the program, the relations of both sides, the marks, and a step of rows. The rest of `memory` bounds
  // the sorting of vectors; more goes to paths.UnsortedVectors(). `stop`, which may be empty, is called while rows are
  // copied; true ends that with absl::CancelledError. Keeps references to graph, options and paths.
  static absl::StatusOr<std::unique_ptr<InitialVectors>> Open(const InitialSource& source, const Graph& graph,
                                                              const TrainOptions& options, std::uint64_t memory,
                                                              const RunPaths& paths, std::function<bool()> stop = {});

  // Called like RowOverlay (checkpoint/new_tables.h): all embeddings first, then all optimizer state.
  absl::Status CopyEmbeddings(std::uint64_t first, std::span<float> rows);
  absl::Status CopyOptimizer(std::uint64_t first, std::span<float> rows);
  // Copy a row of the relation table, and of its optimizer state. Rows that the source does not have are not changed.
  void CopyRelation(std::uint64_t row, std::span<float> values);
  void CopyRelationState(std::uint64_t row, std::span<float> values) const;

  // Call it after everything is copied. Reads the source to its end, so that any error in it is found, and returns a
  // summary. A run that has committed in the meantime is an error: its rows would be from two commits.
  absl::StatusOr<InitialEvent> Finish();

  const KnownRows& known() const { return known_; }
  const std::function<bool()>& stop() const { return spill_.stop; }
  // The number of updates that the optimizer state has seen.
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
  // Returns the source's row for relation row `row`.
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
  std::optional<TrainedState> state_;          // of run_, if it is taken over
  std::unique_ptr<VectorSource> file_;         // until it is sorted
  std::unique_ptr<VectorsByNode> embeddings_;  // until all are read
  std::uint64_t vectors_ = 0;                  // of the source, set when all are read
  std::unique_ptr<VectorsByNode> optimizer_;
  KnownRows known_;
};

}  // namespace octavo
