#include "report/run_history.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "format/sealed_json.h"
#include "io/file.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

using Json = nlohmann::json;

// Reads the members of one event. Remembers the first that has the wrong type.
class EventReader {
 public:
  explicit EventReader(const Json& event) : event_(event) {}

  void Read(const char* key, std::uint64_t& value) {
    const auto found = event_.find(key);
    if (found == event_.end()) return;
    if (!found->is_number_unsigned()) return Refuse(key, *found, "a whole number");
    value = found->get<std::uint64_t>();
  }
  void Read(const char* key, double& value) {
    const auto found = event_.find(key);
    if (found == event_.end()) return;
    if (found->is_null()) {
      value = std::numeric_limits<double>::quiet_NaN();
    } else if (found->is_number()) {
      value = found->get<double>();
    } else {
      Refuse(key, *found, "a number");
    }
  }
  // The same for a key that is required.
  template <typename T>
  void Require(const char* key, T& value) {
    if (event_.contains(key)) return Read(key, value);
    if (wrong_.empty()) wrong_ = fmt::format("no \"{}\"; expected one in each event of this kind", key);
  }
  const std::string& wrong() const { return wrong_; }

 private:
  void Refuse(const char* key, const Json& found, std::string_view expected) {
    if (!wrong_.empty()) return;
    // Does not print nested values: their depth could exhaust the stack.
    const std::string text =
        found.is_structured() ? found.type_name() : found.dump(-1, ' ', false, Json::error_handler_t::replace);
    wrong_ = fmt::format("\"{}\" is {}; expected {}", key, Escape(text), expected);
  }

  const Json& event_;
  std::string wrong_;
};

EpochEvent ReadEpoch(EventReader& reader) {
  EpochEvent event;
  reader.Require("epoch", event.epoch);
  reader.Require("loss", event.loss);
  reader.Read("penalty", event.penalty);
  reader.Read("edges", event.edges);
  reader.Read("learning_rate", event.learning_rate);
  reader.Read("seconds", event.seconds);
  reader.Read("edges_per_second", event.edges_per_second);
  reader.Read("fetch_seconds", event.fetch_seconds);
  reader.Read("exchange_seconds", event.exchange_seconds);
  reader.Read("compute_seconds", event.compute_seconds);
  reader.Read("apply_seconds", event.apply_seconds);
  reader.Read("stall_seconds", event.stall_seconds);
  reader.Read("windows", event.windows);
  reader.Read("prefetched_windows", event.prefetched_windows);
  reader.Read("commit_seconds", event.commit_seconds);
  reader.Read("partitions", event.partitions);
  reader.Read("resident", event.resident);
  reader.Read("partition_loads", event.partition_loads);
  reader.Read("planned_partition_loads", event.planned_partition_loads);
  reader.Read("planned_read_bytes", event.planned_read_bytes);
  reader.Read("read_bytes", event.read_bytes);
  reader.Read("planned_written_bytes", event.planned_written_bytes);
  reader.Read("written_bytes", event.written_bytes);
  reader.Read("peak_rss_bytes", event.peak_rss_bytes);
  reader.Read("memory_bytes", event.memory_bytes);
  reader.Read("lanes", event.lanes);
  reader.Read("rounds", event.rounds);
  reader.Read("slowest_lane_seconds", event.slowest_lane_seconds);
  reader.Read("lane_balance", event.lane_balance);
  reader.Read("ranks", event.ranks);
  reader.Read("moved_bytes", event.moved_bytes);
  reader.Read("moving_seconds", event.moving_seconds);
  reader.Read("waited_seconds", event.waited_seconds);
  reader.Read("waiting_rank", event.waiting_rank);
  return event;
}

ValidationEvent ReadValidation(EventReader& reader) {
  ValidationEvent event;
  reader.Require("epoch", event.epoch);
  reader.Require("mrr", event.scores.mrr);
  reader.Read("hits@1", event.scores.hits_at_1);
  reader.Read("hits@3", event.scores.hits_at_3);
  reader.Read("hits@10", event.scores.hits_at_10);
  reader.Read("mean_rank", event.scores.mean_rank);
  reader.Read("triples", event.scores.triples);
  reader.Read("seconds", event.seconds);
  reader.Read("best_epoch", event.best_epoch);
  reader.Read("best_mrr", event.best_mrr);
  reader.Read("learning_rate_factor", event.learning_rate_factor);
  return event;
}

// `place` is "FILE:LINE", `offset` that of the line in the file.
absl::Status AddEvent(std::string_view line, std::uint64_t offset, const std::string& place, RunHistory& history) {
  const Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!event.is_object() || !event.contains("event") || !event["event"].is_string()) {
    return CorruptError(fmt::format("{}: found \"{}\"; expected a JSON object with an \"event\"", place, Escape(line)));
  }
  RETURN_IF_ERROR(CheckSeal(line, event.contains(kSealKey), place, offset));
  EventReader reader(event);
  const std::string& kind = event["event"].get_ref<const std::string&>();
  if (kind == "epoch") history.epochs.push_back(ReadEpoch(reader));
  if (kind == "validation") history.validations.push_back(ReadValidation(reader));
  if (reader.wrong().empty()) return absl::OkStatus();
  return CorruptError(fmt::format("{}: {}", place, reader.wrong()));
}

}  // namespace

absl::StatusOr<RunHistory> ReadRunHistory(const std::filesystem::path& path, std::uint64_t committed_bytes) {
  RunHistory history;
  ASSIGN_OR_RETURN(const bool there, FileExists(path));
  if (!there) return history;
  ASSIGN_OR_RETURN(const File file, File::OpenRead(path));
  ASSIGN_OR_RETURN(const std::uint64_t size, file.Size());
  std::string text(std::min(size, committed_bytes), '\0');
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(text))));
  std::string_view rest = text;
  for (std::uint64_t line = 1; !rest.empty(); ++line) {
    const std::size_t end = rest.find('\n');
    RETURN_IF_ERROR(
        AddEvent(rest.substr(0, end), text.size() - rest.size(), fmt::format("{}:{}", path.string(), line), history));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return history;
}

}  // namespace octavo
