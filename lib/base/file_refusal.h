// Keeps functions of libraries from making files that nobody asked for.
#pragma once

namespace octavo {

// From now on the calling thread, and threads that it starts, cannot create files: open with O_CREAT fails with EACCES.
// This cannot be undone, so use a thread that ends. Returns false, and changes nothing, where the system has no seccomp
// filters.
bool RefuseNewFiles();

}  // namespace octavo
