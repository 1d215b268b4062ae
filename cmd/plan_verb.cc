// octavo plan: what a training will hold in memory, transfer and take, before it begins.

#include <CLI/App.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/count_text.h"
#include "base/duration.h"
#include "base/json_escape.h"
#include "base/status.h"
#include "cmd/compared_choice.h"
#include "cmd/flags.h"
#include "cmd/interrupt.h"
#include "cmd/limits.h"
#include "cmd/output_target.h"
#include "cmd/plan_machines.h"
#include "cmd/program.h"
#include "cmd/rate_flag.h"
#include "cmd/train_flags.h"
#include "cmd/training.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "run/trainable.h"
#include "train/trainer.h"
#include "train/training_plan.h"
#include "tune/short_trials.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

struct PlanFlags {
  TrainFlags train;
  std::string run;
  bool json = false;
  bool what_if = false;
  bool no_probe = false;
  std::uint64_t machines = 0;  // 0: nothing is said about several
  double network = 125e6;      // 1 Gbit/s
};

// A budget and its plan, if there is one.
struct Row {
  std::uint64_t memory = 0;
  absl::StatusOr<TrainingPlan> plan;
};

void PrintTable(const std::vector<Row>& rows, const std::optional<MachineRates>& rates, const TrainOptions& options) {
  const std::string epochs = CountText(options.epochs, "epoch");
  const auto line = [&](std::string_view name, const auto& text) {
    fmt::print("{:<26}", name);
    for (const Row& row : rows) fmt::print("{:>18}", row.plan.ok() ? text(*row.plan) : std::string("-"));
    fmt::print("\n");
  };
  const auto bytes = [](std::uint64_t count) { return FormatByteSize(count); };
  fmt::print("{:<26}", "memory");
  for (const Row& row : rows) fmt::print("{:>18}", bytes(row.memory));
  fmt::print("\n");
  line("  needed", [&](const TrainingPlan& p) { return bytes(p.estimate.total()); });
  if (options.lanes > 1) {
    line("lanes", [&](const TrainingPlan&) { return fmt::format("{}", options.lanes); });
    line("  rounds per epoch", [&](const TrainingPlan&) { return fmt::format("{}", 2 * options.lanes - 1); });
    line("  balance", [](const TrainingPlan& p) { return fmt::format("{:.2f}", p.lane_balance); });
  }
  line(options.lanes > 1 ? "partitions of a lane" : "partitions",
       [](const TrainingPlan& p) { return fmt::format("{}", p.shape.partitions); });
  line("  resident", [](const TrainingPlan& p) { return fmt::format("{}", p.shape.resident); });
  line("  bytes of one", [&](const TrainingPlan& p) { return bytes(p.largest_partition_bytes); });
  line("exchange", [](const TrainingPlan& p) { return std::string(LoadingName(p.loading.loading)); });
  line("embeddings of", [&](const TrainingPlan&) { return std::string(ElementName(options.storage)); });
  line("loads per epoch", [](const TrainingPlan& p) { return fmt::format("{}", p.epoch_loads); });
  line("  the first", [](const TrainingPlan& p) { return fmt::format("{}", p.first_epoch_loads); });
  line("read per epoch", [&](const TrainingPlan& p) { return bytes(p.epoch.read); });
  line("written per epoch", [&](const TrainingPlan& p) { return bytes(p.epoch.written); });
  line("read in " + epochs, [&](const TrainingPlan& p) { return bytes(p.training.read); });
  line("written in " + epochs, [&](const TrainingPlan& p) { return bytes(p.training.written); });
  line("disk space", [&](const TrainingPlan& p) { return bytes(p.disk_bytes); });
  line("  when done", [&](const TrainingPlan& p) { return bytes(p.disk_bytes_after); });
  if (!rates) return;
  line("expected per epoch", [](const TrainingPlan& p) { return DurationText(p.epoch_seconds); });
  line("expected for " + epochs, [](const TrainingPlan& p) { return DurationText(p.seconds); });
  fmt::print("\nmeasured: disk {}/s read, {}/s written; training {:.0f} edges/s with everything resident\n",
             bytes(static_cast<std::uint64_t>(rates->disk_read)), bytes(static_cast<std::uint64_t>(rates->disk_write)),
             rates->training);
}

