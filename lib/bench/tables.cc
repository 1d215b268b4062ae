#include "bench/tables.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/byte_size.h"
#include "base/checked_math.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/status.h"
#include "bench/random_floats.h"
#include "bench/rate.h"
#include "fmt/format.h"
#include "graph/graph.h"
#include "import/importer.h"
#include "io/file.h"
#include "io/free_space.h"
#include "io/scratch_folder.h"
#include "io/write_behind.h"
#include "run/options.h"
#include "tables/mmap_manager.h"
#include "tables/partition_loading.h"
#include "tables/table_file.h"
#include "train/machine_probe.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// A table of one partition.
TableLayout LayoutOf(const fs::path& folder, std::uint64_t bytes, std::uint64_t dim) {
  const std::uint64_t rows = std::max<std::uint64_t>(1, bytes / (dim * sizeof(float)));
  const std::uint64_t quanta = RoundUp(rows, kPartitionRowQuantum);
  return {.slots = {folder / "t.npy", folder / "t.other.npy"},
          .shape = {.rows = quanta, .columns = dim},
          .partition_rows = quanta};
}

// Fills the file with rows and drops it from the page cache.
absl::Status FillTable(const TableLayout& layout) {
  ASSIGN_OR_RETURN(File file, CreateTableFile(layout.slots[0], layout.shape));
  const std::vector<float> values = RandomFloats(std::size_t{1} << 20, 1);
  const auto bytes = std::as_bytes(std::span(values));
  const std::uint64_t end = RowOffset(layout.shape, layout.shape.rows);
  WriteBehind cache;
  for (std::uint64_t at = kNpyHeaderBytes; at < end; at += bytes.size()) {
    const std::uint64_t step = std::min<std::uint64_t>(bytes.size(), end - at);
    RETURN_IF_ERROR(file.WriteAt(at, bytes.first(step)));
    RETURN_IF_ERROR(cache.Advance(file, at + step));
  }
  RETURN_IF_ERROR(cache.Finish(file, end));
  RETURN_IF_ERROR(file.Sync());
  file.DropCache(0, end);
  return file.Close();
}

std::uint64_t PageFaults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_minflt) + static_cast<std::uint64_t>(usage.ru_majflt);
}

// Measures `work`, which returns the number of rows it processed.
template <typename Work>
absl::StatusOr<TableLoad> Measure(const TableLayout& layout, std::string way, const Work& work) {
  const std::uint64_t faults = PageFaults();
  const double processor = ProcessorSeconds();
  const double begin = SteadySeconds();
  ASSIGN_OR_RETURN(const std::uint64_t rows, work());
  const double seconds = std::max(SteadySeconds() - begin, 1e-9);
  const double rate = static_cast<double>(rows) / seconds;
  return TableLoad{.table_bytes = layout.shape.rows * layout.shape.row_bytes(),
                   .dim = layout.shape.columns,
                   .way = std::move(way),
                   .rows_per_second = rate,
                   .gbps = rate * static_cast<double>(layout.shape.row_bytes()) * 1e-9,
                   .processor_seconds = ProcessorSeconds() - processor,
                   .page_faults = PageFaults() - faults};
}

// Updates single random rows of the mapped file for `seconds`.
absl::StatusOr<TableLoad> MeasureRows(const TableLayout& layout, bool read_ahead, double seconds) {
  ASSIGN_OR_RETURN(const File file, OpenTableFile(layout.slots[0], layout.shape, /*writable=*/false));
  const std::uint64_t row_bytes = layout.shape.row_bytes();
  const std::uint64_t bytes = layout.shape.rows * row_bytes;
  file.DropCache(0, 0);
  void* const reserved = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return ErrnoError(fmt::format("reserve {} bytes of addresses", bytes), errno);
  const std::unique_ptr<void, std::function<void(void*)>> owner(reserved, [bytes](void* p) { ::munmap(p, bytes); });
  const std::span<std::byte> memory(static_cast<std::byte*>(reserved), bytes);
  RETURN_IF_ERROR(MapPartition({.memory = memory, .file = file, .offset = kNpyHeaderBytes}));
  if (read_ahead) ::madvise(reserved, bytes, MADV_NORMAL);
  RandomStream random(1, RandomPurpose::kGenerate, 4, read_ahead ? 1 : 0);
  return Measure(layout, read_ahead ? "rows, mapped, read-ahead" : "rows, mapped",
                 [&]() -> absl::StatusOr<std::uint64_t> {
                   const double begin = SteadySeconds();
                   std::uint64_t rows = 0;
                   do {
                     std::byte* const row = memory.data() + random.Below(layout.shape.rows) * row_bytes;
                     for (float& x : std::span(reinterpret_cast<float*>(row), layout.shape.columns)) x += 1.0F;
                   } while (++rows < layout.shape.rows && SteadySeconds() - begin < seconds);
                   return rows;
                 });
}

