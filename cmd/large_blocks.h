// For the verbs that make graphs: memory that one phase frees is there for the next.
#pragma once

namespace octavo {

// What is held in large blocks goes back to the system when it is freed, and not to a heap that the next phase cannot
// use: glibc would raise its threshold to the largest block that was freed.
void ReturnLargeBlocks();

}  // namespace octavo
