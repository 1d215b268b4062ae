// Writes a row under the lock of another one: must not compile.

#include "tables/mmap_manager.h"

void Write(octavo::MmapManager& table, octavo::NodeId node, octavo::NodeId other) {
  table.LockFor(other).Lock();
  table.UpdateRow(node, {}, {}, [](std::span<float> row) { row[0] = 1.0F; });
  table.LockFor(other).Unlock();
}
