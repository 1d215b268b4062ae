// octavo bench: measures this machine and the parts of the tool.

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/count_text.h"
#include "base/escape.h"
#include "base/status.h"
#include "bench/charts.h"
#include "bench/kernels.h"
#include "bench/locks.h"
#include "bench/machine.h"
#include "bench/orders.h"
#include "bench/prefetch.h"
#include "bench/scaling.h"
#include "chart/svg_chart.h"
#include "cmd/bench.h"
#include "cmd/flags.h"
#include "cmd/limits.h"
#include "cmd/program.h"
#include "cmd/train_flags.h"
#include "cmd/version_facts.h"
#include "fmt/format.h"
#include "io/file.h"
#include "model/bf16_product.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

// Checks --svg before minutes of measuring, not after them.
absl::Status CheckSvg(const BenchFlags& flags) {
  const std::filesystem::path path = flags.svg;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code error;
  if (flags.svg.empty() ||
      (std::filesystem::is_directory(folder, error) && !std::filesystem::is_directory(path, error))) {
    return absl::OkStatus();
  }
  return UsageError(fmt::format("--svg {}: expected the name of a file in a folder that exists", flags.svg));
}

absl::Status BenchMachine(Program& program, const BenchFlags& flags) {
  const MachineReport report = MeasureMachine(ThreadCount(program), flags.folder, flags.seconds);
  RETURN_IF_ERROR(WriteCharts(program, flags, MachineCharts(report)));
  if (flags.json) {
    Json json = {{"processor", report.processor},
                 {"threads", report.threads},
                 {"gemm_peak_gflops", report.gemm_peak_gflops},
                 {"gemm_one_thread_gflops", report.one_thread_peak_gflops},
                 {"processor_share", report.processor_share},
                 {"memory_bandwidth_gbps", report.memory_bandwidth_gbps},
                 {"gather_rows_per_second", report.gather_rows_per_second},
                 {"disk_read_gbps", report.disk.read * 1e-9},
                 {"disk_write_gbps", report.disk.write * 1e-9},
                 {"gemm", Json::array()}};
    for (const GemmRate& rate : report.gemm) {
      json["gemm"].push_back({{"library", rate.library},
                              {"m", rate.m},
                              {"n", rate.n},
                              {"k", rate.k},
                              {"threads", rate.threads},
                              {"gflops", rate.gflops}});
    }
    Print(json);
    return absl::OkStatus();
  }
  Table table({"matrix product", "library", "threads", "GFLOP/s"});
  for (const GemmRate& rate : report.gemm) {
    table.Add({fmt::format("{} x {} x {}", rate.m, rate.n, rate.k), rate.library, std::to_string(rate.threads),
               Number(rate.gflops)});
  }
  table.Print();
  fmt::print("\n{:<23}{:.1f} GFLOP/s (one: {:.1f})\n",
             "peak of " + CountText(static_cast<std::uint64_t>(report.threads), "thread"), report.gemm_peak_gflops,
             report.one_thread_peak_gflops);
  fmt::print("time of processors     {} given to this program; the peak is of all\n", Percent(report.processor_share));
  fmt::print("memory, a = b + s * c  {:.1f} GB/s\n", report.memory_bandwidth_gbps);
  fmt::print("rows of 512 bytes      {:.1f} million/s gathered at random\n", report.gather_rows_per_second * 1e-6);
  if (report.disk.read == 0) {
    fmt::print("disk                   not measured: no room for 1 GiB in {}\n", flags.folder);
  } else {
    fmt::print("disk, sequential       {:.2f} GB/s read, {:.2f} GB/s written\n", report.disk.read * 1e-9,
               report.disk.write * 1e-9);
  }
  return absl::OkStatus();
}

Json PeaksJson(const std::vector<ProductPeak>& peaks) {
  Json json = Json::array();
  for (const ProductPeak& peak : peaks) {
    json.push_back({{"threads", peak.threads}, {"float32_gflops", peak.float32}, {"bf16_gflops", peak.bf16}});
  }
  return json;
}

void PrintPeaks(const std::vector<ProductPeak>& peaks) {
  for (const ProductPeak& peak : peaks) {
    fmt::print("{}: matrix products reach {:.1f} GFLOP/s, with bf16 operands ({}) {:.1f}\n",
               CountText(static_cast<std::uint64_t>(peak.threads), "thread"), peak.float32,
               Bf16BackendName(ActiveBf16Backend()), peak.bf16);
  }
}

