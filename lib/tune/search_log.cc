#include "tune/search_log.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/failpoint.h"
#include "nlohmann/json.hpp"
#include "run/option_json.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;
using Kind = SearchEvent::Kind;

constexpr int kSearchFormatVersion = 1;

constexpr std::pair<Kind, std::string_view> kKinds[] = {{Kind::kResult, "result"},
                                                        {Kind::kFailed, "failed"},
                                                        {Kind::kPaused, "paused"},
                                                        {Kind::kBegun, "begun"},
                                                        {Kind::kLeft, "left"}};
constexpr std::string_view kCandidates = "candidates";
// Not in older logs.
constexpr char kLargerSeconds[] = "larger_seconds";
constexpr char kFixedSeconds[] = "fixed_seconds";

std::string Text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string HeadText(const SearchArguments& arguments) {
  Json json = {{"event", "search"}, {"format", kSearchFormatVersion}, {"arguments", Json::object()}};
  for (const auto& [name, value] : arguments) json["arguments"][name] = value;
  return Text(json);
}

bool HasReason(Kind kind) { return kind == Kind::kFailed || kind == Kind::kLeft; }

// Options that have their defaults are left out.
std::string CandidatesText(const LoggedCandidates& candidates) {
  Json json = {{"event", kCandidates}, {"note", candidates.note}, {"candidates", Json::array()}};
  for (const TrainOptions& options : candidates.options) {
    Json candidate = Json::object();
    for (const OptionField& field : TrainOptionFields()) {
      if (field.format(options) == field.format(TrainOptions())) continue;
      candidate[std::string(field.name)] = Json::parse(OptionJson(field, options));
    }
    json["candidates"].push_back(std::move(candidate));
  }
  json["seconds"] = candidates.seconds;
  if (candidates.larger_seconds > 0) json[kLargerSeconds] = candidates.larger_seconds;
  return Text(json);
}

std::string EventText(const SearchEvent& event) {
  const auto* const kind =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& entry) { return entry.first == event.kind; });
  Json json = {{"event", kind->second}, {"trial", event.trial}, {"rung", event.rung}};
  if (event.kind == Kind::kResult) {
    json.update({{"epoch", event.epoch},
                 {"mrr", event.scores.mrr},
                 {"hits@1", event.scores.hits_at_1},
                 {"hits@3", event.scores.hits_at_3},
                 {"hits@10", event.scores.hits_at_10},
                 {"mean_rank", event.scores.mean_rank},
                 {"triples", event.scores.triples}});
  }
  if (HasReason(event.kind)) json["reason"] = event.reason;
  json["seconds"] = event.seconds;
  if (event.fixed_seconds > 0) json[kFixedSeconds] = event.fixed_seconds;
  return Text(json);
}

// Reads a number from an object; returns false if it is missing or not a number.
template <typename Number>
bool Take(const Json& json, const char* key, Number& value) {
  const auto at = json.find(key);
  if (at == json.end() || !at->is_number() || (std::is_integral_v<Number> && !at->is_number_unsigned())) return false;
  value = at->template get<Number>();
  return true;
}

std::optional<SearchEvent> ParseEvent(const Json& json) {
  const auto name = json.find("event");
  if (name == json.end() || !name->is_string()) return std::nullopt;
  const auto* const kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& entry) {
    return entry.second == name->get_ref<const std::string&>();
  });
  SearchEvent event;
  if (kind == std::end(kKinds)) return std::nullopt;
  event.kind = kind->first;
  if (!Take(json, "trial", event.trial) || !Take(json, "rung", event.rung) || !Take(json, "seconds", event.seconds)) {
    return std::nullopt;
  }
  if (HasReason(event.kind)) {
    const auto reason = json.find("reason");
    if (reason == json.end() || !reason->is_string()) return std::nullopt;
    event.reason = reason->get<std::string>();
  }
  ValidationScores& scores = event.scores;
  const bool complete = Take(json, "epoch", event.epoch) && Take(json, "mrr", scores.mrr) &&
                        Take(json, "hits@1", scores.hits_at_1) && Take(json, "hits@3", scores.hits_at_3) &&
                        Take(json, "hits@10", scores.hits_at_10) && Take(json, "mean_rank", scores.mean_rank) &&
                        Take(json, "triples", scores.triples);
  if (event.kind == Kind::kResult && !complete) return std::nullopt;
  const bool timed = json.contains(kFixedSeconds);
  if (timed && !(Take(json, kFixedSeconds, event.fixed_seconds) && event.fixed_seconds >= 0)) {
    return std::nullopt;
  }
  return event;
}

