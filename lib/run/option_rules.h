// Which training options contradict each other.
#pragma once

#include "absl/status/status.h"
#include "run/options.h"

namespace octavo {

// Checks combinations of fields: a chunk larger than its batch, an odd dimension for complex, a weight without a
// regularizer. A usage error names the fields.
absl::Status ValidateTrainOptions(const TrainOptions& options);

}  // namespace octavo
