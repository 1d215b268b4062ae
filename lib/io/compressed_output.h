// Compresses text that is written piece by piece. Each piece is a gzip member or zstd frame of its own, which any
// reader of the two takes one behind the other, so pieces may be compressed by several threads at once.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace octavo {

enum class Compression { kNone, kGzip, kZstd };

// Returns what the extension of `path` asks for: .gz, .zst or any other.
Compression CompressionOfExtension(std::string_view path);

// Returns `text` compressed. A function of the arguments and the version of the library. Any thread.
absl::StatusOr<std::string> CompressPiece(Compression compression, std::string text);

}  // namespace octavo
