// Copies parts of a graph folder into another one: nodes, labels and edges.
#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "format/cells.h"
#include "format/paths.h"
#include "graph/cell_reader.h"

namespace octavo {

// Copies nodes.hash, nodes.names and nodes.offsets byte by byte. `stop`, which may be empty, is checked regularly.
absl::Status CopyNodes(const GraphPaths& from, const GraphPaths& to, const std::function<bool()>& stop);

// The same for the files of labels.
absl::Status CopyLabels(const GraphPaths& from, const GraphPaths& to, const std::function<bool()>& stop);

// Writes the edges of `from`, in their order, as the cell file `path`, replacing it, and returns the header. `layout`
// provides everything except counts and checksums; `stop` as above.
absl::StatusOr<CellsHeader> CopyCells(const CellReader& from, const std::filesystem::path& path,
                                      const CellsHeader& layout, const std::function<bool()>& stop);

}  // namespace octavo
