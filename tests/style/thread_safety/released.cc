// Requests a row again after its lock was released: must not compile.

#include "tables/mmap_manager.h"

void Write(octavo::MmapManager& table, octavo::NodeId node) {
  {
    const octavo::WriterStripeLock lock(table.LockFor(node));
    table.UpdateRow(node, {}, {}, [](std::span<float> row) { row[0] = 1.0F; });
  }
  table.UpdateRow(node, {}, {}, [](std::span<float> row) { row[0] = 2.0F; });
}
