// The shapes of a run's tables, as its options and its graph give them, and their comparison with what a manifest says.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "format/manifest.h"
#include "format/npy_header.h"
#include "format/paths.h"

namespace octavo {

// The shapes of a new run; the fields of ManifestHeader that do not change later.
struct RunShape {
  std::uint64_t configuration_hash = 0;
  std::uint64_t graph_fingerprint = 0;
  std::uint64_t rows = 0;
  std::uint64_t dim = 0;
  std::uint64_t state_width = 0;
  std::uint64_t relation_rows = 0;
  std::uint64_t relation_width = 0;
  std::uint64_t relation_state_width = 0;
  std::uint64_t partition_rows = 0;
  std::uint64_t seed = 0;
  NpyElement element = NpyElement::kFloat32;  // of the embeddings; all else is float32
  // The division of the tables in the first epoch; later ones may differ.
  std::uint64_t partitions = 1;
  std::uint64_t resident = 1;
  std::uint64_t lanes = 1;

  // Rows of the tables of the lanes' relations; 0 without lanes.
  std::uint64_t LaneRelationRows() const { return lanes > 1 ? lanes * relation_rows : 0; }
};

// The manifest of a run of this shape before its first commit.
ManifestHeader HeaderOf(const RunShape& shape);

// A record for each lane; none without lanes.
std::vector<LaneRecord> LanesOf(const RunShape& shape);

// Whether the run's options and its graph are those of its tables. The error names the first difference.
absl::Status CheckShape(const RunPaths& paths, const ManifestHeader& found, const ManifestHeader& expected);

}  // namespace octavo
