// octavo bench tables: measures how tables come into memory.

#include "bench/tables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_size.h"
#include "base/escape.h"
#include "base/number.h"
#include "base/status.h"
#include "bench/charts.h"
#include "cmd/bench.h"
#include "cmd/limits.h"
#include "fmt/format.h"

namespace octavo {
namespace {

// Reads "1MB,4GiB" or "100,400" with `parse`, which returns a number above 0 or an error.
template <typename Parse>
absl::StatusOr<std::vector<std::uint64_t>> ReadList(std::string_view flag, const std::string& text,
                                                    std::string_view expected, const Parse& parse) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    const std::optional<std::uint64_t> number = parse(part);
    if (!number || *number == 0) {
      return UsageError(fmt::format("{} {}: found \"{}\"; expected {}", flag, Escape(text), Escape(part), expected));
    }
    numbers.push_back(*number);
  }
  return numbers;
}

void PrintTables(const TableReport& report) {
  Table loads({"table", "dim", "read", "rows/s", "GB/s", "processor s", "page faults", "written GB/s", "processor s"});
  for (const TableLoad& load : report.loads) {
    const bool written = load.written_gbps > 0;
    loads.Add({FormatByteSize(load.table_bytes), std::to_string(load.dim), load.way, Number(load.rows_per_second, 0),
               Number(load.gbps, 3), Number(load.processor_seconds, 2), std::to_string(load.page_faults),
               written ? Number(load.written_gbps, 3) : "-",
               written ? Number(load.written_processor_seconds, 2) : "-"});
  }
  loads.Print();
  fmt::print("\n");
  Table trainings({"table", "dim", "edges/s mapped", "edges/s direct", "mapped / direct"});
  for (const TableTraining& rate : report.trainings) {
    trainings.Add({FormatByteSize(rate.table_bytes), std::to_string(rate.dim), Number(rate.mapped_edges_per_second, 0),
                   Number(rate.direct_edges_per_second, 0), Number(rate.mapped_against_direct(), 3)});
  }
  trainings.Print();
}

Json TablesJson(const TableReport& report) {
  Json json = {{"loads", Json::array()}, {"trainings", Json::array()}, {"left_out", report.left_out}};
  for (const TableLoad& load : report.loads) {
    json["loads"].push_back({{"table_bytes", load.table_bytes},
                             {"dim", load.dim},
                             {"read", load.way},
                             {"rows_per_second", load.rows_per_second},
                             {"gbps", load.gbps},
                             {"processor_seconds", load.processor_seconds},
                             {"page_faults", load.page_faults},
                             {"written_gbps", load.written_gbps},
                             {"written_processor_seconds", load.written_processor_seconds}});
  }
  for (const TableTraining& rate : report.trainings) {
    json["trainings"].push_back({{"table_bytes", rate.table_bytes},
                                 {"dim", rate.dim},
                                 {"mapped_edges_per_second", rate.mapped_edges_per_second},
                                 {"direct_edges_per_second", rate.direct_edges_per_second},
                                 {"mapped_against_direct", rate.mapped_against_direct()}});
  }
  return json;
}

}  // namespace

absl::Status BenchTables(Program& program, const BenchFlags& flags) {
  TableSettings settings;
  settings.folder = flags.folder;
  settings.memory = MemoryLimit(program);
  settings.threads = ThreadCount(program);
  settings.seconds = flags.seconds;
  ASSIGN_OR_RETURN(settings.sizes,
                   ReadList("--sizes", flags.sizes, "sizes such as 1MB,200MB,4GB", [](std::string_view text) {
                     const absl::StatusOr<std::uint64_t> bytes = ParseByteSize(text);
                     return bytes.ok() ? std::optional(*bytes) : std::nullopt;
                   }));
  ASSIGN_OR_RETURN(settings.dims, ReadList("--dims", flags.dims, "even numbers up to 65536 such as 100,400",
                                           [](std::string_view text) -> std::optional<std::uint64_t> {
                                             const auto dim = ParseWholeNumber(text);
                                             return dim && *dim % 2 == 0 && *dim <= 65536 ? dim : std::nullopt;
                                           }));
  ASSIGN_OR_RETURN(const TableReport report, MeasureTables(settings));
  RETURN_IF_ERROR(WriteCharts(program, flags, TableCharts(report)));
  for (const std::string& left_out : report.left_out) program.reporter.Warning(left_out);
  if (flags.json) {
    Print(TablesJson(report));
  } else {
    PrintTables(report);
  }
  return absl::OkStatus();
}

}  // namespace octavo