std::optional<TrainOptions> ParseCandidate(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  TrainOptions options;
  for (const auto& [name, value] : json.items()) {
    const OptionField* field = FindTrainOption(name);
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (field == nullptr || !field->parse(options, text)) return std::nullopt;
  }
  return options;
}

std::optional<LoggedCandidates> ParseCandidates(const Json& json) {
  const auto note = json.find("note");
  const auto list = json.find("candidates");
  LoggedCandidates candidates;
  if (note == json.end() || !note->is_string() || list == json.end() || !list->is_array() || list->empty() ||
      !Take(json, "seconds", candidates.seconds)) {
    return std::nullopt;
  }
  candidates.note = note->get<std::string>();
  if (json.contains(kLargerSeconds) && !Take(json, kLargerSeconds, candidates.larger_seconds)) return std::nullopt;
  for (const Json& candidate : *list) {
    const std::optional<TrainOptions> options = ParseCandidate(candidate);
    if (!options) return std::nullopt;
    candidates.options.push_back(*options);
  }
  return candidates;
}

// Returns a usage error for the first argument that differs from the search's.
absl::Status CheckArguments(const std::string& folder, const Json& before, const SearchArguments& arguments) {
  const auto differs = [&](std::string_view name, std::string_view found, std::string_view expected) {
    return UsageError(
        fmt::format("{}: has a search with another {}: found {}, expected {}; use the same value to continue, or "
                    "choose another --output",
                    folder, Escape(name), Escape(found, 400), Escape(expected, 400)));
  };
  for (const auto& [name, value] : arguments) {
    const auto at = before.find(name);
    const bool there = at != before.end() && at->is_string();
    if (!there) return differs(name, value, "none");
    if (at->get_ref<const std::string&>() != value) return differs(name, value, at->get_ref<const std::string&>());
  }
  for (const auto& [name, value] : before.items()) {
    const bool known = std::any_of(arguments.begin(), arguments.end(),
                                   [&key = name](const auto& argument) { return argument.first == key; });
    if (!known) return differs(name, "none", value.is_string() ? value.get_ref<const std::string&>() : "a value");
  }
  return absl::OkStatus();
}

}  // namespace

EventKeys SearchLogKeys() {
  std::vector<std::string> events = {HeadText({}), CandidatesText({.options = {}, .larger_seconds = 1})};
  for (const auto& [kind, name] : kKinds) events.push_back(EventText({.kind = kind, .fixed_seconds = 1}));
  return KeysOfEvents(events);
}

absl::StatusOr<SearchLog> SearchLog::Open(const std::filesystem::path& path, const SearchArguments& arguments) {
  ASSIGN_OR_RETURN(const bool there, FileExists(path));
  if (!there) RETURN_IF_ERROR(WriteWholeFileAtomically(path, SealLine(HeadText(arguments), 0)));
  ASSIGN_OR_RETURN(File file, File::OpenReadWrite(path));
  ASSIGN_OR_RETURN(SearchLog log, Load(std::move(file), arguments));
  ASSIGN_OR_RETURN(const std::uint64_t size, log.file_.Size());
  if (log.bytes_ < size) RETURN_IF_ERROR(log.file_.Truncate(log.bytes_));
  // After a failed sync, the data read may be only in the page cache. Sync it before anything depends on it.
  RETURN_IF_ERROR(log.file_.Sync());
  return log;
}

