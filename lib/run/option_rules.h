// Which training options contradict each other.
#pragma once

#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "run/options.h"

namespace octavo {

// Checks combinations of fields: a chunk larger than its batch, an odd dimension for complex, a weight without a
// regularizer. A usage error names the fields.
absl::Status ValidateTrainOptions(const TrainOptions& options);

// Returns a usage error if an option for which `given` is true has no effect with the others: the length of walks
// without walks. Only for options that somebody typed: a file and an older run may have a value of every option.
absl::Status CheckEffects(const TrainOptions& options, const std::function<bool(std::string_view)>& given);

}  // namespace octavo