Json RowJson(const Row& row, std::uint64_t lanes) {
  Json json = {{"memory_bytes", row.memory}};
  if (!row.plan.ok()) {
    json["error"] = std::string(MessageOf(row.plan.status()));
    return json;
  }
  const TrainingPlan& plan = *row.plan;
  json.update(
      {{"needed_bytes", plan.estimate.total()},
       {"partitions", plan.shape.partitions},
       {"resident", plan.shape.resident},
       {"partition_bytes", plan.largest_partition_bytes},
       {"exchange", LoadingName(plan.loading.loading)},
       {"exchange_reason", plan.loading.why},
       {"first_epoch",
        {{"loads", plan.first_epoch_loads},
         {"read_bytes", plan.first_epoch.read},
         {"written_bytes", plan.first_epoch.written}}},
       {"epoch", {{"loads", plan.epoch_loads}, {"read_bytes", plan.epoch.read}, {"written_bytes", plan.epoch.written}}},
       {"training", {{"read_bytes", plan.training.read}, {"written_bytes", plan.training.written}}},
       {"disk_bytes", plan.disk_bytes},
       {"disk_bytes_after", plan.disk_bytes_after}});
  if (lanes > 1) {
    json["lanes"] = lanes;
    json["rounds"] = 2 * lanes - 1;
    json["lane_balance"] = plan.lane_balance;
    json["holds_all_tables"] = plan.hold_all;
  }
  if (plan.seconds > 0) {
    json["epoch_seconds"] = plan.epoch_seconds;
    json["seconds"] = plan.seconds;
  }
  return json;
}

void PrintJson(const std::vector<Row>& rows, const std::optional<MachineRates>& rates, const TrainOptions& options,
               const std::optional<MachineRows>& machines) {
  Json json = RowJson(rows[0], options.lanes);
  json["epochs"] = options.epochs;
  json["order"] = FindTrainOption("order")->format(options);
  json["storage"] = ElementName(options.storage);
  if (rates) {
    json["measured"] = {{"disk_read_bytes_per_second", rates->disk_read},
                        {"disk_write_bytes_per_second", rates->disk_write},
                        {"edges_per_second", rates->training},
                        {"table_bytes_per_second", rates->tables},
                        {"sync_seconds", rates->sync}};
  }
  if (rows.size() > 1) {
    json["what_if"] = Json::array();
    for (std::size_t i = 1; i < rows.size(); ++i) json["what_if"].push_back(RowJson(rows[i], options.lanes));
  }
  if (machines) json["machines"] = MachinesJson(*machines);
  fmt::print("{}\n", EscapeJsonControls(json.dump(2, ' ', false, Json::error_handler_t::replace)));
}

// The given number of machines, and with --what-if half and double.
absl::StatusOr<MachineRows> PlanFleet(const PlanFlags& flags, const TrainOptions& options, const Graph& graph,
                                      const TrainingPlan& one, int threads, const std::optional<MachineRates>& rates) {
  MachineRows fleet{.rows = {}, .network = flags.network, .most_useful = std::nullopt};
  std::vector<std::uint64_t> numbers = {flags.machines};
  if (flags.what_if && flags.machines > 1) numbers.push_back(flags.machines / 2);
  if (flags.what_if) numbers.push_back(2 * flags.machines);
  for (const std::uint64_t machines : numbers) {
    fleet.rows.push_back({machines, PlanMachines(options, graph, one, threads, static_cast<std::uint32_t>(machines),
                                                 flags.network, rates ? &*rates : nullptr)});
  }
  RETURN_IF_ERROR(fleet.rows[0].plan.status());
  if (rates) fleet.most_useful = MostUsefulMachines(options, graph, one, threads, flags.network, *rates);
  return fleet;
}

