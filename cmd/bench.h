// What the parts of octavo bench share: flags, tables on a terminal, charts.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/json_escape.h"
#include "chart/svg_chart.h"
#include "cmd/program.h"
#include "cmd/train_flags.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace octavo {

using Json = nlohmann::ordered_json;

struct BenchFlags {
  bool json = false;
  std::string svg;  // empty: no chart
  double seconds = 0.5;
  std::string folder = ".";
  std::uint64_t chunk = 256;
  std::uint64_t negatives = 512;
  std::uint64_t dim = 200;
  std::string sizes = "1MB,200MB,4GB";
  std::string dims = "100,400";
  TrainFlags train;
};

// A table on a terminal: names of columns over right-aligned values, the first column to the left.
class Table {
 public:
  explicit Table(std::vector<std::string> names) { rows_.push_back(std::move(names)); }
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void Print() const {
    std::vector<std::size_t> widths(rows_[0].size());
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    for (const auto& row : rows_) {
      std::string line = fmt::format("{:<{}}", row[0], widths[0]);
      for (std::size_t i = 1; i < row.size(); ++i) line += fmt::format("  {:>{}}", row[i], widths[i]);
      fmt::print("{}\n", line);
    }
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

inline std::string Number(double value, int digits = 1) { return fmt::format("{:.{}f}", value, digits); }
inline std::string Percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

inline void Print(const Json& json) {
  fmt::print("{}\n", EscapeJsonControls(json.dump(2, ' ', false, Json::error_handler_t::replace)));
}

// Writes the page to --svg, where it was asked for.
absl::Status WriteCharts(Program& program, const BenchFlags& flags, ChartPage page);

// octavo bench tables.
absl::Status BenchTables(Program& program, const BenchFlags& flags);

}  // namespace octavo
