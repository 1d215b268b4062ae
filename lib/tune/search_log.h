// tune.jsonl: the arguments and the events of a search, one JSON object per line, with checksums
// (format/sealed_lines.h). Each line is on the disk before the search continues, so a kill never loses anything
// reported.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/sealed_lines.h"
#include "io/file.h"
#include "run/options.h"
#include "run/validation.h"

namespace octavo {

// Room for 10,000 trials in 20 rungs, with a reason of 1 KiB each.
inline constexpr std::uint64_t kMostSearchLogBytes = std::uint64_t{256} << 20;

struct SearchEvent {
  enum class Kind {
    kResult,  // the trial completed the rung
    kFailed,  // it never will
    kPaused,  // the search was stopped during this trial
    kBegun,   // of a search within a time: the trial is trained to the end of the rung, whatever the clock says later
    kLeft,    // of a search within a time: the trial leaves, because there was no time for the rung
  };

  Kind kind = Kind::kResult;
  std::uint64_t trial = 0;
  std::uint64_t rung = 0;
  std::uint64_t epoch = 0;       // epochs done, of a result
  ValidationScores scores = {};  // of a result
  std::string reason = {};       // of a failure, or of a trial that has left
  double seconds = 0;            // since the previous event, or since this process started the search
  double fixed_seconds = 0;      // the part of it in starts and validations, whatever the number of epochs
};

// The trials of a search without a space. They depend on the memory and, within a time, on the machine's speed, so a
// search that continues takes them from its log.
struct LoggedCandidates {
  std::vector<TrainOptions> options;
  std::string note = {};      // for people: why they differ from what train chooses; or empty
  double seconds = 0;         // since this process started the search
  double larger_seconds = 0;  // what the second is expected to take, if it is larger than the first; or 0
};

// Names and values, in order. Two calls with equal arguments belong to the same search.
using SearchArguments = std::vector<std::pair<std::string, std::string>>;

// The keys of all lines.
EventKeys SearchLogKeys();

// One owner.
class SearchLog {
 public:
  // Opens the log, or creates it. Removes a last line that a kill has truncated. Arguments that differ from those of
  // the existing search are a usage error that names the first difference; malformed lines and wrong checksums are a
  // corrupt-file error with their line number.
  static absl::StatusOr<SearchLog> Open(const std::filesystem::path& path, const SearchArguments& arguments);
  // The same without changing anything, to which nothing may be appended; nullopt if there is no log.
  static absl::StatusOr<std::optional<SearchLog>> Read(const std::filesystem::path& path,
                                                       const SearchArguments& arguments);

  // Appends the candidates, and syncs. REQUIRES: the log has neither candidates nor events
  absl::Status AppendCandidates(LoggedCandidates candidates);
  // Appends the event and syncs. After an error nothing more may be appended.
  absl::Status Append(const SearchEvent& event);

  const std::optional<LoggedCandidates>& candidates() const { return candidates_; }
  // The events that existed on opening, in order.
  const std::vector<SearchEvent>& events() const { return events_; }
  // Of all events and the candidates, including appended ones.
  double seconds() const { return seconds_; }

 private:
  explicit SearchLog(File file) : file_(std::move(file)) {}
  // Reads all whole lines.
  static absl::StatusOr<SearchLog> Load(File file, const SearchArguments& arguments);
  absl::Status Replay(std::string_view text, const SearchArguments& arguments);
  absl::Status Write(const std::string& text);

  File file_;
  std::uint64_t bytes_ = 0;
  std::optional<LoggedCandidates> candidates_;
  std::vector<SearchEvent> events_;
  double seconds_ = 0;
};

}  // namespace octavo
