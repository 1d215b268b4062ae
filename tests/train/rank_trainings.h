// Trainings by several ranks that are threads of this process, with one folder for all or each its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "format/paths.h"
#include "tests/support/local_transport.h"
#include "tests/support/rank_threads.h"
#include "tests/train/some_trainings.h"
#include "tests/train/tiny_training.h"
#include "train/memory_estimate.h"
#include "train/trainer.h"

namespace octavo {

// What one rank did.
struct RankEnd {
  absl::Status status;
  TrainOutcome outcome;
  std::vector<EpochEvent> events;
};

// How a job is started. Rank r works in folders[r]; without `ranks_of_one` a job of one rank is a training without
// ranks. Memory of odd ranks has no room for all of their lanes, unless `change` says otherwise.
struct RankJob {
  std::vector<std::filesystem::path> folders;
  std::uint64_t seed = 1;
  bool ranks_of_one = true;
  std::uint64_t epochs = 0;  // of a resume
  std::function<void(int rank, TrainSettings& settings, TrainCallbacks& callbacks)> change = {};
};

// What a lane needs.
inline std::uint64_t LittleMemory(const TinyTraining& training, const TrainOptions& options) {
  constexpr int kThreads = 8;
  const std::unique_ptr<Graph> graph = *Graph::Open(training.graph_folder());
  const PartitionShape shape = *ChooseShape(options, graph->description(), kPlenty, kThreads);
  return EstimateTrainingMemory(options, graph->description(), kThreads, shape).total();
}

// A new run if `options` is given, otherwise a resume.
inline std::vector<RankEnd> TrainTogether(const TinyTraining& training, const RankJob& job,
                                          const TrainOptions* options) {
  std::vector<RankEnd> ends(job.folders.size());
  const auto work = [&](int rank, Ranks* ranks) {
    RankEnd& end = ends[static_cast<std::size_t>(rank)];
    const std::filesystem::path& folder = job.folders[static_cast<std::size_t>(rank)];
    TrainSettings settings{.ranks = ranks, .memory = kPlenty};
    if (options != nullptr && rank % 2 == 1) settings.memory = LittleMemory(training, *options);
    TrainCallbacks callbacks;
    callbacks.on_epoch = [&end](const EpochEvent& event) { end.events.push_back(event); };
    if (job.change) job.change(rank, settings, callbacks);
    const auto outcome = options != nullptr ? StartRun(training.graph_folder(), folder, *options, /*overwrite=*/false,
                                                       settings, callbacks)
                                            : ResumeRun(folder, job.epochs, settings, callbacks);
    end.status = outcome.status();
    if (outcome.ok()) end.outcome = *outcome;
    return end.status;
  };
  if (job.folders.size() == 1 && !job.ranks_of_one) {
    static_cast<void>(work(0, nullptr));
    return ends;
  }
  LocalHub hub(static_cast<int>(job.folders.size()), job.seed);
  const std::vector<absl::Status> results =
      RunRanks(hub, [&](Ranks& ranks) -> absl::Status { return work(ranks.rank(), &ranks); });
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    if (ends[rank].status.ok()) ends[rank].status = results[rank];
  }
  return ends;
}

// The fields of the run's events that do not depend on time or on where lanes were trained.
inline std::vector<std::string> EventsOf(const std::filesystem::path& run) {
  std::vector<std::string> found;
  for (const nlohmann::json& event : Events(run)) {
    std::string text;
    for (const char* const key : {"epoch", "loss", "penalty", "edges", "learning_rate", "partitions", "resident",
                                  "lanes", "mrr", "best_epoch"}) {
      if (event.contains(key)) text += fmt::format("{} {} ", key, event[key].dump());
    }
    found.push_back(text);
  }
  return found;
}

inline std::vector<std::string> NamesIn(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace octavo