absl::Status RunPlan(Program& program, const PlanFlags& flags) {
  const std::uint64_t memory = MemoryLimit(program);
  CatchInterrupts();
  TimedComparison comparison;
  if (flags.machines <= 1) {
    ASSIGN_OR_RETURN(comparison, PlanTimedTrials(program, flags.train, flags.run, kMostChanges));
  }
  const absl::StatusOr<SettledOptions> found =
      SettleTrainOptions(flags.train, flags.run, memory, ThreadCount(program), Interrupted,
                         {.seconds = comparison.timed.seconds, .found = {}});
  if (EndedByInterrupt(program, found.status(), "the plan")) return absl::OkStatus();
  ASSIGN_OR_RETURN(const SettledOptions settled, found);
  const TrainOptions& options = settled.options;
  ReportChoice(program.reporter, settled.choice);
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(flags.train.graph));
  RETURN_IF_ERROR(CheckTrainable(*graph, options));
  const int threads = ThreadCount(program);
  // Rejects impossible plans before the machine is probed.
  RETURN_IF_ERROR(PlanTraining(options, *graph, memory, threads, flags.run, nullptr).status());
  RETURN_IF_ERROR(CheckMachines(options, flags.machines));
  std::vector<ShortTrial> trials = std::move(comparison.timed.trials);
  if (settled.source && flags.machines <= 1) {
    trials = MakeShortTrials(*settled.source, *settled.choice, kMostChanges);
  }
  ReportComparison(program.reporter, trials);
  std::optional<MachineRates> rates;
  if (!flags.no_probe) {
    // The plan is useful without times: on a full disk, or before a learning rate is found that does not diverge.
    absl::StatusOr<MachineRates> probed =
        ProbeMachine(options, *graph, ExistingFolder(flags.run), {.memory = memory, .stop = Interrupted});
    if (EndedByInterrupt(program, probed.status(), "the plan")) return absl::OkStatus();
    if (probed.ok()) {
      rates = *probed;
    } else {
      program.reporter.Warning(
          fmt::format("the machine could not be measured, so no times are estimated: {}", MessageOf(probed.status())));
    }
  }
  if (EndedByInterrupt(program, absl::CancelledError(), "the plan")) return absl::OkStatus();
  std::vector<std::uint64_t> budgets = {memory};
  if (flags.what_if) budgets.insert(budgets.end(), {memory / 2, 2 * memory});
  std::vector<Row> rows;
  for (const std::uint64_t budget : budgets) {
    rows.push_back({budget, PlanTraining(options, *graph, budget, threads, flags.run, rates ? &*rates : nullptr)});
  }
  std::optional<MachineRows> machines;
  if (flags.machines > 0) {
    RETURN_IF_ERROR(rows[0].plan.status());
    ASSIGN_OR_RETURN(machines, PlanFleet(flags, options, *graph, *rows[0].plan, threads, rates));
  }
  if (flags.json) {
    PrintJson(rows, rates, options, machines);
  } else {
    PrintTable(rows, rates, options);
    if (machines) PrintMachines(*machines, options);
    for (const Row& row : rows) {
      program.reporter.Info(
          fmt::format("{}: {}", FormatByteSize(row.memory),
                      row.plan.ok() ? LoadingText(row.plan->loading) : std::string(MessageOf(row.plan.status()))));
    }
  }
  return absl::OkStatus();
}

}  // namespace

void AddPlanVerb(CLI::App& app, Program& program) {
  CLI::App* verb =
      app.add_subcommand("plan", "Show what a training will hold in memory, transfer to and from disk, and take");
  const auto flags = std::make_shared<PlanFlags>();
  verb->add_option("--run", flags->run, "Folder of the future run, to measure its disk; by default the current folder")
      ->type_name("DIR");
  verb->add_flag("--what-if", flags->what_if, "Also show half and double the memory");
  verb->add_flag("--no-probe", flags->no_probe, "Do not measure the machine: no estimated times");
  CLI::Option* machines =
      AddWholeNumber(*verb, "--machines", flags->machines, 1, kMostLanes,
                     "Also show what so many machines send each other and how long they take, with --lanes");
  AddByteRate(*verb, "--network", flags->network,
              "What each of the machines sends and receives a second; 1Gbit/s by default")
      ->needs(machines);
  verb->add_flag("--json", flags->json, "Print a JSON object");
  AddPresetFlag(*verb, flags->train);
  AddTrainFlags(*verb, flags->train);
  verb->final_callback([&program, flags] { program.run = [flags](Program& p) { return RunPlan(p, *flags); }; });
}

}  // namespace octavo
