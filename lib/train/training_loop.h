// The loop over epochs, states of the partition plan, and batches of one run, from its last commit to its last epoch.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/run_tables.h"
#include "format/known_rows.h"
#include "format/paths.h"
#include "graph/graph.h"
#include "plan/epoch_plan.h"
#include "plan/lane_plan.h"
#include "prefetch/batch_prefetcher.h"
#include "prefetch/partition_loader.h"
#include "run/options.h"
#include "run/telemetry.h"
#include "tables/mmap_gradient_accumulator.h"
#include "train/answer_weights.h"
#include "train/batch_schedule.h"
#include "train/epoch_course.h"
#include "train/lane_clock.h"
#include "train/lane_exchange.h"
#include "train/lane_rounds.h"
#include "train/loading_choice.h"
#include "train/place_nodes.h"
#include "train/team.h"
#include "train/team_exchange.h"
#include "train/team_tables.h"
#include "train/training_settings.h"

namespace octavo {

// One object per process and run; one thread. All arguments must outlive it.
class TrainingLoop {
 public:
  // `edges` are the edges of `graph` to train. `frozen` rows are not updated; null means none. `next_shape` is the
  // division of the tables from the next epoch on. `gradients` has capacity for a window of either division. `team` is
  // null unless several processes train the run; then all of them do the same.
  TrainingLoop(const Graph& graph, const CellReader& edges, const KnownRows* frozen, const TrainOptions& options,
               const RunPaths& paths, RunTables& tables, MmapGradientAccumulator& gradients,
               const PartitionShape& next_shape, const TrainSettings& settings, const TrainCallbacks& callbacks,
               Team* team = nullptr);

  // Trains to the last epoch, or until options.patience or settings.stop ends it. With `past_patience` it continues
  // after patience has stopped the run, and the patience count restarts. A disk error names the commit from which to
  // continue.
  absl::StatusOr<TrainOutcome> Run(bool past_patience);

 private:
  // Counts of the current epoch, in this process.
  struct EpochCounters {
    std::chrono::steady_clock::time_point begin{};
    std::uint64_t edges = 0;
    double commit_seconds = 0;
    std::uint64_t loads = 0;  // of groups of partitions
    std::uint64_t planned_loads = 0;
    Traffic planned_tables;
    Traffic tables_before;
    LaneClock lanes;
    std::uint64_t batches = 0;
  };

  absl::Status Prepare();
  absl::StatusOr<TrainOutcome> Train(bool past_patience);
  TrainOutcome OutcomeSoFar() const;
  absl::Status Validate();
  absl::Status FinishTables();
  std::uint64_t ValidationMemory() const;
  void DivideTables();
  void ChooseLoading();
  void MakePlanner();
  absl::Status PlanEpoch();
  EpochPosition Position() const;
  absl::Status BeginEpoch();
  absl::Status RunEpoch();
  absl::Status BeginRound(std::uint32_t round, std::size_t state);
  absl::StatusOr<bool> EndRound(std::uint32_t round, std::size_t state);
  absl::Status LeaveFor(std::uint32_t round, std::size_t state);
  absl::Status EnterState(std::size_t state);
  absl::Status RunState(const CourseState& state);
  absl::StatusOr<bool> EndsHere(bool last);
  // Of a batch of the epoch. REQUIRES: it ends its window
  float LearningRateOf(std::uint64_t batch);
  absl::Status RunBatch(std::uint64_t batch, bool ends_window);
  void ReportBatch() const;
  absl::Status CommitHere();
  absl::Status CommitTogether(TeamOrder order);
  void CountLanes(std::span<const LaneRecord> lanes, Progress& progress) const;
  absl::Status AppendEvent(EpochEvent& event, Progress& progress);
  absl::Status CommitEpoch();
  EpochEvent MakeEvent();
  absl::StatusOr<ValidationScores> ValidationScoresHere() const;
  void UseState(std::size_t state);
  bool WritesFolder() const { return team_ == nullptr || team_->WritesFolder(); }
  bool AskedToStop() const { return settings_.stop != nullptr && settings_.stop->load(std::memory_order_relaxed) != 0; }
  // A team stops together, after a commit.
  bool Stopping() const { return team_ == nullptr ? AskedToStop() : team_stops_; }
  bool CommitDue() const;
  PartitionShape shape() const {
    return {static_cast<std::uint32_t>(progress_.partitions), static_cast<std::uint32_t>(progress_.resident)};
  }

  const Graph& graph_;
  const CellReader& edges_;
  const KnownRows* const frozen_;
  const TrainOptions& options_;
  const RunPaths& paths_;
  RunTables& tables_;
  MmapGradientAccumulator& gradients_;
  const PartitionShape next_shape_;
  double mean_weight_ = 1;  // of the edges; losses and penalties are divided by it
  const TrainSettings& settings_;
  const TrainCallbacks& callbacks_;
  Progress progress_;      // all work done, committed or not
  LoadingChoice loading_;  // for partitions that are loaded from now on
  std::unique_ptr<EpochPlans> planner_;
  Team* const team_;  // or null
  bool team_stops_ = false;
  // Of the current epoch: the whole plan and, with a team, the next one; what this process has to train of it.
  EpochPlan whole_;
  std::optional<EpochPlan> next_whole_;
  EpochCourse course_;
  std::uint64_t first_step_ = 0;      // updates before the epoch
  std::uint64_t closed_batches_ = 0;  // with several lanes: in the rounds that have ended,
  std::uint64_t closed_edges_ = 0;
  BatchPrefetcher batches_;
  std::unique_ptr<TeamTables> team_tables_;  // with a team
  PartitionLoader partitions_;
  // With several lanes, else null.
  std::unique_ptr<LaneExchange> exchange_;
  TeamExchange* team_exchange_ = nullptr;  // if exchange_ is one
  std::unique_ptr<LaneRounds> lanes_;
  std::optional<PlaceNodes> places_;      // if options_.typed_fraction is not 0
  std::optional<AnswerWeights> answers_;  // if options_.answer_weighting is not 0
  std::unique_ptr<BatchSchedule> schedule_;
  std::unique_ptr<MetricsLog> metrics_;
  EpochCounters counters_;
  std::chrono::steady_clock::time_point last_commit_ = std::chrono::steady_clock::now();
};

}  // namespace octavo
