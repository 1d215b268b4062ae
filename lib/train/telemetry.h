// The events of a run: metrics.jsonl, one JSON object a line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/file.h"
#include "train/validation.h"

namespace octavo {

// What an epoch did. Seconds, bytes and rates are of this process only, the loss and the edges of the whole epoch.
struct EpochEvent {
  std::uint64_t epoch = 0;  // from 1
  double loss = 0;          // mean over the edges' two sides, without the penalty
  double penalty = 0;       // mean over the edges' two sides
  std::uint64_t edges = 0;
  double learning_rate = 0;  // of the last update
  double seconds = 0;
  double edges_per_second = 0;
  double fetch_seconds = 0;      // reading edges, also behind the training
  double compute_seconds = 0;    // sampling, gathering, scores, gradients, and what runs beside them: in async, and
                                 // where updates lag, rows' updates, too
  double apply_seconds = 0;      // summing gradients, updating rows
  double exchange_seconds = 0;   // loading and writing back partitions, also behind the training
  double stall_seconds = 0;      // waiting for edges or partitions
  double commit_seconds = 0;     // writing the tables
  std::uint64_t partitions = 1;  // groups that the tables are divided into
  std::uint64_t resident = 1;    // of which so many are in memory
  std::uint64_t partition_loads = 0;
  std::uint64_t planned_partition_loads = 0;
  std::uint64_t planned_read_bytes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t planned_written_bytes = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t peak_rss_bytes = 0;
  std::uint64_t memory_bytes = 0;  // that it might hold: --memory
};

// What a validation came to.
struct ValidationEvent {
  std::uint64_t epoch = 0;  // epochs done
  ValidationScores scores;
  double seconds = 0;  // with the copy of the best run
  std::uint64_t best_epoch = 0;
  double best_mrr = 0;
  double learning_rate_factor = 1;  // from here on, of plateau
};

// What a warm start came to (train/initial_vectors.h).
struct InitialEvent {
  std::string source;
  std::uint64_t vectors = 0;  // of nodes, that the source has
  std::uint64_t nodes = 0;    // of all_nodes, that got one of them
  std::uint64_t all_nodes = 0;
  std::uint64_t relation_rows = 0;  // of all_relation_rows, the same; with reciprocal relations two a relation
  std::uint64_t all_relation_rows = 0;
  bool optimizer_state = false;  // was taken over, too
};

std::string ToJson(const InitialEvent& event);
std::string ToJson(const EpochEvent& event);
std::string ToJson(const ValidationEvent& event);

// Appends events to metrics.jsonl. One owner.
class MetricsLog {
 public:
  // Opens or makes the file and cuts it to `committed_bytes`, what the last commit says it holds: events behind it
  // belong to work that will be done again. A shorter file is left as it is.
  static absl::StatusOr<MetricsLog> Open(const std::filesystem::path& path, std::uint64_t committed_bytes);

  absl::Status Append(const InitialEvent& event) { return AppendLine(ToJson(event)); }
  absl::Status Append(const EpochEvent& event) { return AppendLine(ToJson(event)); }
  absl::Status Append(const ValidationEvent& event) { return AppendLine(ToJson(event)); }
  absl::Status Sync() { return file_.Sync(); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  absl::Status AppendLine(std::string line);

  MetricsLog(File file, std::uint64_t bytes) : file_(std::move(file)), bytes_(bytes) {}

  File file_;
  std::uint64_t bytes_;
};

// The largest resident set of this process so far, or 0 where the system does not say.
std::uint64_t PeakResidentBytes();

}  // namespace octavo