absl::Status BenchKernels(Program& program, const BenchFlags& flags) {
  const int threads = ThreadCount(program);
  const KernelShape shape{flags.chunk, flags.negatives, flags.dim};
  const KernelReport report = MeasureKernels(shape, threads, flags.seconds);
  RETURN_IF_ERROR(WriteCharts(program, flags, KernelCharts(shape, report)));
  if (flags.json) {
    Json json = {{"chunk", shape.chunk},
                 {"negatives", shape.negatives},
                 {"dim", shape.dim},
                 {"bf16_products", Bf16BackendName(ActiveBf16Backend())},
                 {"peaks", PeaksJson(report.peaks)},
                 {"kernels", Json::array()}};
    for (const KernelRate& rate : report.rates) {
      json["kernels"].push_back({{"model", KernelName(rate.model)},
                                 {"precision", rate.bf16 ? "bf16" : "float32"},
                                 {"threads", rate.threads},
                                 {"edges_per_second", rate.edges_per_second},
                                 {"gflops", rate.gflops},
                                 {"share_of_gemm_peak", rate.share_of_gemm_peak},
                                 {"share_of_bound", rate.share_of_bound},
                                 {"share_comparing", rate.comparing},
                                 {"share_packing", rate.packing}});
    }
    Print(json);
    return absl::OkStatus();
  }
  fmt::print("chunks of {} edges, {} negatives per side, dimension {}; only the model's own flops count\n", shape.chunk,
             shape.negatives, shape.dim);
  PrintPeaks(report.peaks);
  fmt::print("\n");
  Table table({"model", "precision", "threads", "edges/s", "GFLOP/s", "of its bound", "negatives", "packing", "rest"});
  for (const KernelRate& rate : report.rates) {
    table.Add({KernelName(rate.model), rate.bf16 ? "bf16" : "float32", std::to_string(rate.threads),
               Number(rate.edges_per_second, 0), Number(rate.gflops), Percent(rate.share_of_bound),
               Percent(rate.comparing), rate.bf16 ? Percent(rate.packing) : "",
               Percent(std::max(0.0, 1 - rate.comparing - rate.packing))});
  }
  table.Print();
  fmt::print(
      "\nof its bound: of the peak of products, or of distances computed in registers; shares of the time: "
      "scores and gradients of the negatives, packing them, the rest\n");
  return absl::OkStatus();
}

absl::Status BenchPrefetch(Program& program, const BenchFlags& flags) {
  const std::vector<PrefetchRow> rows = MeasurePrefetch(flags.seconds);
  RETURN_IF_ERROR(WriteCharts(program, flags, PrefetchCharts(rows)));
  // Less than a twentieth is not worth a second buffer.
  const auto pays = [](const PrefetchRow& row) { return row.serial_seconds > 1.05 * row.double_buffered_seconds; };
  if (flags.json) {
    Json json = Json::array();
    for (const PrefetchRow& row : rows) {
      json.push_back({{"fetch_seconds", row.fetch_seconds},
                      {"compute_seconds", row.compute_seconds},
                      {"serial_seconds", row.serial_seconds},
                      {"double_buffered_seconds", row.double_buffered_seconds},
                      {"ideal_seconds", row.ideal_seconds},
                      {"pays", pays(row)}});
    }
    Print(json);
    return absl::OkStatus();
  }
  Table table({"fetch / compute", "serial s", "two buffers s", "ideal s", "gain", "pays"});
  for (const PrefetchRow& row : rows) {
    table.Add({Number(row.fetch_seconds / row.compute_seconds, 2), Number(row.serial_seconds, 3),
               Number(row.double_buffered_seconds, 3), Number(row.ideal_seconds, 3),
               Number(row.serial_seconds / row.double_buffered_seconds, 2), pays(row) ? "yes" : "no"});
  }
  table.Print();
  return absl::OkStatus();
}

