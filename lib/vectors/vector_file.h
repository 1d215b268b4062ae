// Opens a file of vectors by what its first bytes are.
#pragma once

#include <filesystem>
#include <memory>

#include "vectors/vector_source.h"

namespace octavo {

// A .npy file, whose names are the lines of `names`, or a word2vec file, text or binary, which has its own: then
// `names` must be empty. Of word2vec it is text where what stands behind the first name is written in the characters of
// numbers. Anything else is an input error, names that are missing or too many a usage error.
absl::StatusOr<std::unique_ptr<VectorSource>> OpenVectorFile(const std::filesystem::path& path,
                                                             const std::filesystem::path& names);

}  // namespace octavo
