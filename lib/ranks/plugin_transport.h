// The transport of a job that a launcher has started: which plugin carries it, and the plugin as a Transport.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ranks/transport.h"

namespace octavo {

// What a launcher's variables say.
struct LaunchedJob {
  std::string launcher;  // for people: "mpirun of Open MPI"
  int ranks = 1;
  // Names of the plugins that can carry the job, the best first.
  std::vector<std::string> plugins;
};

// The job that this process was launched in; nullopt if there is none, or it has one rank.
std::optional<LaunchedJob> FindLaunchedJob();
// Whether a launcher of MPI started this process, maybe as the only rank.
bool IsLaunched();
// Whether this rank is the only one on its machine, as far as the launcher says.
bool IsAloneOnMachine();
// The number of tasks that srun started without the means to find each other, of which this process is one; otherwise
// 0.
int SeparateTasks();

// Loads the first of the job's plugins that there is, from `folders` in their order. A usage error says which files
// were looked for.
absl::StatusOr<std::unique_ptr<Transport>> LoadTransport(const LaunchedJob& job,
                                                         const std::vector<std::filesystem::path>& folders);

}  // namespace octavo