absl::Status BenchLocks(Program& program, const BenchFlags& flags) {
  const LockReport report = MeasureLocks(ThreadCount(program), flags.seconds);
  RETURN_IF_ERROR(WriteCharts(program, flags, LockCharts(report)));
  double free = 0;  // updates/s without locks, from the row before
  Json json = {{"rates", Json::array()},
               {"share",
                {{"seconds_a_row", report.share.seconds_a_row},
                 {"locked_rows_an_edge", report.share.locked_rows_an_edge},
                 {"seconds_an_edge", report.share.seconds_an_edge},
                 {"of_training", report.share.of_training}}}};
  Table table({"locks", "threads", "rows", "updates/s", "against none"});
  for (const LockRate& rate : report.rates) {
    if (rate.locks == "none") free = rate.updates_per_second;
    json["rates"].push_back({{"locks", rate.locks},
                             {"stripes", rate.stripes},
                             {"threads", rate.threads},
                             {"skewed", rate.skewed},
                             {"updates_per_second", rate.updates_per_second},
                             {"against_none", rate.updates_per_second / free}});
    table.Add({rate.locks == "stripes" ? fmt::format("{} stripes", rate.stripes) : rate.locks,
               std::to_string(rate.threads), rate.skewed ? "skewed" : "even", Number(rate.updates_per_second, 0),
               Number(rate.updates_per_second / free, 3)});
  }
  if (flags.json) {
    Print(json);
    return absl::OkStatus();
  }
  table.Print();
  // What they may cost by the project's own rule.
  constexpr double kMost = 0.03;
  const LockShare& share = report.share;
  fmt::print(
      "\nin a training of complex with the defaults: {:.0f} rows an edge, {:.1f} ns each, at most {:.1f} % of {:.1f} "
      "us: {}\n",
      share.locked_rows_an_edge, 1e9 * share.seconds_a_row, 100 * share.of_training,
      1e6 * (share.seconds_an_edge + share.locked_rows_an_edge * share.seconds_a_row),
      share.of_training <= kMost ? "within the 3 % allowed" : "perhaps more than the 3 % allowed");
  return absl::OkStatus();
}

absl::Status BenchOrders(Program& program, const BenchFlags& flags) {
  Json json = Json::array();
  Table table({"partitions", "resident", "row by row", "random", "inside-out", "beta", "least", "beta reads"});
  const std::vector<OrderLoads> rows = CountOrders();
  RETURN_IF_ERROR(WriteCharts(program, flags, OrderCharts(rows)));
  for (const OrderLoads& row : rows) {
    // In tables: how many times over the embeddings and their optimizer state are read in an epoch.
    const double tables = static_cast<double>(row.beta) / row.partitions;
    json.push_back({{"partitions", row.partitions},
                    {"resident", row.resident},
                    {"row_by_row", row.row_by_row},
                    {"random", row.random},
                    {"inside_out", row.inside_out},
                    {"beta", row.beta},
                    {"least", row.least},
                    {"beta_reads_of_the_tables", tables}});
    table.Add({std::to_string(row.partitions), std::to_string(row.resident), std::to_string(row.row_by_row),
               std::to_string(row.random), std::to_string(row.inside_out), std::to_string(row.beta),
               std::to_string(row.least), fmt::format("{:.1f} x the tables", tables)});
  }
  flags.json ? Print(json) : table.Print();
  return absl::OkStatus();
}

absl::Status BenchScaling(Program& program, const BenchFlags& flags) {
  ASSIGN_OR_RETURN(const TrainOptions options, ReadTrainOptions(flags.train));
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(flags.train.graph));
  if (graph->description().train_edges == 0) {
    return UsageError(fmt::format("{}: no training edges", flags.train.graph));
  }
  ASSIGN_OR_RETURN(const ScalingReport report, MeasureScaling(options, *graph, flags.folder, MemoryLimit(program),
                                                              ThreadCount(program), flags.seconds));
  ChartPage charts = ScalingCharts(report);
  charts.notes.push_back(fmt::format("{}, dimension {}, {} negatives per side, batches of {}; {} training edges.",
                                     ModelName(options.model), options.dim,
                                     options.negatives == 0 ? "all" : std::to_string(options.negatives), options.batch,
                                     graph->description().train_edges));
  RETURN_IF_ERROR(WriteCharts(program, flags, std::move(charts)));
  Json json = {{"bound", report.bound}, {"peaks", PeaksJson(report.peaks)}, {"points", Json::array()}};
  Table table({"schedule", "threads", "chunk", "edges/s", "speedup", "efficiency", "compute", "apply", "updating",
               "GFLOP/s", "of peak", "GB/s", "of memory"});
  for (const ScalingPoint& p : report.points) {
    json["points"].push_back({{"schedule", ScheduleName(p.schedule)},
                              {"threads", p.threads},
                              {"chunk", p.chunk},
                              {"edges_per_second", p.rate.edges_per_second},
                              {"speedup", p.speedup},
                              {"efficiency", p.speedup / p.threads},
                              {"compute_seconds_an_edge", p.rate.compute_seconds},
                              {"compute_speedup", p.compute_speedup},
                              {"apply_seconds_an_edge", p.rate.apply_seconds},
                              {"apply_speedup", p.apply_speedup},
                              {"gflops", p.gflops},
                              {"share_of_gemm_peak", p.share_of_gemm_peak},
                              {"gbps", p.gbps},
                              {"share_of_memory_bandwidth", p.share_of_bandwidth}});
    table.Add({std::string(ScheduleName(p.schedule)), std::to_string(p.threads), std::to_string(p.chunk),
               Number(p.rate.edges_per_second, 0), Number(p.speedup, 2), Percent(p.speedup / p.threads),
               Number(p.compute_speedup, 2), Number(p.apply_speedup, 2),
               Percent(p.rate.apply_seconds / (p.rate.compute_seconds + p.rate.apply_seconds)), Number(p.gflops),
               Percent(p.share_of_gemm_peak), Number(p.gbps), Percent(p.share_of_bandwidth)});
  }
  if (flags.json) {
    Print(json);
    return absl::OkStatus();
  }
  PrintPeaks(report.peaks);
  fmt::print("\n");
  table.Print();
  fmt::print("\nbound by {}; updating: its share of the time; the peak is that of {} products\n", report.bound,
             options.precision == Precision::kBf16 ? "bf16" : "float32");
  return absl::OkStatus();
}

