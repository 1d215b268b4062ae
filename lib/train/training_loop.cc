#include "train/training_loop.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/stopwatch.h"
#include "checkpoint/commit_copy.h"
#include "fmt/format.h"
#include "io/failpoint.h"
#include "optimize/learning_rate.h"
#include "run/validation.h"
#include "train/mean_weight.h"
#include "train/memory_estimate.h"
#include "train/node_groups.h"
#include "train/team_event.h"

namespace octavo {
namespace {

using Clock = std::chrono::steady_clock;

// The node ids of the partitions, with adjacent ranges merged.
std::vector<NodeRange> NodesOf(std::span<const PartitionId> partitions, const GraphDescription& graph) {
  std::vector<NodeRange> ranges;
  for (const PartitionId partition : partitions) {
    const std::uint64_t begin = Value(partition) * graph.partition_rows;
    const std::uint64_t end = std::min(begin + graph.partition_rows, graph.node_count);
    if (!ranges.empty() && ranges.back().end == begin) {
      ranges.back().end = end;
    } else {
      ranges.push_back({begin, end});
    }
  }
  return ranges;
}

bool LoadsPartitions(const PlannedState& state) { return !state.entering.empty(); }

}  // namespace

TrainingLoop::TrainingLoop(const Graph& graph, const CellReader& edges, const KnownRows* frozen,
                           const TrainOptions& options, const RunPaths& paths, RunTables& tables,
                           MmapGradientAccumulator& gradients, const PartitionShape& next_shape,
                           const TrainSettings& settings, const TrainCallbacks& callbacks, Team* team)
    : graph_(graph),
      edges_(edges),
      frozen_(frozen),
      options_(options),
      paths_(paths),
      tables_(tables),
      gradients_(gradients),
      next_shape_(next_shape),
      settings_(settings),
      callbacks_(callbacks),
      progress_(tables.progress()),
      team_(team),
      batches_(edges,
               {.seed = options.seed,
                .batch_edges = options.batch,
                .inverse_offset = options.InverseOffset(graph.relation_count())},
               options.prefetch),
      team_tables_(team == nullptr ? nullptr : std::make_unique<TeamTables>(*team, tables)),
      partitions_(
          [this](PartitionId partition) {
            return team_tables_ ? team_tables_->Load(partition) : tables_.LoadPartition(partition);
          },
          [this](PartitionId partition) {
            return team_tables_ ? team_tables_->Evict(partition) : tables_.EvictPartition(partition);
          }) {}

// Before the first batch: the parts that depend on what the run has done so far. A resumed run may be in the middle of
// an epoch, and keeps its division until that one ends.
absl::Status TrainingLoop::Prepare() {
  if (options_.lanes > 1) {
    if (team_ == nullptr) {
      exchange_ = std::make_unique<LocalExchange>(options_.optimizer_spec());
    } else {
      auto exchange = std::make_unique<TeamExchange>(
          *team_, options_.optimizer_spec(),
          TeamExchange::Waiting{.commit_due = [this] { return CommitDue(); },
                                .stopping = [this] { return AskedToStop(); },
                                .commit = [this](TeamOrder order) { return CommitTogether(order); }});
      team_exchange_ = exchange.get();
      exchange_ = std::move(exchange);
    }
    lanes_ = std::make_unique<LaneRounds>(tables_, *exchange_);
  }
  if (progress_.epoch < options_.epochs) {
    ASSIGN_OR_RETURN(mean_weight_, MeanWeight(edges_, [this] { return Stopping(); }));
  }
  if (options_.typed_fraction > 0) {
    ASSIGN_OR_RETURN(places_, PlaceNodes::Gather(graph_, options_.seed, [this] { return Stopping(); }));
  }
  if (options_.answer_weighting > 0 && progress_.epoch < options_.epochs) {
    ASSIGN_OR_RETURN(answers_, AnswerWeights::Gather(graph_.Edges(Split::kTrain), graph_.node_count(),
                                                     options_.answer_weighting, [this] { return Stopping(); }));
  }
  schedule_ = std::make_unique<BatchSchedule>(
      options_, graph_,
      StepTables{.embeddings = tables_.embeddings(),
                 .optimizer = tables_.optimizer(),
                 .relations = lanes_ ? lanes_->relations() : tables_.relations(),
                 .relation_optimizer = lanes_ ? lanes_->state() : tables_.relation_optimizer(),
                 .gradients = gradients_,
                 .frozen = frozen_,
                 .places = places_ ? &*places_ : nullptr,
                 .answers = answers_ ? &*answers_ : nullptr});
  if (WritesFolder()) {
    ASSIGN_OR_RETURN(MetricsLog log, MetricsLog::Open(paths_.Metrics(), progress_.metrics_bytes));
    metrics_ = std::make_unique<MetricsLog>(std::move(log));
  }
  if (progress_.batch == 0) DivideTables();
  ChooseLoading();
  MakePlanner();
  return absl::OkStatus();
}

// Whether tables are mapped, or read past the page cache. Repeated when the division changes.
void TrainingLoop::ChooseLoading() {
  loading_ = octavo::ChooseLoading(options_, graph_, settings_.memory, settings_.threads, shape(), paths_.folder());
  tables_.LoadBy(loading_.loading);
  if (callbacks_.on_loading) callbacks_.on_loading(loading_);
}

// Between two epochs: changes to the next shape.
void TrainingLoop::DivideTables() {
  if (shape() == next_shape_) return;
  progress_.partitions = next_shape_.partitions;
  progress_.resident = next_shape_.resident;
  progress_.plan_epoch = progress_.epoch;
  planner_ = nullptr;
}

// A planner is made for one division. Epochs count from the one in which the division began, so a resume plans the same
// states.
void TrainingLoop::MakePlanner() {
  if (planner_ != nullptr) return;
  planner_ =
      MakeEpochPlans(graph_.Edges(Split::kTrain),
                     {.lanes = static_cast<std::uint32_t>(options_.lanes),
                      .shape = shape(),
                      .order = options_.order,
                      .seed = options_.seed,
                      .first_epoch = progress_.plan_epoch,
                      .hold_all = team_ == nullptr && HoldsAllTables(options_, graph_.description(), settings_.threads,
                                                                     shape(), settings_.memory),
                      .ahead = options_.LoadsAhead()});
}

// Negatives are drawn only from nodes that are in memory, or that the lane has there. Each state is of one lane.
void TrainingLoop::UseState(std::size_t state) {
  const PlannedState planned = course_.plan().states[state];
  schedule_->SetResidentNodes(NodesOf(planned.NegativePartitions(), graph_.description()),
                              NodeGroups(NodesOf(planned.first_group, graph_.description()),
                                         ShareWithin(static_cast<std::uint32_t>(options_.lanes))));
  if (lanes_ == nullptr) return;
  const CourseState& place = course_.states()[state];
  counters_.lanes.Begin({.round = place.round, .lane = place.lane});
  lanes_->Begin(place.lane);
}

// How far the epoch is by the last commit, or the work after it.
EpochPosition TrainingLoop::Position() const {
  EpochPosition position{.batches = progress_.batch};
  if (lanes_ != nullptr && lanes_->open_round()) {
    position.round = *lanes_->open_round();
    position.lanes = lanes_->lanes();
  }
  return position;
}

// The plan of the next epoch is needed early: its first window is prefetched during the last one of this epoch, and a
// team sends partitions to their next owners.
absl::Status TrainingLoop::PlanEpoch() {
  course_ = {};  // before the next plan is made, as it can take megabytes
  whole_ = planner_->Plan(progress_.epoch);
  next_whole_.reset();
  const bool next_is_known = progress_.epoch + 1 < options_.epochs && shape() == next_shape_;
  if (next_is_known) next_whole_ = planner_->Plan(progress_.epoch + 1);
  batches_.BeginEpoch(progress_.epoch, whole_, next_whole_ && team_ == nullptr ? &*next_whole_ : nullptr);
  std::vector<std::uint64_t> first_batches;
  first_batches.reserve(whole_.states.size() + 1);
  for (std::size_t s = 0; s <= whole_.states.size(); ++s) first_batches.push_back(batches_.FirstBatch(s));
  const LaneRange lanes =
      team_ == nullptr ? LaneRange{.end = static_cast<std::uint32_t>(options_.lanes)} : team_->lanes();
  const EpochPosition position = Position();
  const bool keep_lanes = team_ != nullptr && HoldsLanes(options_, graph_.description(), settings_.threads, shape(),
                                                         lanes.end - lanes.first, settings_.memory);
  course_ = EpochCourse(whole_, std::move(first_batches), options_.accumulate, lanes, position, keep_lanes);
  if (team_ != nullptr) batches_.Skip(course_.Skipped());
  first_step_ = progress_.step - course_.StepsBefore(position);
  closed_batches_ = progress_.batch;
  closed_edges_ = progress_.epoch_edges;
  for (const LaneRecord& lane : position.lanes) {
    closed_batches_ -= lane.batches;
    closed_edges_ -= lane.edges;
  }
  if (team_tables_) team_tables_->BeginEpoch(whole_, next_whole_ ? &*next_whole_ : nullptr, course_);
  return BeginEpoch();
}

// Notes what the plan expects from here on; the event compares it with what was done.
absl::Status TrainingLoop::BeginEpoch() {
  counters_ = {};
  counters_.begin = Clock::now();
  counters_.tables_before = {tables_.bytes_read(), tables_.bytes_written()};
  return absl::OkStatus();
}

// An epoch is a sequence of states, with several lanes round by round. Each has its resident partitions and trains all
// batches of edges between them; between two states partitions are exchanged.
absl::Status TrainingLoop::RunEpoch() {
  RETURN_IF_ERROR(PlanEpoch());
  std::size_t state = 0;
  for (std::uint32_t round = course_.first_round(); round < course_.rounds(); ++round) {
    RETURN_IF_ERROR(BeginRound(round, state));
    for (; state < course_.states().size() && course_.states()[state].round == round; ++state) {
      RETURN_IF_ERROR(EnterState(state));
      RETURN_IF_ERROR(RunState(course_.states()[state]));
      // A stop after the last batch is the end of the epoch, below. A team has made its commit.
      if (Stopping() && team_ != nullptr) return absl::OkStatus();
      if (Stopping() && progress_.batch != batches_.BatchCount()) return CommitHere();
    }
    ASSIGN_OR_RETURN(const bool ended, EndRound(round, state));
    if (!ended) return absl::OkStatus();
  }
  return CommitEpoch();
}

// With a team: frees what another rank may have from now on, which is all but the partitions of the next state if that
// is in `round`.
absl::Status TrainingLoop::LeaveFor(std::uint32_t round, std::size_t state) {
  if (team_ == nullptr) return absl::OkStatus();
  const bool in_round = state < course_.states().size() && course_.states()[state].round == round;
  return partitions_.Leave(in_round ? course_.plan().states[state].resident : std::span<const PartitionId>());
}

absl::Status TrainingLoop::BeginRound(std::uint32_t round, std::size_t state) {
  if (lanes_ == nullptr) return absl::OkStatus();
  if (lanes_->open_round() != round) lanes_->Open(round);
  if (team_ == nullptr) return absl::OkStatus();
  if (round == course_.first_round()) RETURN_IF_ERROR(LeaveFor(round, state));
  team_tables_->BeginRound(round);
  return absl::OkStatus();
}

// `state` is the next one. Partitions leave before this process waits for the others, which may need them to go on.
absl::StatusOr<bool> TrainingLoop::EndRound(std::uint32_t round, std::size_t state) {
  if (lanes_ == nullptr) return true;
  counters_.lanes.End();
  RETURN_IF_ERROR(LeaveFor(round + 1, state));
  ASSIGN_OR_RETURN(const bool ended, lanes_->End(progress_));
  if (!ended) return false;
  for (const LaneRecord& lane : lanes_->lanes()) {
    closed_batches_ += lane.batches;
    closed_edges_ += lane.edges;
  }
  progress_.batch = closed_batches_;
  progress_.epoch_edges = closed_edges_;
  return true;
}

// Brings the state's partitions into memory; the first one of the epoch needs more, if others ended the last one.
absl::Status TrainingLoop::EnterState(std::size_t state) {
  if (team_tables_) team_tables_->Enter(state);
  UseState(state);
  if (state > 0) {
    RETURN_IF_ERROR(partitions_.Advance());
    if (LoadsPartitions(course_.plan().states[state])) ++counters_.loads;
    return absl::OkStatus();
  }
  const EpochPlan& plan = course_.plan();
  RETURN_IF_ERROR(partitions_.Begin(plan, 0));
  const std::vector<PartitionId>& first_loads = partitions_.first_loads();
  counters_.loads = !first_loads.empty() ? std::min(shape().resident, shape().partitions) : 0;
  counters_.planned_loads = counters_.loads + plan.exchanges;
  counters_.planned_tables = PlannedTraffic(
      plan, [this](PartitionId p) { return tables_.PartitionBytes(p); }, 0, first_loads);
  return absl::OkStatus();
}

// Trains the batches of one state, or stops earlier.
absl::Status TrainingLoop::RunState(const CourseState& state) {
  for (std::uint64_t batch = state.first_batch; batch < state.end_batch; ++batch) {
    RETURN_IF_ERROR(Failpoint("train.batch"));
    RETURN_IF_ERROR(tables_.CheckLoaded());  // of mapped rows, whose checksums are verified in the background
    // A window ends with its state, as its rows may be evicted.
    const bool ends_window = (batch + 1) % options_.accumulate == 0 || batch + 1 == state.end_batch;
    RETURN_IF_ERROR(RunBatch(batch, ends_window));
    if (!ends_window) continue;
    ReportBatch();
    ASSIGN_OR_RETURN(const bool ends, EndsHere(batch + 1 == batches_.BatchCount()));
    if (ends) break;
  }
  return schedule_->CheckRows();
}

// After a window: the tables are consistent, so a commit or a stop can be here, and only here.
absl::StatusOr<bool> TrainingLoop::EndsHere(bool last) {
  if (team_ != nullptr) {
    ASSIGN_OR_RETURN(const TeamOrder order, team_->NextOrder(CommitDue(), AskedToStop()));
    if (order != TeamOrder::kGoOn) RETURN_IF_ERROR(CommitTogether(order));
    return team_stops_;
  }
  if (Stopping()) return true;
  if (!last && CommitDue()) RETURN_IF_ERROR(CommitHere());
  return false;
}

float TrainingLoop::LearningRateOf(std::uint64_t batch) {
  const std::uint64_t count = batches_.BatchCount();
  return LearningRateAt(options_.learning_rate_schedule, static_cast<float>(options_.learning_rate),
                        {.batch = progress_.epoch * count + batch,
                         .total_batches = options_.epochs * count,
                         .warmup_batches = options_.warmup_epochs * static_cast<double>(count),
                         .plateau_factor = PlateauFactor(options_, tables_.validation())});
}

// One batch: fetches its edges, trains them and counts. Only a batch that ends its window updates rows, so only it has
// a step and a learning rate.
absl::Status TrainingLoop::RunBatch(std::uint64_t batch, bool ends_window) {
  RETURN_IF_ERROR(batches_.Advance(batch));
  BatchTask task{.place = {.epoch = progress_.epoch, .batch = batch}, .edges = batches_.Batch()};
  task.ends_window = ends_window;
  if (ends_window) {
    task.learning_rate = LearningRateOf(batch);
    task.step = first_step_ + course_.StepsBefore(batch + 1);
    progress_.step = task.step;  // without lanes; with several see CountLanes
  }
  ASSIGN_OR_RETURN(ChunkLoss loss, schedule_->Train(task));
  loss.loss /= mean_weight_;
  loss.penalty /= mean_weight_;
  // These sums are part of a commit: an epoch that was interrupted reports the loss of all its batches.
  const std::uint64_t edges = task.edges.size() / options_.EntriesPerEdge();
  if (lanes_ != nullptr) {
    lanes_->Count(edges, loss.loss, loss.penalty);
  } else {
    progress_.epoch_loss += loss.loss;
    progress_.epoch_penalty += loss.penalty;
  }
  progress_.epoch_edges += edges;
  ++progress_.batch;
  counters_.edges += edges;
  ++counters_.batches;
  return absl::OkStatus();
}

// Of a team, each process has about the same share of the epoch.
void TrainingLoop::ReportBatch() const {
  if (!callbacks_.on_batch) return;
  double loss = progress_.epoch_loss;
  std::uint64_t edges = progress_.epoch_edges;
  if (lanes_ != nullptr) {
    edges = closed_edges_;
    for (const LaneRecord& lane : lanes_->lanes()) {
      loss += lane.loss;
      edges += lane.edges;
    }
  }
  std::uint64_t batch = progress_.batch;
  std::uint64_t batches = batches_.BatchCount();
  if (team_ != nullptr) {
    batches = course_.batches();
    batch = counters_.batches;
  }
  callbacks_.on_batch({.epoch = progress_.epoch + 1,
                       .epochs = options_.epochs,
                       .batch = batch,
                       .batches = batches,
                       .edges = edges,
                       .loss = loss / (2.0 * static_cast<double>(edges))});
}

bool TrainingLoop::CommitDue() const {
  if (settings_.commit != nullptr && settings_.commit->exchange(false, std::memory_order_relaxed)) return true;
  return options_.checkpoint_minutes > 0 && SecondsSince(last_commit_) >= options_.checkpoint_minutes * 60;
}

// The progress of all lanes, within a round.
void TrainingLoop::CountLanes(std::span<const LaneRecord> lanes, Progress& progress) const {
  progress.batch = closed_batches_;
  progress.epoch_edges = closed_edges_;
  for (const LaneRecord& lane : lanes) {
    progress.batch += lane.batches;
    progress.epoch_edges += lane.edges;
  }
  progress.step = first_step_ + course_.StepsBefore({.round = lanes_->open_round().value(), .lanes = lanes});
}

// A commit in the middle of an epoch. The exchange under way must have ended, because it writes to the slots that the
// new manifest will name.
absl::Status TrainingLoop::CommitHere() {
  const Clock::time_point begin = Clock::now();
  const absl::Status exchange = partitions_.Wait();
  RETURN_IF_ERROR(schedule_->CheckRows());
  if (team_tables_) RETURN_IF_ERROR(team_tables_->Settle());
  if (lanes_ != nullptr) lanes_->Keep();
  const auto seal = [this](Progress& next) {
    if (lanes_ != nullptr) CountLanes(tables_.next_lanes(), next);
    return absl::OkStatus();
  };
  // After a failed eviction the commit fails too; return the eviction's error, which names the cause. A failed load
  // does not matter yet.
  if (absl::Status status = tables_.Commit(progress_, seal); !status.ok()) return exchange.ok() ? status : exchange;
  counters_.commit_seconds += SecondsSince(begin);
  last_commit_ = Clock::now();
  if (callbacks_.on_commit) callbacks_.on_commit(tables_.generation());
  return absl::OkStatus();
}

absl::Status TrainingLoop::CommitTogether(TeamOrder order) {
  RETURN_IF_ERROR(CommitHere());
  if (order == TeamOrder::kCommitAndStop) team_stops_ = true;
  return absl::OkStatus();
}

// What the epoch took and moved, beside what the plan expected. Reading the counters sets them to zero.
EpochEvent TrainingLoop::MakeEvent() {
  const FetchCounts fetch = batches_.TakeCounts();
  const auto [exchange, exchange_stall] = partitions_.TakeFetchAndStallSeconds();
  const StepTimes times = schedule_->TakeTimes();
  const double sides = 2.0 * static_cast<double>(progress_.epoch_edges);
  const std::uint64_t edge_bytes = counters_.edges * EdgeBytes(edges_.header());
  EpochEvent event;
  event.epoch = progress_.epoch + 1;
  event.loss = progress_.epoch_loss / sides;
  event.penalty = progress_.epoch_penalty / sides;
  event.edges = progress_.epoch_edges;
  // Of the epoch's last batch, which another process may have trained.
  event.learning_rate = LearningRateOf(batches_.BatchCount() - 1);
  event.seconds = SecondsSince(counters_.begin);
  event.edges_per_second = static_cast<double>(counters_.edges) / event.seconds;
  event.fetch_seconds = fetch.fetch_seconds;
  event.exchange_seconds = exchange;
  event.compute_seconds = times.compute_seconds;
  event.apply_seconds = times.apply_seconds;
  event.stall_seconds = fetch.stall_seconds + exchange_stall;
  event.windows = fetch.windows;
  event.prefetched_windows = fetch.prefetched_windows;
  event.commit_seconds = counters_.commit_seconds;
  event.partitions = progress_.partitions;
  event.resident = progress_.resident;
  event.exchange = loading_.loading;
  event.lanes = options_.lanes;
  if (lanes_ != nullptr) {
    event.rounds = counters_.lanes.rounds();
    event.slowest_lane_seconds = counters_.lanes.SlowestSeconds();
    event.lane_balance = counters_.lanes.Balance(options_.lanes);
  }
  if (team_ != nullptr) {
    const MovedCounts moved = team_tables_->TakeCounts();
    event.moved_bytes = moved.bytes_sent;
    event.moving_seconds = moved.send_seconds;
    // A partition that is awaited in the background costs only what training waits for it.
    event.waited_seconds = std::min(moved.wait_seconds, exchange_stall) + team_exchange_->TakeWaitSeconds();
  }
  event.partition_loads = counters_.loads;
  event.planned_partition_loads = counters_.planned_loads;
  event.planned_read_bytes = counters_.planned_tables.read + edge_bytes;
  event.read_bytes = tables_.bytes_read() - counters_.tables_before.read + fetch.read_bytes;
  event.planned_written_bytes = counters_.planned_tables.written + tables_.relation_bytes();
  if (team_tables_) event.planned_written_bytes += team_tables_->planned_received();
  event.written_bytes = tables_.bytes_written() - counters_.tables_before.written;
  event.peak_rss_bytes = PeakResidentBytes();
  event.memory_bytes = settings_.memory;
  return event;
}

// The commit at the end of an epoch. The event is appended to the log first, and the manifest has the length of the
// log: after a kill between the two, a resume cuts the event off again and repeats the commit.
absl::Status TrainingLoop::CommitEpoch() {
  const Clock::time_point begin = Clock::now();
  RETURN_IF_ERROR(partitions_.Wait());
  RETURN_IF_ERROR(schedule_->CheckRows());
  if (team_tables_) RETURN_IF_ERROR(team_tables_->Settle());
  if (lanes_ != nullptr) lanes_->KeepNone();
  if (settings_.commit != nullptr) settings_.commit->store(false, std::memory_order_relaxed);  // this is the commit
  EpochEvent event;
  const auto seal = [&](Progress& next) -> absl::Status {
    counters_.commit_seconds += SecondsSince(begin);
    event = MakeEvent();
    return AppendEvent(event, next);
  };
  RETURN_IF_ERROR(tables_.Commit(Progress{.epoch = progress_.epoch + 1,
                                          .step = first_step_ + course_.StepsBefore(batches_.BatchCount()),
                                          .partitions = progress_.partitions,
                                          .resident = progress_.resident,
                                          .plan_epoch = progress_.plan_epoch},
                                 seal));
  progress_ = tables_.progress();
  if (shape() != next_shape_) {
    DivideTables();
    ChooseLoading();
  }
  MakePlanner();
  last_commit_ = Clock::now();
  if (callbacks_.on_epoch) callbacks_.on_epoch(event);
  return absl::OkStatus();
}

// Appends the event of an epoch to the log. The events of a team are one, told by rank 0, which also says whether the
// team stops.
absl::Status TrainingLoop::AppendEvent(EpochEvent& event, Progress& progress) {
  if (team_ != nullptr) {
    ASSIGN_OR_RETURN(const bool stops, ShareEvent(*team_, AskedToStop(), counters_.lanes, event));
    team_stops_ = stops;
  }
  if (metrics_ == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(metrics_->Append(event));
  progress.metrics_bytes = metrics_->bytes();
  return options_.durability == Durability::kFull ? metrics_->Sync() : absl::OkStatus();
}

// The estimate's memory for a validation, plus unused memory up to a useful amount.
std::uint64_t TrainingLoop::ValidationMemory() const {
  constexpr std::uint64_t kEnough = std::uint64_t{1} << 30;
  const bool hold_all = HoldsAllTables(options_, graph_.description(), settings_.threads, shape(), settings_.memory);
  const MemoryEstimate estimate =
      EstimateTrainingMemory(options_, graph_.description(), settings_.threads, shape(), hold_all);
  const std::uint64_t others = estimate.total() - estimate.validation;
  return std::max(estimate.validation, std::min(kEnough, settings_.memory - std::min(settings_.memory, others)));
}

// Of a team, rank 0 ranks the split and tells the scores.
absl::StatusOr<ValidationScores> TrainingLoop::ValidationScoresHere() const {
  absl::StatusOr<ValidationScores> scores = ValidationScores();
  if (team_ == nullptr || team_->first()) {
    scores = settings_.validate(paths_.folder(), options_, ValidationMemory());
  }
  return team_ == nullptr ? scores : ShareScores(*team_, scores);
}

// Ranks the valid split with the rows of the last commit, at the end of an epoch. Keeps a copy of the rows if they are
// the best, and commits the outcome. After a kill before that commit, the validation is repeated.
absl::Status TrainingLoop::Validate() {
  RETURN_IF_ERROR(Failpoint("train.validate"));
  if (!settings_.validate) return absl::InternalError("no validator");
  const Clock::time_point begin = Clock::now();
  RETURN_IF_ERROR(partitions_.Wait());
  const absl::StatusOr<ValidationScores> scores = ValidationScoresHere();
  if (absl::IsCancelled(scores.status()) && Stopping()) return absl::OkStatus();  // a resume repeats it
  if (!scores.ok()) return scores.status();
  const ValidationProgress after = AfterValidation(options_, tables_.validation(), progress_.epoch, scores->mrr);
  const ValidationEvent event = {.epoch = progress_.epoch,
                                 .scores = *scores,
                                 .seconds = SecondsSince(begin),
                                 .best_epoch = after.best_epoch,
                                 .best_mrr = after.best_mrr,
                                 .learning_rate_factor = PlateauFactor(options_, after)};
  const bool sync = options_.durability == Durability::kFull;
  if (options_.keep == Keep::kBest && after.best_epoch == progress_.epoch && WritesFolder()) {
    RETURN_IF_ERROR(CopyCommit(paths_, paths_.Best(), {.validation = after, .event = ToJson(event)}, sync));
  }
  const auto seal = [&](Progress& next) -> absl::Status {
    if (metrics_ == nullptr) return absl::OkStatus();
    RETURN_IF_ERROR(metrics_->Append(event));
    next.metrics_bytes = metrics_->bytes();
    return sync ? metrics_->Sync() : absl::OkStatus();
  };
  RETURN_IF_ERROR(tables_.CommitValidation(after, seal));
  progress_.metrics_bytes = tables_.progress().metrics_bytes;
  last_commit_ = Clock::now();
  if (callbacks_.on_validation) callbacks_.on_validation(event);
  return absl::OkStatus();
}

// Alternates epochs and validations until the epochs are done, validations end the training early, or somebody stops
// it.
absl::StatusOr<TrainOutcome> TrainingLoop::Train(bool past_patience) {
  if (absl::Status status = Prepare(); absl::IsCancelled(status) && Stopping()) {
    return OutcomeSoFar();  // as if it had been stopped before its first batch
  } else if (!status.ok()) {
    return status;
  }
  const auto stops_early = [&] {
    return progress_.batch == 0 && StopsEarly(options_, tables_.validation(), progress_.epoch);
  };
  // More epochs were asked for explicitly, so the count of validations without a better one starts again.
  if (past_patience && stops_early()) {
    const ValidationProgress patient = WithNewPatience(tables_.validation());
    if (absl::Status status = tables_.CommitValidation(patient, {}); !status.ok()) return status;
  }
  while (true) {
    // A validation that a kill prevented is still due here.
    const bool due = progress_.batch == 0 && IsValidationDue(options_, tables_.validation(), progress_.epoch);
    if (due && !Stopping()) {
      if (absl::Status status = Validate(); !status.ok()) return status;
    }
    if (progress_.epoch >= options_.epochs || stops_early() || Stopping()) break;
    if (absl::Status status = RunEpoch(); !status.ok()) return status;
  }
  const bool stopped_early = stops_early();
  const bool validated = progress_.batch > 0 || !IsValidationDue(options_, tables_.validation(), progress_.epoch);
  const bool finished = (progress_.epoch >= options_.epochs && validated) || stopped_early;
  // Only the first slots remain: the folder then has the files that other programs read and nothing else.
  if (finished) {
    if (absl::Status status = partitions_.Wait(); !status.ok()) return status;
    if (absl::Status status = FinishTables(); !status.ok()) return status;
  }
  TrainOutcome outcome = OutcomeSoFar();
  outcome.finished = finished;
  outcome.stopped_early = stopped_early && progress_.epoch < options_.epochs;
  return outcome;
}

// A team first brings all rows to the folder of rank 0.
absl::Status TrainingLoop::FinishTables() {
  if (team_ != nullptr && team_->folders() > 1) {
    RETURN_IF_ERROR(partitions_.Leave({}));
    RETURN_IF_ERROR(team_tables_->BringHome());
    RETURN_IF_ERROR(tables_.Commit(progress_));
  }
  return tables_.Finish();
}

// Of a training that is not finished.
TrainOutcome TrainingLoop::OutcomeSoFar() const {
  return {.finished = false,
          .stopped_early = false,
          .kept_best = options_.keep == Keep::kBest,
          .validation = tables_.validation(),
          .generation = tables_.generation(),
          .epochs_done = progress_.epoch};
}

absl::StatusOr<TrainOutcome> TrainingLoop::Run(bool past_patience) {
  absl::StatusOr<TrainOutcome> outcome = Train(past_patience);
  if (outcome.ok() || !IsSystemError(outcome.status())) return outcome;
  return RuntimeError(fmt::format("{}; generation {} is committed; then continue with: octavo resume --run {}",
                                  MessageOf(outcome.status()), tables_.generation(), paths_.folder().string()));
}

}  // namespace octavo