absl::StatusOr<std::optional<SearchLog>> SearchLog::Read(const std::filesystem::path& path,
                                                         const SearchArguments& arguments) {
  ASSIGN_OR_RETURN(const bool there, FileExists(path));
  if (!there) return std::nullopt;
  ASSIGN_OR_RETURN(File file, File::OpenRead(path));
  return Load(std::move(file), arguments);
}

absl::StatusOr<SearchLog> SearchLog::Load(File file, const SearchArguments& arguments) {
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(file.path(), kMostSearchLogBytes));
  SearchLog log(std::move(file));
  const std::size_t whole = text.rfind('\n') + 1;  // 0 if there is none
  RETURN_IF_ERROR(log.Replay(std::string_view(text).substr(0, whole), arguments));
  if (HasDamagedEnd(std::string_view(text).substr(whole))) {
    return CorruptError(
        fmt::format("{}:{}: found another byte than a line end after the last event; expected a line end",
                    log.file_.path().string(), std::count(text.begin(), text.end(), '\n') + 1));
  }
  log.bytes_ = whole;
  return log;
}

absl::Status SearchLog::Replay(std::string_view text, const SearchArguments& arguments) {
  std::uint64_t number = 0;
  SealedLines seals(SearchLogKeys());
  const auto place = [&] { return fmt::format("{}:{}", file_.path().string(), number); };
  const auto fail = [&](std::string_view expected) {
    return CorruptError(fmt::format("{}: expected {}", place(), expected));
  };
  for (std::size_t at = 0; at < text.size();) {
    ++number;
    const std::size_t begin = at;
    const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    at += line.size() + 1;
    if (!json.is_object()) return fail("a JSON object");
    if (number == 1) {
      if (!json.contains("arguments") || !json["arguments"].is_object() || !json.contains("format") ||
          json["format"] != kSearchFormatVersion) {
        return fail(fmt::format("the arguments of a search, format {}", kSearchFormatVersion));
      }
      RETURN_IF_ERROR(seals.Check(line, begin, place()));
      RETURN_IF_ERROR(CheckArguments(file_.path().parent_path().string(), json["arguments"], arguments));
      continue;
    }
    if (number == 2 && json.contains("event") && json["event"] == kCandidates) {
      candidates_ = ParseCandidates(json);
      if (!candidates_) return fail("the candidates of a search, with options of octavo train");
      RETURN_IF_ERROR(seals.Check(line, begin, place()));
      seconds_ += candidates_->seconds;
      continue;
    }
    std::optional<SearchEvent> event = ParseEvent(json);
    if (!event) return fail("an event of a search");
    RETURN_IF_ERROR(seals.Check(line, begin, place()));
    seconds_ += event->seconds;
    events_.push_back(*std::move(event));
  }
  return number > 0 ? absl::OkStatus() : fail("the arguments of a search");
}

absl::Status SearchLog::Write(const std::string& text) {
  RETURN_IF_ERROR(Failpoint("tune.append"));
  const std::string line = SealLine(text, bytes_);
  RETURN_IF_ERROR(file_.WriteAt(bytes_, std::as_bytes(std::span<const char>(line))));
  RETURN_IF_ERROR(Failpoint("tune.sync"));
  RETURN_IF_ERROR(file_.Sync());
  bytes_ += line.size();
  return absl::OkStatus();
}

absl::Status SearchLog::AppendCandidates(LoggedCandidates candidates) {
  RETURN_IF_ERROR(Write(CandidatesText(candidates)));
  seconds_ += candidates.seconds;
  candidates_ = std::move(candidates);
  return absl::OkStatus();
}

absl::Status SearchLog::Append(const SearchEvent& event) {
  RETURN_IF_ERROR(Write(EventText(event)));
  seconds_ += event.seconds;
  return absl::OkStatus();
}

}  // namespace octavo
