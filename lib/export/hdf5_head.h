// The head of the HDF5 file that PyTorch-BigGraph keeps the embeddings of an entity partition in (its
// torchbiggraph/checkpoint_storage.py: embeddings_<entity>_<partition>.v<version>.h5): the attribute `format_version`
// of the root, 1, and the dataset `embeddings` [rows, columns] of 32-bit little-endian floats, contiguous.
//
// The HDF5 library makes the head in memory, with the dataset set aside behind it, and the rows are appended to it by
// whoever writes the file: so it goes the way of all other formats, to a pipe as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace octavo {

// Returns all that stands before the first row; behind the last one there is nothing. Loads the library on the first
// call: linked, it and the thirty that it needs would take every start of the program 27 ms. One thread at a time.
// REQUIRES: rows > 0
absl::StatusOr<std::string> MakeHdf5Head(std::uint64_t rows, std::size_t columns);

}  // namespace octavo
