// The forms that vectors are exported in, and the bytes of one vector in each.
//
//   npy              NumPy's array file, format 1.0: the header, then the rows and nothing else; '<f4', or one of
//                    export/element_types.h
//   word2vec         text: "ROWS COLUMNS\n", then a line "NAME value value ...\n" a row
//   word2vec-binary  the same header, then "NAME ", the row as little-endian floats, and "\n"
//   tsv              a line "NAME\tvalue\tvalue ...\n" a row
//   projector        TensorFlow's Embedding Projector: a line "value\tvalue ...\n" a row, and beside it the metadata, a
//                    line "NAME\n" a row without a header, as it wants it of a single column
//   jsonl            a line {"name":"NAME","vector":[value,value,...]} a row
//   hdf5             PyTorch-BigGraph's embeddings file (export/hdf5_head.h), the rows as little-endian floats; its
//                    names are a JSON list in a file of their own
// Values are the shortest decimals that read back as the same float.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "export/element_types.h"

namespace octavo {

enum class VectorFormat { kNpy, kWord2Vec, kWord2VecBinary, kTsv, kProjector, kJsonLines, kHdf5 };

// "npy", "word2vec", ... as above. The error of the parser lists them.
std::string_view VectorFormatName(VectorFormat format);
absl::StatusOr<VectorFormat> ParseVectorFormat(std::string_view name);
// What the ending of a file's name says, before .gz or .zst: .npy, .tsv, .jsonl, .h5 and .hdf5 their format, .txt and
// .vec word2vec, .bin word2vec-binary. Any other: npy.
VectorFormat FormatOfEnding(const std::filesystem::path& path);
// All of them, in this order.
std::vector<std::string> VectorFormatNames();

// Whether values are written as decimals; whether each row has its name.
bool IsText(VectorFormat format);
bool HoldsNames(VectorFormat format);

// Returns what stands before the first row. REQUIRES: element is kFloat32 but for npy
absl::StatusOr<std::string> VectorHeader(VectorFormat format, VectorElement element, std::uint64_t rows,
                                         std::size_t columns);

// Appends `name` as a field of the format and returns whether it had to be changed. For word2vec, whose readers split
// at blanks and expect UTF-8, each ASCII white-space character becomes `_`, each byte that is not UTF-8 becomes U+FFFD,
// and an empty name becomes `_`. For tsv, and the metadata of projector, each tab, line feed and carriage return
// becomes
// `_`, and other bytes stay. For jsonl, and the list of names of hdf5, it is a JSON string, and each byte that is not
// UTF-8 becomes U+FFFD.
bool AppendName(VectorFormat format, std::string_view name, std::string& out);

// Appends the row of `name` and returns whether the name had to be changed. JSON has no infinities and no NaN: for
// jsonl the values must be finite.
bool AppendVector(VectorFormat format, std::string_view name, std::span<const float> values, std::string& out);

}  // namespace octavo
