#include "checkpoint/run_shape.h"

#include <string_view>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {

ManifestHeader HeaderOf(const RunShape& shape) {
  ManifestHeader header;
  header.configuration_hash = shape.configuration_hash;
  header.graph_fingerprint = shape.graph_fingerprint;
  header.rows = shape.rows;
  header.dim = shape.dim;
  header.state_width = shape.state_width;
  header.relation_rows = shape.relation_rows;
  header.relation_width = shape.relation_width;
  header.relation_state_width = shape.relation_state_width;
  header.partition_rows = shape.partition_rows;
  header.seed = shape.seed;
  header.embedding_element = static_cast<std::uint64_t>(shape.element);
  header.progress.partitions = shape.partitions;
  header.progress.resident = shape.resident;
  header.partition_count = static_cast<std::uint32_t>((shape.rows + shape.partition_rows - 1) / shape.partition_rows);
  return header;
}

std::vector<LaneRecord> LanesOf(const RunShape& shape) {
  return std::vector<LaneRecord>(shape.lanes > 1 ? shape.lanes : 0);
}

// The graph is compared first, as it explains most other differences.
absl::Status CheckShape(const RunPaths& paths, const ManifestHeader& found, const ManifestHeader& expected) {
  const auto differs = [&](std::string_view what, std::uint64_t is, std::uint64_t want) {
    return CorruptError(
        fmt::format("{}: {} {}; expected {} as run.json and the graph say", paths.State().string(), what, is, want));
  };
  if (found.graph_fingerprint != expected.graph_fingerprint) {
    return CorruptError(fmt::format("{}: the run was trained on a graph with fingerprint {:016x}; this one has {:016x}",
                                    paths.State().string(), found.graph_fingerprint, expected.graph_fingerprint));
  }
  if (found.rows != expected.rows) return differs("rows", found.rows, expected.rows);
  if (found.dim != expected.dim) return differs("dimension", found.dim, expected.dim);
  if (found.state_width != expected.state_width) {
    return differs("optimizer width", found.state_width, expected.state_width);
  }
  if (found.relation_rows != expected.relation_rows) {
    return differs("relation rows", found.relation_rows, expected.relation_rows);
  }
  if (found.relation_width != expected.relation_width) {
    return differs("relation width", found.relation_width, expected.relation_width);
  }
  if (found.relation_state_width != expected.relation_state_width) {
    return differs("relation optimizer width", found.relation_state_width, expected.relation_state_width);
  }
  if (found.partition_rows != expected.partition_rows) {
    return differs("rows a partition", found.partition_rows, expected.partition_rows);
  }
  if (found.embedding_element != expected.embedding_element) {
    return CorruptError(fmt::format("{}: embeddings of {}; expected {} as run.json says", paths.State().string(),
                                    ElementName(found.element()), ElementName(expected.element())));
  }
  if (found.configuration_hash != expected.configuration_hash) {
    return CorruptError(fmt::format("{}: run.json is not the configuration that this run was started with; restore it",
                                    paths.Configuration().string()));
  }
  return absl::OkStatus();
}

}  // namespace octavo
