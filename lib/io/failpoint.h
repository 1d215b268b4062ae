// Failpoints: named places where tests make the program die or an operation fail.
//
// OCTAVO_FAILPOINT=name[:n]=action lets the n-th pass (1 by default) through failpoint `name` act: kill (SIGKILL to
// itself), abort, eio, enospc, short (a short write), or sleep (100 ms, for races). Several are separated by commas.
// Unset, a failpoint costs one load and a branch that is never taken. Names are listed where they are passed.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace octavo {

// Passes failpoint `name`: ok, an injected error, or no return at all. Any thread.
absl::Status Failpoint(std::string_view name);

// Replaces what OCTAVO_FAILPOINT said, with counts from zero; "" disarms. For tests. An unreadable text is an error.
absl::Status SetFailpoints(std::string_view specification);

}  // namespace octavo
