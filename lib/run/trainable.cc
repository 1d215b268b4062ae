#include "run/trainable.h"

#include "base/status.h"
#include "fmt/format.h"
#include "run/option_rules.h"
#include "walk/walk_pairs.h"

namespace octavo {

absl::Status CheckTrainable(const Graph& graph, const TrainOptions& options) {
  RETURN_IF_ERROR(ValidateTrainOptions(options));
  if (options.validate_every > 0 && graph.description().valid_edges == 0) {
    return UsageError(
        fmt::format("{}: no edges to validate with; expected validate-every 0, or a graph imported with "
                    "--valid FILE or --split",
                    graph.paths().folder().string()));
  }
  if (options.walk != Walk::kNone) RETURN_IF_ERROR(CheckWalkable(graph));
  if (graph.description().train_edges > 0) return absl::OkStatus();
  return UsageError(fmt::format("{}: no training edges", graph.paths().folder().string()));
}

}  // namespace octavo
