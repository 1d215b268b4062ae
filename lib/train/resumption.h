// Where a run stands, and how a training goes on with it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "checkpoint/run_tables.h"
#include "format/known_rows.h"
#include "format/manifest.h"
#include "format/paths.h"
#include "graph/graph.h"
#include "plan/epoch_plan.h"
#include "train/options.h"
#include "train/run_configuration.h"
#include "train/trainer.h"

namespace octavo {

// Removes the files of the run that were not there before, unless told to keep them: a resume that finds no room to go
// on leaves the run as it was. The newest manifest cannot name them.
class NewFiles {
 public:
  explicit NewFiles(const RunPaths& paths) {
    std::error_code ignored;
    for (const std::filesystem::path& path : paths.All()) {
      // Not of a file that the disk cannot say anything of.
      if (std::filesystem::symlink_status(path, ignored).type() == std::filesystem::file_type::not_found)
        absent_.push_back(path);
    }
  }
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  ~NewFiles() {
    for (const std::filesystem::path& path : absent_) static_cast<void>(RemoveFile(path));
  }
  void Keep() { absent_.clear(); }

 private:
  std::vector<std::filesystem::path> absent_;
};

// How the tables are divided in the epoch that is under way.
PartitionShape DivisionOf(const Progress& progress);

// A usage error where there is none.
absl::Status CheckIsRun(const RunPaths& paths);

// The marks of a run that needs them.
absl::StatusOr<std::optional<KnownRows>> ReadKnownRows(const TrainOptions& options, const RunPaths& paths,
                                                       const RunShape& shape);

// Where a run stands and how it goes on.
struct Resumption {
  RunConfiguration configuration;  // with the new number of epochs, and the graph's new place
  bool configuration_changed = false;
  std::unique_ptr<Graph> graph;
  Manifest manifest;
  PartitionShape next;  // of the next epoch
};

// All checks of a resume; writes nothing. Tells callbacks.on_division.
absl::StatusOr<Resumption> ReadResumption(const RunPaths& paths, std::uint64_t epochs,
                                          const std::filesystem::path& graph_folder, const TrainSettings& settings,
                                          const TrainCallbacks& callbacks);

}  // namespace octavo