// Loads the whole table and writes it back.
absl::StatusOr<TableLoad> MeasureLoading(const TableLayout& layout, Loading loading) {
  ASSIGN_OR_RETURN(const std::unique_ptr<MmapManager> table, MmapManager::Open(layout, {0}));
  ASSIGN_OR_RETURN(const File file, File::OpenRead(layout.slots[0]));
  file.DropCache(0, 0);
  constexpr PartitionId kAll{0};
  ASSIGN_OR_RETURN(TableLoad load,
                   Measure(layout, std::string(LoadingName(loading)), [&]() -> absl::StatusOr<std::uint64_t> {
                     RETURN_IF_ERROR(table->LoadPartition(kAll, std::nullopt, loading));
                     return layout.shape.rows;
                   }));
  table->MarkChanged(kAll);
  ASSIGN_OR_RETURN(const TableLoad written, Measure(layout, "", [&]() -> absl::StatusOr<std::uint64_t> {
                     RETURN_IF_ERROR(table->WritePartition(kAll).status());
                     RETURN_IF_ERROR(table->Sync());
                     return layout.shape.rows;
                   }));
  load.written_gbps = written.gbps;
  load.written_processor_seconds = written.processor_seconds;
  return load;
}

// A random graph of one relation.
absl::StatusOr<std::unique_ptr<Graph>> MakeGraph(const fs::path& folder) {
  constexpr std::uint64_t kNodes = 20'000;
  constexpr std::uint64_t kEdges = std::uint64_t{1} << 16;
  const fs::path text = folder / "edges.tsv";
  {
    std::ofstream out(text);
    RandomStream random(1, RandomPurpose::kGenerate, 5, 0);
    for (std::uint64_t i = 0; i < kEdges; ++i) {
      out << fmt::format("{}\t{}\n", random.Below(kNodes), random.Below(kNodes));
    }
    if (!out.flush()) return RuntimeError(fmt::format("{}: could not be written", text.string()));
  }
  ImportOptions options;
  options.inputs = {text.string()};
  options.graph = folder / "graph";
  options.format = InputFormat::kTsv;
  options.columns = "head,tail";
  RETURN_IF_ERROR(Import(options).status());
  return Graph::Open(options.graph);
}

double Middle(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

absl::StatusOr<TableTraining> MeasureTraining(const TableSettings& settings, std::uint64_t bytes, std::uint64_t dim) {
  constexpr int kRounds = 5;
  std::unique_ptr<Graph> graph;
  std::vector<TrainingProbe> probes;
  const TableLayout layout = LayoutOf(settings.folder, bytes, dim);
  TrainOptions options;
  options.dim = dim;
  {
    ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::Make(settings.folder, "octavo-bench"));
    ASSIGN_OR_RETURN(graph, MakeGraph(scratch.path()));
    for (const Loading loading : {Loading::kMapped, Loading::kDirect}) {
      ASSIGN_OR_RETURN(TrainingProbe probe,
                       TrainingProbe::Make(options, *graph, scratch.path(), layout.shape.rows, loading));
      probes.push_back(std::move(probe));
    }
  }
  std::array<std::vector<double>, 2> rates;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < probes.size(); ++i) {
      ASSIGN_OR_RETURN(const TrainingRate rate, probes[i].Train(settings.seconds / kRounds));
      rates[i].push_back(rate.edges_per_second);
    }
  }
  return TableTraining{.table_bytes = layout.shape.rows * layout.shape.row_bytes(),
                       .dim = dim,
                       .mapped_edges_per_second = Middle(rates[0]),
                       .direct_edges_per_second = Middle(rates[1])};
}

// Returns why a table of `bytes` cannot be measured, or "". Its two files and the optimizer state are on disk, and two
// trainings have it in memory.
std::string Obstacle(const TableSettings& settings, std::uint64_t bytes) {
  const std::optional<std::uint64_t> available = FreeBytes(settings.folder);
  const std::uint64_t disk = bytes * 5 / 2;
  if (available && *available < disk) {
    return fmt::format("{} of disk would be needed in {}, and {} are free", FormatByteSize(disk),
                       settings.folder.string(), FormatByteSize(*available));
  }
  const std::uint64_t memory = bytes * 5 / 2 + (std::uint64_t{64} << 20);
  if (memory <= settings.memory) return "";
  return fmt::format("{} of memory would be needed, and --memory allows {}", FormatByteSize(memory),
                     FormatByteSize(settings.memory));
}

}  // namespace

absl::StatusOr<TableReport> MeasureTables(const TableSettings& settings) {
  TableReport report;
  for (const std::uint64_t bytes : settings.sizes) {
    if (const std::string why = Obstacle(settings, bytes); !why.empty()) {
      report.left_out.push_back(fmt::format("tables of {}: {}", FormatByteSize(bytes), why));
      continue;
    }
    for (const std::uint64_t dim : settings.dims) {
      {
        ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::Make(settings.folder, "octavo-bench"));
        const TableLayout layout = LayoutOf(scratch.path(), bytes, dim);
        RETURN_IF_ERROR(FillTable(layout));
        for (const bool read_ahead : {true, false}) {
          ASSIGN_OR_RETURN(TableLoad load, MeasureRows(layout, read_ahead, settings.seconds));
          report.loads.push_back(std::move(load));
        }
        for (const Loading loading : {Loading::kPopulated, Loading::kDirect}) {
          ASSIGN_OR_RETURN(TableLoad load, MeasureLoading(layout, loading));
          report.loads.push_back(std::move(load));
        }
      }
      ASSIGN_OR_RETURN(const TableTraining training,
                       WithThreads(settings.threads, [&] { return MeasureTraining(settings, bytes, dim); }));
      report.trainings.push_back(training);
    }
  }
  return report;
}

}  // namespace octavo
