// The events of a run: metrics.jsonl, one JSON object per line, with checksums (format/sealed_lines.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/sealed_lines.h"
#include "io/file.h"
#include "run/validation.h"
#include "tables/partition_loading.h"

namespace octavo {

// An epoch. Seconds, bytes and rates are of this process only; loss and edges are of the whole epoch.
struct EpochEvent {
  std::uint64_t epoch = 0;  // from 1
  double loss = 0;          // mean over the edges' two sides, by weight, without the penalty
  double penalty = 0;       // mean over the edges' two sides
  std::uint64_t edges = 0;
  double learning_rate = 0;  // of the last update
  double seconds = 0;
  double edges_per_second = 0;
  double fetch_seconds = 0;              // reading edges, including in the background
  double compute_seconds = 0;            // sampling, gathering, scores, gradients, and the updates of async
  double apply_seconds = 0;              // summing gradients, updating rows
  double exchange_seconds = 0;           // loading and writing partitions, including in the background
  double stall_seconds = 0;              // waiting for edges or partitions
  std::uint64_t windows = 0;             // of edges (prefetch/epoch_order.h)
  std::uint64_t prefetched_windows = 0;  // read before they were needed
  double commit_seconds = 0;             // writing the tables
  std::uint64_t partitions = 1;          // that the tables are divided into
  std::uint64_t resident = 1;            // of them in memory at a time
  Loading exchange = Loading::kDirect;
  std::uint64_t partition_loads = 0;
  std::uint64_t planned_partition_loads = 0;
  std::uint64_t planned_read_bytes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t planned_written_bytes = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t peak_rss_bytes = 0;
  std::uint64_t memory_bytes = 0;  // the limit, --memory
  // Of a run in lanes, else absent: the seconds of each round's slowest lane together, and the share of them in which
  // the mean lane works.
  std::uint64_t lanes = 1;
  std::uint64_t rounds = 0;
  double slowest_lane_seconds = 0;
  double lane_balance = 1;
  // Of a run that several processes train, else absent: their number, the bytes of rows that moved between them, the
  // most seconds that one of them spent on sending, and that one waited for others.
  std::uint64_t ranks = 1;
  std::uint64_t moved_bytes = 0;
  double moving_seconds = 0;
  double waited_seconds = 0;
  std::uint64_t waiting_rank = 0;
};

// A validation.
struct ValidationEvent {
  std::uint64_t epoch = 0;  // epochs done
  ValidationScores scores;
  double seconds = 0;  // including the copy of the best run
  std::uint64_t best_epoch = 0;
  double best_mrr = 0;
  double learning_rate_factor = 1;  // of plateau, from now on
};

// The result of a warm start (run/initial_vectors.h).
struct InitialEvent {
  std::string source;
  std::uint64_t vectors = 0;  // of nodes, in the source
  std::uint64_t nodes = 0;    // nodes that got a vector, out of all_nodes
  std::uint64_t all_nodes = 0;
  std::uint64_t relation_rows = 0;  // the same for relation rows; with reciprocal relations two per relation
  std::uint64_t all_relation_rows = 0;
  bool optimizer_state = false;  // was taken over too
};

std::string ToJson(const InitialEvent& event);
std::string ToJson(const EpochEvent& event);
std::string ToJson(const ValidationEvent& event);

// The keys of all events.
EventKeys MetricsKeys();

// Appends events to metrics.jsonl. One owner.
class MetricsLog {
 public:
  // Check alone writes nothing. Open opens or makes the file and truncates it to `committed_bytes`, its length at the
  // last commit: later events belong to work that will be repeated. If it is shorter, or not there, it is corrupt.
  static absl::Status Check(const std::filesystem::path& path, std::uint64_t committed_bytes);
  static absl::StatusOr<MetricsLog> Open(const std::filesystem::path& path, std::uint64_t committed_bytes);

  absl::Status Append(const InitialEvent& event) { return AppendEvent(ToJson(event)); }
  absl::Status Append(const EpochEvent& event) { return AppendEvent(ToJson(event)); }
  absl::Status Append(const ValidationEvent& event) { return AppendEvent(ToJson(event)); }
  absl::Status Sync() { return file_.Sync(); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  absl::Status AppendEvent(const std::string& object);

  MetricsLog(File file, std::uint64_t bytes) : file_(std::move(file)), bytes_(bytes) {}

  File file_;
  std::uint64_t bytes_;
};

// The largest resident set of this process so far, or 0 if the system does not report it.
std::uint64_t PeakResidentBytes();

}  // namespace octavo
