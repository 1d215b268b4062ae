#include "cmd/plan_machines.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/byte_size.h"
#include "base/count_text.h"
#include "base/duration.h"
#include "base/status.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

// Epochs of the graphs that people try first take less than the tenth of a second that DurationText shows.
std::string SecondsText(double seconds) {
  return seconds < 10 ? fmt::format("{:.3f} s", seconds) : DurationText(seconds);
}

MachineBytes Sum(const std::vector<MachineBytes>& machines) {
  MachineBytes sum;
  for (const MachineBytes& machine : machines) sum += machine;
  return sum;
}

bool HasTimes(const MachineRows& machines) { return machines.most_useful.has_value(); }

void PrintColumns(const MachineRows& machines, const TrainOptions& options) {
  const auto line = [&](std::string_view name, const auto& text) {
    fmt::print("{:<26}", name);
    for (const MachineRow& row : machines.rows) {
      fmt::print("{:>18}", row.plan.ok() ? text(*row.plan) : std::string("-"));
    }
    fmt::print("\n");
  };
  const auto bytes = [](std::uint64_t count) { return FormatByteSize(count); };
  const auto most = [](const std::vector<MachineBytes>& all, std::uint64_t (MachineBytes::*of)() const) {
    std::uint64_t most_of_one = 0;
    for (const MachineBytes& one : all) most_of_one = std::max(most_of_one, (one.*of)());
    return most_of_one;
  };
  const std::string epochs = CountText(options.epochs, "epoch");
  fmt::print("\n{:<26}", "machines");
  for (const MachineRow& row : machines.rows) fmt::print("{:>18}", row.machines);
  fmt::print("\n");
  const auto lanes_of_last = [](const LaneMachines& all) { return all.LanesOf(all.machines - 1); };
  line("  lanes of one, at most", [&](const MachinePlan& p) { return fmt::format("{}", lanes_of_last(p.machines)); });
  line("  memory of one", [&](const MachinePlan& p) { return bytes(p.memory_bytes); });
  line("sent per epoch", [&](const MachinePlan& p) { return bytes(Sum(p.epoch).Sent()); });
  line("  partitions", [&](const MachinePlan& p) { return bytes(Sum(p.epoch).partitions_sent); });
  line("  relations", [&](const MachinePlan& p) { return bytes(Sum(p.epoch).relations_sent); });
  line("  by one, at most", [&](const MachinePlan& p) { return bytes(most(p.epoch, &MachineBytes::Sent)); });
  line("received by one, at most", [&](const MachinePlan& p) { return bytes(most(p.epoch, &MachineBytes::Received)); });
  line("sent in " + epochs, [&](const MachinePlan& p) { return bytes(p.training.Sent()); });
  line("gathered at the end", [&](const MachinePlan& p) { return bytes(p.gathered_bytes); });
  if (!HasTimes(machines)) return;
  line("edges of one, per epoch", [](const MachinePlan& p) { return SecondsText(p.compute_seconds); });
  line("exchange per epoch", [](const MachinePlan& p) { return SecondsText(p.times.exchange); });
  line("  hidden", [](const MachinePlan& p) { return SecondsText(p.times.Hidden()); });
  line("expected per epoch", [](const MachinePlan& p) { return SecondsText(p.times.overlapped); });
  line("  nothing hidden", [](const MachinePlan& p) { return SecondsText(p.times.one_by_one); });
  line("efficiency", [](const MachinePlan& p) { return fmt::format("{:.2f}", p.EfficiencyOverlapped()); });
  line("  nothing hidden", [](const MachinePlan& p) { return fmt::format("{:.2f}", p.EfficiencyOneByOne()); });
}

