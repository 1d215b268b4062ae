// tune.jsonl: what a search was asked for, and what has come of it. One JSON object a line, each on the disk before the
// search goes on, so that a kill at any instant loses nothing that was said.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/file.h"
#include "train/validation.h"

namespace octavo {

struct SearchEvent {
  enum class Kind {
    kResult,  // the trial came to the end of the rung
    kFailed,  // it never will
    kPaused,  // the search was stopped while the trial was under way
  };

  Kind kind = Kind::kResult;
  std::uint64_t trial = 0;
  std::uint64_t rung = 0;
  std::uint64_t epoch = 0;       // of a result: epochs done
  ValidationScores scores = {};  // of a result
  std::string reason = {};       // of a failure
  double seconds = 0;            // since the event before, or the start of this process's search
};

// What two calls must agree in to be of one search: names and values, in order.
using SearchArguments = std::vector<std::pair<std::string, std::string>>;

// One owner.
class SearchLog {
 public:
  // Opens the log, or makes one. A last line that a kill has cut is removed. Other arguments than the search was begun
  // with are a usage error that says which, malformed lines a corrupt-file error with their number.
  static absl::StatusOr<SearchLog> Open(const std::filesystem::path& path, const SearchArguments& arguments);

  // Appends the event and syncs. After an error nothing may be appended any more.
  absl::Status Append(const SearchEvent& event);

  // Those that were there, in order.
  const std::vector<SearchEvent>& events() const { return events_; }
  // Of all events, also those appended.
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
