// Takes over what the graph of pairs has of the graph that was walked: nodes, and edges that are held out.
#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "format/cells.h"
#include "format/paths.h"
#include "graph/cell_reader.h"

namespace octavo {

// Copies nodes.hash, nodes.names and nodes.offsets, byte by byte. `stop`, which may be empty, is asked on the way.
absl::Status CopyNodes(const GraphPaths& from, const GraphPaths& to, const std::function<bool()>& stop);

// Writes the edges of `from`, in their order, as the cells of `path`, which are replaced, and returns the header.
// `layout` gives everything but counts and checksums; `stop` is as above.
absl::StatusOr<CellsHeader> CopyCells(const CellReader& from, const std::filesystem::path& path,
                                      const CellsHeader& layout, const std::function<bool()>& stop);

}  // namespace octavo
