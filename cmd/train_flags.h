// The flags that define a training: those of train and plan.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "run/options.h"

namespace CLI {
class App;
}

namespace octavo {

struct TrainFlags {
  std::string graph;
  std::string config;
  // Values from the command line, by name of the field; they override the file.
  std::map<std::string, std::string, std::less<>> given;
  std::map<std::string, std::string, std::less<>> switches;  // empty if not given
};

// Adds --graph, --config and a flag for each training option. `flags` must outlive the parsing.
void AddTrainFlags(CLI::App& app, TrainFlags& flags);
// The same without --graph.
void AddTrainOptionFlags(CLI::App& app, TrainFlags& flags);

// Adds the flag of one training option, without a default.
void AddTrainOptionFlag(CLI::App& app, std::string_view name, TrainFlags& flags);

// Returns the options from `defaults`, the configuration file and the flags, in increasing priority, checked as a
// whole.
absl::StatusOr<TrainOptions> ReadTrainOptions(const TrainFlags& flags, const TrainOptions& defaults = {});

}  // namespace octavo
