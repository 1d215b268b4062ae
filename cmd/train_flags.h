// The flags that define a training: those of train and plan.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "choose/choice.h"
#include "run/options.h"
#include "tune/candidates.h"

namespace CLI {
class App;
}

namespace octavo {

struct TrainFlags {
  std::string graph;
  std::string config;
  std::string preset = "auto";
  double seconds = 0;     // of the training; 0: not given
  bool chooses = false;   // "auto" is a value of every option
  GivenOptions chosen{};  // options that were given as "auto"
  // Values from the command line, by name of the field; they override the file.
  std::map<std::string, std::string, std::less<>> given;
  std::map<std::string, std::string, std::less<>> switches;  // empty if not given
};

// Adds --preset and --time, and lets every option be "auto": chosen from the graph. Before AddTrainFlags.
void AddPresetFlag(CLI::App& app, TrainFlags& flags);

// Adds --graph, --config and a flag for each training option. `flags` must outlive the parsing.
void AddTrainFlags(CLI::App& app, TrainFlags& flags);
// The same without --graph.
void AddTrainOptionFlags(CLI::App& app, TrainFlags& flags);

// Adds the flag of one training option, without a default.
void AddTrainOptionFlag(CLI::App& app, std::string_view name, TrainFlags& flags);

// Returns the options from `defaults`, the configuration file and the flags, in increasing priority, checked as a
// whole.
absl::StatusOr<TrainOptions> ReadTrainOptions(const TrainFlags& flags, const TrainOptions& defaults = {});

// The options of a training, and their choice if some were chosen.
struct SettledOptions {
  TrainOptions options;
  std::optional<Choice> choice;
  std::optional<CandidateSource> source;  // of the choice; empty with --time
};

// Whether --time has epochs to choose: none are given, by a flag or a file.
bool TimeChoosesEpochs(const TrainFlags& flags);

// What came before a choice for a time: the seconds that it took, and the options of the flags that short trainings
// have found. Those are shown as chosen.
struct BeforeChoice {
  double seconds = 0;
  GivenOptions found{};
};

// Returns the options of ReadTrainOptions where a preset or a configuration file is given, or no graph. Otherwise, and
// for options given as "auto", those that the graph's facts and `memory` bytes choose; with --time also the machine's
// speed, measured in the existing part of the path of the future `run`, or in the current folder if that is empty.
// `stop`, which may be empty, then ends it with absl::CancelledError.
absl::StatusOr<SettledOptions> SettleTrainOptions(const TrainFlags& flags, const std::string& run, std::uint64_t memory,
                                                  int threads, const std::function<bool()>& stop = {},
                                                  const BeforeChoice& before = {});

// The existing part of the path of the future run.
std::filesystem::path ProbeFolder(const std::string& run);

}  // namespace octavo
