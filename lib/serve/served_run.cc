#include "serve/served_run.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "base/status.h"
#include "checkpoint/state_file.h"
#include "evaluate/nearest.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "query/embedded_of.h"
#include "run/run_exchange.h"
#include "run/trained_run.h"
#include "serve/map_points.h"

namespace octavo {
namespace {

constexpr std::chrono::steady_clock::duration kLookTime = std::chrono::milliseconds(250);  // for a newer commit
constexpr auto kRetryTime = std::chrono::seconds(5);    // after one that could not be opened
constexpr int kTries = 4;                               // of a search during which a training commits
constexpr std::uint64_t kMapShare = 12;                 // of the memory is for the points of the map
constexpr auto kReleaseTime = std::chrono::seconds(2);  // for requests that use the old index

// Reports a map that was given and cannot be used, at the start instead of when somebody looks at it.
absl::Status CheckGivenMap(const ServedRunOptions& options, const TrainedRun& run) {
  if (options.map.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::optional<std::uint64_t> generation,
                   CheckMap(options.map, MappedRunOf(options.folder, run)));
  if (generation && *generation != run.generation) {
    options.warn(fmt::format("{}: is of generation {} of the run, which has generation {}; vectors have moved since",
                             options.map, *generation, run.generation));
  }
  return absl::OkStatus();
}

}  // namespace

MappedRun MappedRunOf(const std::string& folder, const TrainedRun& run) {
  return {.folder = folder, .run_id = run.run_id, .nodes = run.graph->node_count()};
}

absl::StatusOr<std::unique_ptr<ServedRun>> ServedRun::Open(ServedRunOptions options) {
  std::unique_ptr<ServedRun> run(new ServedRun(std::move(options)));
  ASSIGN_OR_RETURN(std::shared_ptr<ServedCommit> commit, run->OpenCommit());
  if (!commit->index_note.empty()) run->options_.warn(commit->index_note);
  RETURN_IF_ERROR(CheckGivenMap(run->options_, commit->answerer.run()));
  const MutexLock lock(run->mutex_);
  run->indexed_ = commit->answerer.index() != nullptr;
  run->current_ = std::move(commit);
  run->next_look_ = Clock::now() + kLookTime;
  return run;
}

absl::StatusOr<std::shared_ptr<ServedCommit>> ServedRun::OpenCommit() const {
  ASSIGN_OR_RETURN(TrainedRun run, OpenTrainedRun(options_.folder, options_.graph));
  ASSIGN_OR_RETURN(RunConfiguration configuration, ReadRunConfiguration(RunPaths(options_.folder).Configuration()));
  std::string note;
  AnswererOptions answering = {.verb = "serve",
                               .folder = options_.folder,
                               .memory_bytes = options_.memory_bytes,
                               .threads = options_.threads,
                               .complete_texts = true,
                               .index = options_.index,
                               .ef = kDefaultEf,
                               .may_be_typed = true};
  if (!options_.index.empty()) {
    ASSIGN_OR_RETURN(const IndexHeader header, ReadIndexHeader(options_.index));
    if (header.run_id != run.run_id || header.generation != run.generation) {
      note = fmt::format("{}: is of another commit than the last one of {}; searches are exact until it is built again",
                         options_.index, options_.folder);
      answering.index.clear();
    }
  }
  const std::uint64_t map_bytes = options_.memory_bytes / kMapShare;
  const std::uint64_t map_nodes = std::min(run.graph->node_count(), map_bytes / kMapPointBytes);
  const std::uint64_t map_work =
      std::min(map_bytes, run.graph->node_count() * kMapPointBytes) + MapWorkBytes(EmbeddedOf(run));
  answering.most_answers = kMostServedAnswers;
  answering.index_searches = static_cast<std::uint64_t>(options_.threads);
  answering.other_bytes = options_.other_bytes + map_work;
  ASSIGN_OR_RETURN(Answerer answerer, Answerer::Open(std::move(run), std::move(answering)));
  return std::make_shared<ServedCommit>(
      ServedCommit{std::move(answerer), std::move(configuration), map_nodes, std::move(note)});
}

absl::StatusOr<bool> ServedRun::IsOld(const ServedCommit& commit) const {
  const RunPaths paths(options_.folder);
  ASSIGN_OR_RETURN(const Manifest newest, ReadNewestManifest(paths.State()));
  const TrainedRun& run = commit.answerer.run();
  if (newest.header.generation != run.generation || newest.header.run_id != run.run_id) return true;
  if (commit.index_note.empty()) return false;
  // The index may have been built again.
  const absl::StatusOr<IndexHeader> header = ReadIndexHeader(options_.index);
  return header.ok() && header->run_id == run.run_id && header->generation == run.generation;
}

absl::StatusOr<std::shared_ptr<ServedCommit>> ServedRun::Look(std::shared_ptr<ServedCommit> before) {
  if (before != nullptr) {
    ASSIGN_OR_RETURN(const bool old, IsOld(*before));
    if (!old) return before;
    // An index takes much of the memory: the old one has to be gone before another is loaded.
    if (before->answerer.index() != nullptr) {
      {
        const MutexLock lock(mutex_);
        current_.reset();
      }
      const std::weak_ptr<ServedCommit> released = before;
      before.reset();
      const Clock::time_point end = Clock::now() + kReleaseTime;
      while (!released.expired() && Clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      before = released.lock();
      if (before != nullptr) return before;  // still in use: the next look tries again
    }
  }
  ASSIGN_OR_RETURN(std::shared_ptr<ServedCommit> commit, OpenCommit());
  if (!commit->index_note.empty() && (before == nullptr || before->index_note.empty())) {
    options_.warn(commit->index_note);
  }
  return commit;
}

absl::StatusOr<std::shared_ptr<ServedCommit>> ServedRun::Current() {
  std::shared_ptr<ServedCommit> before;
  {
    const MutexLock lock(mutex_);
    mutex_.Await([this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return current_ != nullptr || !looking_; });
    if (current_ != nullptr && (looking_ || Clock::now() < next_look_)) return current_;
    looking_ = true;
    before = current_;
  }
  absl::StatusOr<std::shared_ptr<ServedCommit>> commit = Look(std::move(before));
  if (!commit.ok()) options_.warn(MessageOf(commit.status()));
  const MutexLock lock(mutex_);
  looking_ = false;
  next_look_ = Clock::now() + (commit.ok() ? kLookTime : Clock::duration(kRetryTime));
  if (commit.ok()) current_ = *std::move(commit);
  if (current_ == nullptr) return RuntimeError(MessageOf(commit.status()));  // not the fault of who asks
  indexed_ = current_->answerer.index() != nullptr;
  return current_;
}

absl::StatusOr<Answer> ServedRun::Ask(const Question& question, std::uint64_t k, const std::function<bool()>& stop) {
  for (int attempt = 1;; ++attempt) {
    ASSIGN_OR_RETURN(std::shared_ptr<ServedCommit> commit, Current());
    absl::StatusOr<Answer> answer = commit->answerer.Ask(question, k, stop);
    if (attempt == kTries || !commit->answerer.PassesOver(question)) return answer;
    const absl::StatusOr<bool> committed = CommittedSince(options_.folder, commit->answerer.run());
    if (!committed.ok() || !*committed) return answer;
    commit.reset();  // Reopen waits for it
    const MutexLock lock(mutex_);
    next_look_ = Clock::time_point::min();
  }
}

bool ServedRun::PassesOver(const Question& question) const {
  return !indexed_ || question.kind != Question::Kind::kNeighbors || question.exact ||
         (!question.metric.empty() && question.metric != "cosine");
}

}  // namespace octavo
