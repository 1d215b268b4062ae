// One trial of a search, trained as far as a rung asks: a run that is stopped between two epochs, and gone on with
// later to the bits of an unbroken one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "format/paths.h"
#include "train/options.h"
#include "train/trainer.h"

namespace octavo {

// Returns what the validation behind `epoch` came to, if the run's last commit knows it. No run has none.
absl::StatusOr<std::optional<ValidationScores>> CommittedScores(const RunPaths& run, std::uint64_t epoch);

// Trains the run to the validation behind `epoch` and stops there; begins it where there is none, and overwrites what
// belongs to none. Nothing is returned where `should_stop`, asked at each batch, said so before: what is trained by
// then is committed. options.epochs is what the learning rate stretches over, whatever `epoch` is. settings.stop is not
// used. REQUIRES: options.validate_every divides `epoch`, and epoch <= options.epochs
absl::StatusOr<std::optional<ValidationScores>> TrainToEpoch(const std::filesystem::path& graph, const RunPaths& run,
                                                             const TrainOptions& options, std::uint64_t epoch,
                                                             const TrainSettings& settings,
                                                             const TrainCallbacks& callbacks,
                                                             const std::function<bool()>& should_stop);

}  // namespace octavo
