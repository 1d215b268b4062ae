#include "bench/charts.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/byte_size.h"
#include "fmt/format.h"

namespace octavo {
namespace {

std::string Threads(int count) { return count == 1 ? "1 thread" : fmt::format("{} threads", count); }

// Returns the member of `items` with that name; appends it if there is none.
template <typename Item>
Item& Named(std::vector<Item>& items, std::string name) {
  const auto found = std::ranges::find(items, name, &Item::name);
  if (found != items.end()) return *found;
  items.push_back({.name = std::move(name)});
  return items.back();
}

// Sets the value of `group` and `name`. Groups and bars are ordered by their first value.
void Set(BarChart& chart, const std::string& group, std::string name, double value) {
  const auto found = std::ranges::find(chart.groups, group);
  const auto g = static_cast<std::size_t>(found - chart.groups.begin());
  if (found == chart.groups.end()) chart.groups.push_back(group);
  std::vector<double>& values = Named(chart.bars, std::move(name)).values;
  if (values.size() <= g) values.resize(g + 1);
  values[g] = value;
}

}  // namespace

ChartPage MachineCharts(const MachineReport& report) {
  BarChart gemm{.title = "Single-precision matrix products [m, k] x [k, n]", .y_axis = "GFLOP/s"};
  for (const GemmRate& rate : report.gemm) {
    Set(gemm, fmt::format("{} x {} x {}", rate.m, rate.n, rate.k),
        fmt::format("{}, {}", rate.library, Threads(rate.threads)), rate.gflops);
  }
  BarChart bytes{.title = "Memory and disk", .y_axis = "GB/s"};
  constexpr double kRowBytes = 512;
  const std::string threads = Threads(report.threads);
  Set(bytes, "memory, sequential", threads, report.memory_bandwidth_gbps);
  Set(bytes, "memory, random rows of 512 bytes", threads, report.gather_rows_per_second * kRowBytes * 1e-9);
  Set(bytes, "disk, sequential read", threads, report.disk.read * 1e-9);
  Set(bytes, "disk, sequential write", threads, report.disk.write * 1e-9);
  std::vector<std::string> notes = {fmt::format("Peak of matrix products {:.1f} GFLOP/s on {}, {:.1f} on one.",
                                                report.gemm_peak_gflops, threads, report.one_thread_peak_gflops)};
  if (report.disk.read == 0) notes.emplace_back("The disk was not measured: it has no space for 1 GiB.");
  return {.title = "What this machine can do",
          .notes = std::move(notes),
          .bar_charts = {std::move(gemm), std::move(bytes)}};
}

ChartPage KernelCharts(const KernelShape& shape, const KernelReport& report) {
  BarChart shares{.title = "Share of the matrix product peak", .y_axis = "% of the peak"};
  BarChart edges{.title = "Edges per second", .y_axis = "edges/s"};
  for (const KernelRate& rate : report.rates) {
    const std::string model = KernelName(rate.model);
    const std::string bar = Threads(rate.threads) + (rate.bf16 ? ", bf16" : "");
    Set(shares, model, bar, 100 * rate.share_of_gemm_peak);
    Set(edges, model, bar, rate.edges_per_second);
  }
  for (BarChart* const chart : {&shares, &edges}) {
    for (auto& bar : chart->bars) bar.values.resize(chart->groups.size());  // distances have no bf16
  }
  return {
      .title = "Training kernels",
      .notes = {fmt::format("Scores, loss and gradients of chunks of {} edges, {} negatives per side, dimension {}; "
                            "rows in the caches. Counts only the model's own flops.",
                            shape.chunk, shape.negatives, shape.dim)},
      .bar_charts = {std::move(shares), std::move(edges)}};
}

ChartPage PrefetchCharts(const std::vector<PrefetchRow>& rows) {
  LineChart chart{.title = "Time for all items",
                  .x_axis = "time to fetch an item / time to compute on it",
                  .y_axis = "seconds",
                  .lines = {{.name = "one buffer"}, {.name = "two buffers"}, {.name = "ideal", .dashed = true}}};
  for (const PrefetchRow& row : rows) {
    const double ratio = row.fetch_seconds / row.compute_seconds;
    chart.lines[0].points.emplace_back(ratio, row.serial_seconds);
    chart.lines[1].points.emplace_back(ratio, row.double_buffered_seconds);
    chart.lines[2].points.emplace_back(ratio, row.ideal_seconds);
  }
  return {.title = "When a second buffer pays",
          .notes = {"Items that take 4 ms in total to fetch (waiting) and to compute (work). Ideal: the first fetch, "
                    "then for each item the longer of the two."},
          .line_charts = {std::move(chart)}};
}

ChartPage LockCharts(const LockReport& report) {
  std::array<BarChart, 2> charts = {{{.title = "Rows drawn uniformly", .y_axis = "updates/s"},
                                     {.title = "Rows drawn by Zipf's law", .y_axis = "updates/s"}}};
  for (const LockRate& rate : report.rates) {
    const std::string name = rate.locks == "none"  ? "none, disjoint rows"
                             : rate.locks == "one" ? "one for all"
                                                   : fmt::format("{} stripes", rate.stripes);
    Set(charts[rate.skewed ? 1 : 0], Threads(rate.threads), name, rate.updates_per_second);
  }
  return {
      .title = "The cost of row locks",
      .notes = {"A gradient is added to a row of 512 bytes under its exclusive lock, at random places of 256 MiB.",
                fmt::format(
                    "In a training of ComplEx with the defaults the locks take at most {:.1f} %: {:.0f} rows an edge, "
                    "{:.1f} ns each.",
                    100 * report.share.of_training, report.share.locked_rows_an_edge,
                    1e9 * report.share.seconds_a_row)},
      .bar_charts = {std::move(charts[0]), std::move(charts[1])}};
}

ChartPage OrderCharts(const std::vector<OrderLoads>& rows) {
  LineChart quarter{
      .title = "A quarter of the partitions resident", .x_axis = "partitions", .y_axis = "loads per epoch"};
  LineChart fixed{.title = "32 partitions", .x_axis = "partitions resident", .y_axis = "loads per epoch"};
  const auto add = [](LineChart& chart, double x, const OrderLoads& row) {
    for (const auto& [name, loads] : {std::pair("row by row", row.row_by_row),
                                      {"random", row.random},
                                      {"inside-out", row.inside_out},
                                      {"beta", row.beta}}) {
      Named(chart.lines, name).points.emplace_back(x, static_cast<double>(loads));
    }
    LineChart::Line& least = Named(chart.lines, "lower bound");
    least.dashed = true;
    least.points.emplace_back(x, static_cast<double>(row.least));
  };
  for (const OrderLoads& row : rows) {
    if (row.resident * 4 == row.partitions) add(quarter, row.partitions, row);
    if (row.partitions == 32) add(fixed, row.resident, row);
  }
  return {.title = "Partition loads by bucket order",
          .notes =
              {"Counted after memory is filled. Row by row: the partition whose next use is farthest leaves (Belady)."},
          .line_charts = {std::move(quarter), std::move(fixed)}};
}

ChartPage TableCharts(const TableReport& report) {
  BarChart read{.title = "Tables that the page cache does not have", .y_axis = "GB/s"};
  BarChart training{.title = "Training on a table in memory", .y_axis = "edges/s"};
  const auto name = [](std::uint64_t bytes, std::uint64_t dim) {
    return fmt::format("{}, dimension {}", FormatByteSize(bytes), dim);
  };
  for (const TableLoad& load : report.loads) {
    Set(read, name(load.table_bytes, load.dim), load.way, load.gbps);
    if (load.written_gbps > 0) Set(read, name(load.table_bytes, load.dim), load.way + ", written", load.written_gbps);
  }
  for (const TableTraining& rate : report.trainings) {
    Set(training, name(rate.table_bytes, rate.dim), "mapped, small pages", rate.mapped_edges_per_second);
    Set(training, name(rate.table_bytes, rate.dim), "direct, huge pages", rate.direct_edges_per_second);
  }
  return {.title = "How tables come into memory",
          .notes = {"Single rows at random places, or all rows at once; then batches of a default training."},
          .bar_charts = {std::move(read), std::move(training)}};
}

ChartPage ScalingCharts(const ScalingReport& report) {
  LineChart edges{.title = "Edges per second", .x_axis = "threads", .y_axis = "edges/s"};
  LineChart speedup{.title = "Speedup over one thread", .x_axis = "threads", .y_axis = "times"};
  LineChart::Line ideal{.name = "ideal", .dashed = true};
  for (const ScalingPoint& point : report.points) {
    const std::string name = fmt::format("{}, chunks of {}", ScheduleName(point.schedule), point.chunk);
    Named(edges.lines, name).points.emplace_back(point.threads, point.rate.edges_per_second);
    Named(speedup.lines, name).points.emplace_back(point.threads, point.speedup);
    if (ideal.points.empty() || ideal.points.back().first < point.threads) {
      ideal.points.emplace_back(point.threads, point.threads);
    }
  }
  speedup.lines.push_back(std::move(ideal));
  return {.title = "Training by schedule, threads and chunk",
          .notes = {fmt::format("Batches of the graph's first edges, all rows resident. Bound by {}.", report.bound)},
          .line_charts = {std::move(edges), std::move(speedup)}};
}

}  // namespace octavo
