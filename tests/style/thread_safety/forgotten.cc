// Updates a row without a lock: must not compile.

#include "tables/mmap_manager.h"

void Write(octavo::MmapManager& table, octavo::NodeId node) {
  table.UpdateRow(node, {}, {}, [](std::span<float> row) { row[0] = 1.0F; });
}
