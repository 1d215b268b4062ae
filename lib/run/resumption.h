// The state of a run and how a training continues from it.
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
#include "run/options.h"
#include "run/run_configuration.h"

namespace octavo {

// Removes the run's files that did not exist before, unless Keep is called: a resume without enough disk space leaves
// the run unchanged. The newest manifest cannot name these files.
class NewFiles {
 public:
  explicit NewFiles(const RunPaths& paths) {
    std::error_code ignored;
    for (const std::filesystem::path& path : paths.All()) {
      // Skips files whose status the disk cannot report.
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

// The division of the tables in the current epoch.
PartitionShape DivisionOf(const Progress& progress);

// Returns a usage error if there is no run.
absl::Status CheckIsRun(const RunPaths& paths);

// The marks of a run, if its options need them.
absl::StatusOr<std::optional<KnownRows>> ReadKnownRows(const TrainOptions& options, const RunPaths& paths,
                                                       const RunShape& shape);

// The state of a run, and its configuration.
struct Resumption {
  RunConfiguration configuration;  // with the new number of epochs, the new exchange and the graph's new path
  bool configuration_changed = false;
  std::unique_ptr<Graph> graph;
  Manifest manifest;
};

// Does all checks of a resume except whether memory is sufficient; writes nothing. `epochs` (unless 0), `graph_folder`
// (unless empty) and `exchange` replace what run.json says.
absl::StatusOr<Resumption> ReadResumption(const RunPaths& paths, std::uint64_t epochs,
                                          const std::filesystem::path& graph_folder,
                                          std::optional<ExchangeMode> exchange);

}  // namespace octavo
