// tune.jsonl: the arguments and the events of a search, one JSON object per line, with checksums
// (format/sealed_lines.h). Each line is on the disk before the search continues, so a kill never loses anything
// reported.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/sealed_lines.h"
#include "io/file.h"
#include "run/validation.h"

namespace octavo {

struct SearchEvent {
  enum class Kind {
    kResult,  // the trial completed the rung
    kFailed,  // it never will
    kPaused,  // the search was stopped during this trial
  };

  Kind kind = Kind::kResult;
  std::uint64_t trial = 0;
  std::uint64_t rung = 0;
  std::uint64_t epoch = 0;       // epochs done, of a result
  ValidationScores scores = {};  // of a result
  std::string reason = {};       // of a failure
  double seconds = 0;            // since the previous event, or since this process started the search
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

  // Appends the event and syncs. After an error nothing more may be appended.
  absl::Status Append(const SearchEvent& event);

  // The events that existed on opening, in order.
  const std::vector<SearchEvent>& events() const { return events_; }
  // Of all events, including appended ones.
  double seconds() const { return seconds_; }

 private:
  explicit SearchLog(File file) : file_(std::move(file)) {}
  absl::Status Replay(std::string_view text, const SearchArguments& arguments);

  File file_;
  std::uint64_t bytes_ = 0;
  std::vector<SearchEvent> events_;
  double seconds_ = 0;
};

}  // namespace octavo
