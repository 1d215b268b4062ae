// The head of the HDF5 file in which PyTorch-BigGraph stores the embeddings of an entity partition (its
// torchbiggraph/checkpoint_storage.py: embeddings_<entity>_<partition>.v<version>.h5): the attribute `format_version`
// of the root, 1, and the dataset `embeddings` [rows, columns] of 32-bit little-endian floats, contiguous.
//
// The HDF5 library makes the head in memory and reserves the dataset's space after it; the writer of the file then
// appends the rows. So this format can be streamed like all others, also to a pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace octavo {

// Returns everything before the first row; nothing follows the last row. The first call loads the library: linking it
// and the thirty libraries it needs would add 27 ms to every start of the program. One thread at a time.
// REQUIRES: rows > 0
absl::StatusOr<std::string> MakeHdf5Head(std::uint64_t rows, std::size_t columns);

}  // namespace octavo
