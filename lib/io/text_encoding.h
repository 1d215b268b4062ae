// The encoding of text inputs: bytes with an ASCII core, such as UTF-8.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace octavo {

// Returns an input error that names iconv if `head`, the first bytes of the input `name`, is UTF-16: with a byte order
// mark, or with a NUL in every second byte of the first line. Its lines would be read as names with NUL bytes, or as
// one line. Thread-safe.
absl::Status RefuseUtf16(std::string_view head, std::string_view name);

}  // namespace octavo
