// Failpoints: named places where tests kill the program or make an operation fail.
//
// OCTAVO_FAILPOINT=name[:n]=action lets the n-th pass (default 1) through failpoint `name` act: kill (the process sends
// itself SIGKILL), abort, eio, enospc, short (a short write), or sleep (100 ms, for races). Commas separate several of
// them. Without the variable a failpoint costs one load and one untaken branch. The names are in the code that passes
// them.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace octavo {

// Passes failpoint `name`. Returns ok or an injected error, or does not return. Any thread.
absl::Status Failpoint(std::string_view name);

// Returns a usage error if OCTAVO_FAILPOINT is invalid. A program calls it before its first failpoint, which aborts
// then.
absl::Status CheckFailpointEnvironment();

// Replaces the setting of OCTAVO_FAILPOINT and restarts the counts; "" disarms all. For tests. Invalid text is an
// error.
absl::Status SetFailpoints(std::string_view specification);

}  // namespace octavo
