// The flags that say what a training is: those of train and plan.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "train/options.h"

namespace CLI {
class App;
}

namespace octavo {

struct TrainFlags {
  std::string graph;
  std::string config;
  // What was given on the command line, by name of the field; it goes over what the file says.
  std::map<std::string, std::string, std::less<>> given;
  std::map<std::string, std::string, std::less<>> switches;  // empty where not given
};

// Adds --graph, --config and a flag for each training option. `flags` must outlive the parsing.
void AddTrainFlags(CLI::App& app, TrainFlags& flags);
// The same without --graph.
void AddTrainOptionFlags(CLI::App& app, TrainFlags& flags);

// Returns the options that the flags and their configuration file say, over `defaults`, checked as a whole.
absl::StatusOr<TrainOptions> ReadTrainOptions(const TrainFlags& flags, const TrainOptions& defaults = {});

}  // namespace octavo
