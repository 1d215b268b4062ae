// Writes a row under the shared lock: must not compile.

#include "tables/mmap_manager.h"

void Write(octavo::MmapManager& table, octavo::NodeId node) {
  const octavo::ReaderStripeLock lock(table.LockFor(node));
  table.UpdateRow(node, {}, {}, [](std::span<float> row) { row[0] = 1.0F; });
}
