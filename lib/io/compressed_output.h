// Compresses text that is written piece by piece. Each piece becomes a separate gzip member or zstd frame. Readers of
// both formats accept concatenated pieces, so several threads may compress pieces at once.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace octavo {

enum class Compression { kNone, kGzip, kZstd };

// Returns the compression that the extension of `path` names: .gz, .zst, or none for any other.
Compression CompressionOfExtension(std::string_view path);

// Returns `text` compressed. Depends only on the arguments and the library's version. Any thread.
absl::StatusOr<std::string> CompressPiece(Compression compression, std::string text);

}  // namespace octavo
