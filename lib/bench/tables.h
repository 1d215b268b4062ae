// Measures the ways of loading tables, and what small pages cost a training: the basis of --exchange auto.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace octavo {

// One way to load a table that is not in the page cache.
struct TableLoad {
  std::uint64_t table_bytes = 0;
  std::uint64_t dim = 0;
  std::string way;
  double rows_per_second = 0;
  double gbps = 0;  // 10^9 bytes of rows per second
  double processor_seconds = 0;
  std::uint64_t page_faults = 0;
  double written_gbps = 0;  // 0: not written back
  double written_processor_seconds = 0;
};

// Training on a table in memory.
struct TableTraining {
  std::uint64_t table_bytes = 0;
  std::uint64_t dim = 0;
  double mapped_edges_per_second = 0;  // in the small pages of a mapped file
  double direct_edges_per_second = 0;  // in huge pages

  double mapped_against_direct() const { return mapped_edges_per_second / direct_edges_per_second; }
};

struct TableReport {
  std::vector<TableLoad> loads;
  std::vector<TableTraining> trainings;
  std::vector<std::string> left_out;  // what was not measured and why
};

struct TableSettings {
  std::vector<std::uint64_t> sizes;  // of the embeddings, in bytes
  std::vector<std::uint64_t> dims;
  std::filesystem::path folder;  // where files are written, and removed afterwards
  std::uint64_t memory = 0;      // larger tables are left out
  int threads = 1;
  double seconds = 0.5;  // per figure, approximately
};

// For each size and dimension, measures
// - single random rows of a mapped file, each read and written, with the kernel's read-ahead and without; then the
// whole
//   table populated and direct (tables/partition_loading.h), and written back;
// - the edges per second of a training with default options on a small random graph, in small pages and in huge pages:
//   the medians of alternating measurements.
absl::StatusOr<TableReport> MeasureTables(const TableSettings& settings);

}  // namespace octavo