void PrintRanks(const MachinePlan& plan, bool times) {
  fmt::print("\n{:>4}{:>8}{:>18}{:>20}", "rank", "lanes", "sent per epoch", "received per epoch");
  if (times) fmt::print("{:>12}{:>12}", "trains", "waits");
  fmt::print("\n");
  for (std::uint32_t rank = 0; rank < plan.machines.machines; ++rank) {
    fmt::print("{:>4}{:>8}{:>18}{:>20}", rank, plan.machines.LanesOf(rank), FormatByteSize(plan.epoch[rank].Sent()),
               FormatByteSize(plan.epoch[rank].Received()));
    if (times) {
      fmt::print("{:>12}{:>12}", SecondsText(plan.times.compute[rank]), SecondsText(plan.times.waited[rank]));
    }
    fmt::print("\n");
  }
}

Json BytesJson(const MachineBytes& bytes) {
  return {{"sent_bytes", bytes.Sent()},
          {"received_bytes", bytes.Received()},
          {"partitions_sent_bytes", bytes.partitions_sent},
          {"partitions_received_bytes", bytes.partitions_received},
          {"relations_sent_bytes", bytes.relations_sent},
          {"relations_received_bytes", bytes.relations_received}};
}

Json EpochJson(const std::vector<MachineBytes>& machines) {
  Json json = BytesJson(Sum(machines));
  json["ranks"] = Json::array();
  for (const MachineBytes& machine : machines) json["ranks"].push_back(BytesJson(machine));
  return json;
}

Json RowJson(const MachineRow& row, bool times) {
  Json json = {{"machines", row.machines}};
  if (!row.plan.ok()) {
    json["error"] = std::string(MessageOf(row.plan.status()));
    return json;
  }
  const MachinePlan& plan = *row.plan;
  json.update({{"memory_bytes", plan.memory_bytes},
               {"lanes_in_memory", plan.lanes_in_memory},
               {"first_epoch", EpochJson(plan.first_epoch)},
               {"epoch", EpochJson(plan.epoch)},
               {"training", BytesJson(plan.training)},
               {"gathered_bytes", plan.gathered_bytes}});
  Json& ranks = json["epoch"]["ranks"];
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    ranks[rank]["lanes"] = plan.machines.LanesOf(static_cast<std::uint32_t>(rank));
    if (!times) continue;
    ranks[rank]["training_seconds"] = plan.times.compute[rank];
    ranks[rank]["waiting_seconds"] = plan.times.waited[rank];
  }
  if (!times) return json;
  json.update({{"compute_seconds", plan.compute_seconds},
               {"exchange_seconds", plan.times.exchange},
               {"hidden_seconds", plan.times.Hidden()},
               {"epoch_seconds", plan.times.overlapped},
               {"epoch_seconds_nothing_hidden", plan.times.one_by_one},
               {"efficiency", plan.EfficiencyOverlapped()},
               {"efficiency_nothing_hidden", plan.EfficiencyOneByOne()}});
  return json;
}

}  // namespace

void PrintMachines(const MachineRows& machines, const TrainOptions& options) {
  PrintColumns(machines, options);
  if (machines.rows[0].plan.ok()) PrintRanks(*machines.rows[0].plan, HasTimes(machines));
  fmt::print("\nnetwork: {}/s in each direction; every machine is taken to be as fast as this one\n",
             FormatByteSize(static_cast<std::uint64_t>(machines.network)));
  if (!machines.most_useful) return;
  if (*machines.most_useful == options.lanes) {
    fmt::print("as many machines as lanes, {}, make an epoch shortest\n", options.lanes);
  } else {
    fmt::print("with {} lanes, more than {} shorten an epoch by less than 5 %\n", options.lanes,
               CountText(*machines.most_useful, "machine"));
  }
}

Json MachinesJson(const MachineRows& machines) {
  Json json = RowJson(machines.rows[0], HasTimes(machines));
  json["network_bytes_per_second"] = machines.network;
  if (machines.most_useful) json["most_useful_machines"] = *machines.most_useful;
  if (machines.rows.size() > 1) {
    json["what_if"] = Json::array();
    for (std::size_t i = 1; i < machines.rows.size(); ++i) {
      json["what_if"].push_back(RowJson(machines.rows[i], HasTimes(machines)));
    }
  }
  return json;
}

}  // namespace octavo
