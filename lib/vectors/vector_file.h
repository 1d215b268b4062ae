// Opens a file of vectors; its first bytes determine the format.
#pragma once

#include <filesystem>
#include <memory>

#include "vectors/vector_source.h"

namespace octavo {

// Opens a .npy file, whose names are the lines of `names`, or a word2vec file, text or binary, which contains its
// names; `names` must then be empty. A word2vec file is text if only characters of numbers follow the first name.
// Anything else is an input error; missing or superfluous `names` are a usage error.
absl::StatusOr<std::unique_ptr<VectorSource>> OpenVectorFile(const std::filesystem::path& path,
                                                             const std::filesystem::path& names);

}  // namespace octavo
