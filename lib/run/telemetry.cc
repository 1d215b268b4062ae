#include "run/telemetry.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "nlohmann/json.hpp"

namespace octavo {

std::string ToJson(const InitialEvent& event) {
  const nlohmann::ordered_json json = {{"event", "init"},
                                       {"source", event.source},
                                       {"vectors", event.vectors},
                                       {"nodes", event.nodes},
                                       {"all_nodes", event.all_nodes},
                                       {"relation_rows", event.relation_rows},
                                       {"all_relation_rows", event.all_relation_rows},
                                       {"optimizer_state", event.optimizer_state}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);  // paths are bytes
}

std::string ToJson(const EpochEvent& event) {
  nlohmann::ordered_json json = {{"event", "epoch"},
                                 {"epoch", event.epoch},
                                 {"loss", event.loss},
                                 {"penalty", event.penalty},
                                 {"edges", event.edges},
                                 {"learning_rate", event.learning_rate},
                                 {"seconds", event.seconds},
                                 {"edges_per_second", event.edges_per_second},
                                 {"fetch_seconds", event.fetch_seconds},
                                 {"exchange_seconds", event.exchange_seconds},
                                 {"compute_seconds", event.compute_seconds},
                                 {"apply_seconds", event.apply_seconds},
                                 {"stall_seconds", event.stall_seconds},
                                 {"windows", event.windows},
                                 {"prefetched_windows", event.prefetched_windows},
                                 {"commit_seconds", event.commit_seconds},
                                 {"partitions", event.partitions},
                                 {"resident", event.resident},
                                 {"exchange", LoadingName(event.exchange)},
                                 {"partition_loads", event.partition_loads},
                                 {"planned_partition_loads", event.planned_partition_loads},
                                 {"planned_read_bytes", event.planned_read_bytes},
                                 {"read_bytes", event.read_bytes},
                                 {"planned_written_bytes", event.planned_written_bytes},
                                 {"written_bytes", event.written_bytes},
                                 {"peak_rss_bytes", event.peak_rss_bytes},
                                 {"memory_bytes", event.memory_bytes}};
  if (event.lanes > 1) {
    json["lanes"] = event.lanes;
    json["rounds"] = event.rounds;
    json["slowest_lane_seconds"] = event.slowest_lane_seconds;
    json["lane_balance"] = event.lane_balance;
  }
  if (event.ranks > 1) {
    json["ranks"] = event.ranks;
    json["moved_bytes"] = event.moved_bytes;
    json["moving_seconds"] = event.moving_seconds;
    json["waited_seconds"] = event.waited_seconds;
    json["waiting_rank"] = event.waiting_rank;
  }
  return json.dump();
}

std::string ToJson(const ValidationEvent& event) {
  const nlohmann::ordered_json json = {{"event", "validation"},
                                       {"epoch", event.epoch},
                                       {"mrr", event.scores.mrr},
                                       {"hits@1", event.scores.hits_at_1},
                                       {"hits@3", event.scores.hits_at_3},
                                       {"hits@10", event.scores.hits_at_10},
                                       {"mean_rank", event.scores.mean_rank},
                                       {"triples", event.scores.triples},
                                       {"seconds", event.seconds},
                                       {"best_epoch", event.best_epoch},
                                       {"best_mrr", event.best_mrr},
                                       {"learning_rate_factor", event.learning_rate_factor}};
  return json.dump();
}

EventKeys MetricsKeys() {
  EpochEvent epoch;
  epoch.lanes = 2;  // with all keys
  epoch.ranks = 2;
  return KeysOfEvents({ToJson(InitialEvent()), ToJson(epoch), ToJson(ValidationEvent())});
}

absl::Status MetricsLog::Check(const std::filesystem::path& path, std::uint64_t committed_bytes) {
  ASSIGN_OR_RETURN(const bool there, FileExists(path));
  std::uint64_t size = 0;
  if (there) {
    ASSIGN_OR_RETURN(const File file, File::OpenRead(path));
    ASSIGN_OR_RETURN(size, file.Size());
  }
  if (size >= committed_bytes) return absl::OkStatus();
  return CorruptError(
      fmt::format("{}: {} bytes; expected at least the {} that were committed", path.string(), size, committed_bytes));
}

absl::StatusOr<MetricsLog> MetricsLog::Open(const std::filesystem::path& path, std::uint64_t committed_bytes) {
  RETURN_IF_ERROR(Check(path, committed_bytes));
  ASSIGN_OR_RETURN(const bool there, FileExists(path));
  ASSIGN_OR_RETURN(File file, there ? File::OpenReadWrite(path) : File::Create(path));
  if (!there) RETURN_IF_ERROR(SyncFolder(path.parent_path()));  // otherwise a power cut could lose the name and the log
  ASSIGN_OR_RETURN(const std::uint64_t size, file.Size());
  if (committed_bytes < size) RETURN_IF_ERROR(file.Truncate(committed_bytes));
  return MetricsLog(std::move(file), committed_bytes);
}

absl::Status MetricsLog::AppendEvent(const std::string& object) {
  const std::string line = SealLine(object, bytes_);
  RETURN_IF_ERROR(file_.WriteAt(bytes_, std::as_bytes(std::span<const char>(line))));
  bytes_ += line.size();
  return absl::OkStatus();
}

std::uint64_t PeakResidentBytes() {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
}

}  // namespace octavo
