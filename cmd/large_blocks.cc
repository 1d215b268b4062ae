#include "cmd/large_blocks.h"

#include <malloc.h>

namespace octavo {

void ReturnLargeBlocks() { ::mallopt(M_MMAP_THRESHOLD, 128 << 10); }

}  // namespace octavo
