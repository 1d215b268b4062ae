// For the verbs that make graphs: makes memory that one phase frees available to the next.
#pragma once

namespace octavo {

// Returns large blocks to the system when they are freed, not to a heap that the next phase cannot use: glibc would
// raise its mmap threshold to the largest freed block.
void ReturnLargeBlocks();

}  // namespace octavo
