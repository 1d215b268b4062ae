// The forms that vectors are exported in, and the bytes of one vector in each.
//
//   npy              NumPy's array file, format 1.0, '<f4': the header, then the rows and nothing else
//   word2vec         text: "ROWS COLUMNS\n", then a line "NAME value value ...\n" a row
//   word2vec-binary  the same header, then "NAME ", the row as little-endian floats, and "\n"
//   tsv              a line "NAME\tvalue\tvalue ...\n" a row
// Values are the shortest decimals that read back as the same float.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace octavo {

enum class VectorFormat { kNpy, kWord2Vec, kWord2VecBinary, kTsv };

// "npy", "word2vec", "word2vec-binary", "tsv". The error of the parser lists them.
std::string_view VectorFormatName(VectorFormat format);
absl::StatusOr<VectorFormat> ParseVectorFormat(std::string_view name);

// Returns what stands before the first row.
std::string VectorHeader(VectorFormat format, std::uint64_t rows, std::size_t columns);

// Appends `name` as a field of the format and returns whether it had to be changed. For word2vec, whose readers split
// at blanks and expect UTF-8, each ASCII white-space character becomes `_`, each byte that is not UTF-8 becomes U+FFFD,
// and an empty name becomes `_`. For tsv each tab, line feed and carriage return becomes `_`.
bool AppendName(VectorFormat format, std::string_view name, std::string& out);

// Appends the row of `name` and returns whether the name had to be changed.
bool AppendVector(VectorFormat format, std::string_view name, std::span<const float> values, std::string& out);

}  // namespace octavo
