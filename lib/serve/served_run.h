// A run that is served: its last commit, opened for questions. A training may commit at any time; the next question is
// answered from the new commit.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "evaluate/node_labels.h"
#include "query/answerer.h"
#include "query/question.h"
#include "run/run_configuration.h"
#include "run/trained_run.h"
#include "serve/map_places.h"

namespace octavo {

struct ServedRunOptions {
  std::string name = {};           // in addresses
  std::string folder = {};         // of the run
  std::string graph = {};          // folder; empty: where the run says it is
  std::string index = {};          // file; empty: none
  std::string map = {};            // file with the places of the nodes; empty: as FindMap says
  std::string classes = {};        // file of classes of nodes, to colour the map; empty: none
  std::uint64_t memory_bytes = 0;  // limit for all that this run holds
  std::uint64_t other_bytes = 0;   // held by the server, out of these
  int threads = 1;
  // Passes on what the operator should know. Any thread.
  std::function<void(std::string_view)> warn = [](std::string_view) {};
};

// The most answers to one question, and candidates of an index search.
inline constexpr std::uint64_t kMostServedAnswers = 1000;
inline constexpr std::uint64_t kMostServedEf = 2000;

struct ServedCommit {
  Answerer answerer;
  RunConfiguration configuration;
  std::uint64_t map_nodes = 0;  // that the map may have by its part of the memory
  std::string index_note;       // why the index is not used; empty if it is, or if there is none
};

MappedRun MappedRunOf(const std::string& folder, const TrainedRun& run);

// Any thread.
class ServedRun {
 public:
  // Opens the last commit. An index of another commit is not used; a given map of another run is an error, one of an
  // older commit a warning.
  static absl::StatusOr<std::unique_ptr<ServedRun>> Open(ServedRunOptions options);

  const ServedRunOptions& options() const { return options_; }

  // Returns the last commit. Looks for a newer one, and opens it, if the last look was not just now; meanwhile other
  // threads use the one before. They only wait while an index is exchanged, as memory has no room for two. If a newer
  // commit cannot be opened, the one before stays, with a warning.
  absl::StatusOr<std::shared_ptr<ServedCommit>> Current();

  // Answers a question from one commit: if a training commits during a search, searches the new commit again, a few
  // times at most.
  absl::StatusOr<Answer> Ask(const Question& question, std::uint64_t k, const std::function<bool()>& stop);

  // Whether the question probably compares all vectors: another commit may be opened before it is asked. Never waits.
  bool PassesOver(const Question& question) const;

 private:
  using Clock = std::chrono::steady_clock;

  explicit ServedRun(ServedRunOptions options) : options_(std::move(options)) {}
  absl::StatusOr<std::shared_ptr<ServedCommit>> OpenCommit() const;
  // Returns the newest commit, `before` if there is no newer one. The caller is the only one that looks.
  absl::StatusOr<std::shared_ptr<ServedCommit>> Look(std::shared_ptr<ServedCommit> before);
  absl::StatusOr<bool> IsOld(const ServedCommit& commit) const;

  const ServedRunOptions options_;
  Mutex mutex_;
  std::shared_ptr<ServedCommit> current_ ABSL_GUARDED_BY(mutex_);  // shared with the requests that use it
  bool looking_ ABSL_GUARDED_BY(mutex_) = false;
  Clock::time_point next_look_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> indexed_ = false;  // whether the current commit has an index
};

}  // namespace octavo
