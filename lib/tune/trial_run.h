// Trains one trial of a search as far as a rung requires: a run that is stopped between two epochs and resumed later,
// with the bits of an uninterrupted run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "format/paths.h"
#include "run/options.h"
#include "train/trainer.h"

namespace octavo {

// Returns the scores of the validation after `epoch`, if the run's last commit contains them. Empty if there is no run.
absl::StatusOr<std::optional<ValidationScores>> CommittedScores(const RunPaths& run, std::uint64_t epoch);

// Trains the run to the validation after `epoch` and stops there. Begins the run if there is none, and overwrites files
// that belong to no run. Returns empty if `should_stop`, called at each batch, returned true before; the work until
// then is committed. The learning rate is scheduled over options.epochs, whatever `epoch` is. Ignores settings.stop.
// If options.validate_every is 0, the validation is not part of the run: it ranks the commit of `epoch`, each time that
// this is called. Without settings.validate the scores are zeros then.
// REQUIRES: options.validate_every is 0 or divides `epoch`, and epoch <= options.epochs
absl::StatusOr<std::optional<ValidationScores>> TrainToEpoch(const std::filesystem::path& graph, const RunPaths& run,
                                                             const TrainOptions& options, std::uint64_t epoch,
                                                             const TrainSettings& settings,
                                                             const TrainCallbacks& callbacks,
                                                             const std::function<bool()>& should_stop);

}  // namespace octavo
