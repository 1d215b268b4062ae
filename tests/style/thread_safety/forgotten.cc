// Writes a row without a lock: must not compile.

#include "tables/mmap_manager.h"

void Write(octavo::MmapManager& table, octavo::NodeId node) { table.MutableRow(node)[0] = 1.0F; }