using Bench = absl::Status (*)(Program&, const BenchFlags&);

CLI::App& AddBench(CLI::App& verb, Program& program, const std::shared_ptr<BenchFlags>& flags, const std::string& name,
                   const std::string& help, Bench bench) {
  CLI::App& app = *verb.add_subcommand(name, help);
  app.add_flag("--json", flags->json, "Print JSON");
  RefuseEmpty(app.add_option("--svg", flags->svg, "Draw the figures as charts, too, an SVG file"))->type_name("FILE");
  app.final_callback([&program, flags, bench] {
    program.run = [flags, bench](Program& p) -> absl::Status {
      RETURN_IF_ERROR(CheckSvg(*flags));
      return bench(p, *flags);
    };
  });
  return app;
}

}  // namespace

absl::Status WriteCharts(Program& program, const BenchFlags& flags, ChartPage page) {
  if (flags.svg.empty()) return absl::OkStatus();
  page.notes.push_back(fmt::format("octavo {} on {}, {} at most.", kVersion, Escape(ProcessorName()),
                                   CountText(static_cast<std::uint64_t>(ThreadCount(program)), "thread")));
  return WriteWholeFileAtomically(flags.svg, ToSvg(page));
}

void AddBenchVerb(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<BenchFlags>();
  CLI::App& verb = *app.add_subcommand("bench", "Measure this machine and the parts of the tool");
  verb.require_subcommand(1);
  const auto add_seconds = [&](CLI::App& bench) {
    AddRealNumber(bench, "--seconds", flags->seconds, 0.01, 60, "Seconds for each figure, about");
  };
  const auto add_folder = [&](CLI::App& bench) {
    bench.add_option("--folder", flags->folder, "Folder on the disk to measure; files written there are removed")
        ->type_name("DIR")
        ->capture_default_str();
  };
  CLI::App& machine = AddBench(verb, program, flags, "machine", "Matrix products, memory, disk", BenchMachine);
  add_seconds(machine);
  add_folder(machine);
  CLI::App& kernels = AddBench(verb, program, flags, "kernels", "The training kernel of each model", BenchKernels);
  add_seconds(kernels);
  AddWholeNumber(kernels, "--chunk", flags->chunk, 1, 1 << 16, "Edges that share negatives");
  AddWholeNumber(kernels, "--negatives", flags->negatives, 1, 1 << 16, "Negatives per side");
  AddWholeNumber(kernels, "--dim", flags->dim, 2, 1 << 16, "Floats a node");
  add_seconds(AddBench(verb, program, flags, "prefetch", "When a second buffer pays, and when not", BenchPrefetch));
  add_seconds(AddBench(verb, program, flags, "locks", "Row locks against none and one for all", BenchLocks));
  AddBench(verb, program, flags, "orders", "Loads of partitions by order of buckets", BenchOrders);
  CLI::App& tables =
      AddBench(verb, program, flags, "tables", "How tables come into memory: mapped and direct", BenchTables);
  add_seconds(tables);
  add_folder(tables);
  tables
      .add_option("--sizes", flags->sizes,
                  "Bytes of embeddings; those that disk or --memory have no room for are left out")
      ->type_name("SIZE,...")
      ->capture_default_str();
  tables.add_option("--dims", flags->dims, "Floats of a row")->type_name("N,...")->capture_default_str();
  CLI::App& scaling = AddBench(verb, program, flags, "scaling",
                               "Training over schedules, threads and chunks, and what bounds it", BenchScaling);
  add_seconds(scaling);
  add_folder(scaling);
  AddTrainFlags(scaling, flags->train);
}

}  // namespace octavo
