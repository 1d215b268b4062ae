// Writes a row under its own lock: compiles.

#include "tables/mmap_manager.h"

void Write(octavo::MmapManager& table, octavo::NodeId node) {
  table.LockFor(node).Lock();
  table.UpdateRow(node, {}, {}, [](std::span<float> row) { row[0] = 1.0F; });
  table.LockFor(node).Unlock();
}
