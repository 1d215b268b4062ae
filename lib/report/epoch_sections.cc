#include "report/epoch_sections.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "fmt/format.h"
#include "report/figure.h"
#include "report/section.h"

namespace octavo {
namespace {

constexpr double kNearLimit = 4;  // draws --memory only if it is at most this many times the use

// The unit for sizes up to `largest`.
struct ByteUnit {
  double bytes = 1;
  std::string_view name = "B";
};
ByteUnit UnitFor(double largest) {
  ByteUnit unit;
  for (const std::string_view name : {"KiB", "MiB", "GiB", "TiB"}) {
    if (largest < 1024 * unit.bytes) break;
    unit = {1024 * unit.bytes, name};
  }
  return unit;
}

// The points [epoch, member], in `unit`.
template <typename T>
std::vector<std::pair<double, double>> Course(const RunHistory& history, T EpochEvent::*member, double unit = 1) {
  std::vector<std::pair<double, double>> points;
  for (const EpochEvent& event : history.epochs) {
    points.emplace_back(static_cast<double>(event.epoch), static_cast<double>(event.*member) / unit);
  }
  return points;
}

template <typename T>
std::vector<double> Values(const RunHistory& history, T EpochEvent::*member) {
  std::vector<double> values;
  for (const EpochEvent& event : history.epochs) values.push_back(static_cast<double>(event.*member));
  return values;
}

template <typename T>
double Largest(const RunHistory& history, T EpochEvent::*member) {
  double largest = 0;
  for (const EpochEvent& event : history.epochs) largest = std::max(largest, static_cast<double>(event.*member));
  return largest;
}

// A measured quantity drawn over the planned one.
LineFigure Planned(std::string title, std::string_view y_axis, std::vector<std::pair<double, double>> measured,
                   std::vector<std::pair<double, double>> planned) {
  return {.title = std::move(title),
          .x_axis = "epoch",
          .y_axis = std::string(y_axis),
          .lines = {{.name = "measured", .points = std::move(measured)},
                    {.name = "planned", .points = std::move(planned), .style = LineFigure::Style::kBand}}};
}

}  // namespace

std::string LearningSection(const RunHistory& history) {
  if (history.epochs.empty()) return Section("learning", "Learning", Note("No epoch is done yet."));
  LineFigure loss = {.title = "Loss",
                     .x_axis = "epoch",
                     .y_axis = "mean over edges and sides",
                     .from_zero = false,
                     .lines = {{.name = "loss", .points = Course(history, &EpochEvent::loss)}}};
  if (Largest(history, &EpochEvent::penalty) > 0) {
    loss.lines.push_back({.name = "penalty of the regularizer", .points = Course(history, &EpochEvent::penalty)});
  }
  std::vector<Figure> figures = {loss};
  if (!history.validations.empty()) {
    LineFigure ranks = {.title = "Validation", .x_axis = "epoch", .y_axis = "filtered, both sides"};
    const auto add = [&](std::string name, double ValidationScores::*member) {
      LineFigure::Line& line = ranks.lines.emplace_back(LineFigure::Line{.name = std::move(name)});
      for (const ValidationEvent& event : history.validations) {
        line.points.emplace_back(static_cast<double>(event.epoch), event.scores.*member);
      }
    };
    add("MRR", &ValidationScores::mrr);
    add("Hits@1", &ValidationScores::hits_at_1);
    add("Hits@3", &ValidationScores::hits_at_3);
    add("Hits@10", &ValidationScores::hits_at_10);
    figures.emplace_back(ranks);
  }
  const std::vector<double> rates = Values(history, &EpochEvent::learning_rate);
  if (std::ranges::all_of(rates, [&](double rate) { return rate == rates[0]; })) {
    return Section("learning", "Learning",
                   Figures(figures) + Note(fmt::format("The learning rate was {:.4g} in every epoch.", rates[0])));
  }
  figures.emplace_back(
      LineFigure{.title = "Learning rate",
                 .x_axis = "epoch",
                 .y_axis = "of the last update",
                 .lines = {{.name = "learning rate", .points = Course(history, &EpochEvent::learning_rate)}}});
  return Section("learning", "Learning", Figures(figures));
}

std::string WorkSection(const RunHistory& history) {
  if (history.epochs.empty()) return "";
  const LineFigure rate = {.title = "Speed",
                           .x_axis = "epoch",
                           .y_axis = "edges/s",
                           .lines = {{.name = "edges", .points = Course(history, &EpochEvent::edges_per_second)}}};
  StackFigure phases = {.title = "Time per epoch",
                        .x_axis = "epoch",
                        .y_axis = "seconds",
                        .layers = {{"compute", Values(history, &EpochEvent::compute_seconds)},
                                   {"apply", Values(history, &EpochEvent::apply_seconds)},
                                   {"stall", Values(history, &EpochEvent::stall_seconds)},
                                   {"commit", Values(history, &EpochEvent::commit_seconds)}},
                        .lines = {{"fetch, in the background", Values(history, &EpochEvent::fetch_seconds)},
                                  {"exchange, in the background", Values(history, &EpochEvent::exchange_seconds)}}};
  for (const EpochEvent& event : history.epochs) phases.x.push_back(static_cast<double>(event.epoch));
  const double peak = Largest(history, &EpochEvent::peak_rss_bytes);
  const double budget = Largest(history, &EpochEvent::memory_bytes);
  // A limit far above the use would flatten the line of the use.
  const bool near = budget <= kNearLimit * peak;
  const ByteUnit unit = UnitFor(near ? std::max(peak, budget) : peak);
  LineFigure memory = {
      .title = "Memory",
      .x_axis = "epoch",
      .y_axis = std::string(unit.name),
      .lines = {{.name = "largest so far", .points = Course(history, &EpochEvent::peak_rss_bytes, unit.bytes)}}};
  if (!near) memory.y_axis += fmt::format(", of {} allowed", FormatByteSize(static_cast<std::uint64_t>(budget)));
  if (budget > 0 && near) {
    LineFigure::Line allowed = {.name = "allowed (--memory)", .style = LineFigure::Style::kDashed};
    for (const EpochEvent& event : history.epochs) {
      if (event.memory_bytes == 0) continue;  // from a version that did not record it
      allowed.points.emplace_back(static_cast<double>(event.epoch),
                                  static_cast<double>(event.memory_bytes) / unit.bytes);
    }
    memory.lines.push_back(std::move(allowed));
  }
  return Section("work", "Speed and memory", Figures({rate, phases, memory}));
}

std::string LanesSection(const RunHistory& history) {
  if (Largest(history, &EpochEvent::lanes) <= 1) return "";
  const EpochEvent& last = history.epochs.back();
  LineFigure seconds = {
      .title = "Lanes",
      .x_axis = "epoch",
      .y_axis = "seconds",
      .lines = {{.name = "epoch", .points = Course(history, &EpochEvent::seconds)},
                {.name = "slowest lane of each round", .points = Course(history, &EpochEvent::slowest_lane_seconds)}}};
  std::string note = fmt::format(
      "{} lanes in {} rounds an epoch. In the last epoch the mean lane worked {:.0f} % of the "
      "time of the slowest ones.",
      last.lanes, last.rounds, 100 * last.lane_balance);
  std::vector<Figure> figures;
  if (Largest(history, &EpochEvent::ranks) > 1) {
    seconds.title = "Lanes and machines";
    seconds.lines.push_back(
        {.name = "sending rows, most of one rank", .points = Course(history, &EpochEvent::moving_seconds)});
    seconds.lines.push_back(
        {.name = "waiting for others, most of one rank", .points = Course(history, &EpochEvent::waited_seconds)});
    figures.emplace_back(seconds);
    const ByteUnit unit = UnitFor(Largest(history, &EpochEvent::moved_bytes));
    figures.emplace_back(
        LineFigure{.title = "Rows moved between ranks",
                   .x_axis = "epoch",
                   .y_axis = std::string(unit.name),
                   .lines = {{.name = "moved", .points = Course(history, &EpochEvent::moved_bytes, unit.bytes)}}});
    note += fmt::format(" {} trained it; rank {} waited most.", Plural(last.ranks, "rank"), last.waiting_rank);
  } else {
    figures.emplace_back(seconds);
  }
  return Section("lanes", "Lanes", Figures(figures) + Note(note));
}

std::string DiskSection(const RunHistory& history, const Residency* residency) {
  std::string body;
  if (!history.epochs.empty()) {
    std::vector<Figure> figures;
    // A chart of bytes without any says nothing.
    const auto add_bytes = [&](std::string title, std::uint64_t EpochEvent::*measured,
                               std::uint64_t EpochEvent::*planned) {
      const double largest = std::max(Largest(history, measured), Largest(history, planned));
      if (largest == 0) return;
      const ByteUnit unit = UnitFor(largest);
      figures.emplace_back(Planned(std::move(title), unit.name, Course(history, measured, unit.bytes),
                                   Course(history, planned, unit.bytes)));
    };
    add_bytes("Read per epoch", &EpochEvent::read_bytes, &EpochEvent::planned_read_bytes);
    add_bytes("Written per epoch", &EpochEvent::written_bytes, &EpochEvent::planned_written_bytes);
    if (Largest(history, &EpochEvent::partitions) > 1) {
      figures.emplace_back(Planned("Partition loads per epoch", "partitions",
                                   Course(history, &EpochEvent::partition_loads),
                                   Course(history, &EpochEvent::planned_partition_loads)));
    }
    if (!figures.empty()) body += Figures(figures);
  }
  if (residency != nullptr) {
    SpanFigure spans = {.title = fmt::format("Partitions in memory, epoch {}", residency->epoch),
                        .x_axis = "edges of the epoch, %",
                        .y_axis = "partition"};
    for (std::size_t i = 0; i < residency->partitions.size(); ++i) {
      spans.rows.push_back({fmt::format("{}", i + 1), residency->partitions[i].spans});
    }
    body += Figures({spans});
    body +=
        Note(fmt::format("By the plan: {} at a time of {}, {} exchanges; one row for the partitions of the graph that "
                         "are loaded together, ordered by first use.",
                         residency->resident, Plural(residency->partitions.size(), "partition"), residency->loads));
  }
  return body.empty() ? body : Section("disk", "Disk", body);
}

}  // namespace octavo
