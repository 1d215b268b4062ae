// The formats of exported vectors, and the bytes of one vector in each.
//
//   npy              NumPy's array file, format 1.0: the header, then only the rows; '<f4', or one of
//                    export/element_types.h
//   word2vec         text: "ROWS COLUMNS\n", then one line "NAME value value ...\n" per row
//   word2vec-binary  the same header, then "NAME ", the row as little-endian floats, and "\n"
//   tsv              one line "NAME\tvalue\tvalue ...\n" per row
//   projector        TensorFlow's Embedding Projector: one line "value\tvalue ...\n" per row. The metadata is
//                    another file, one line "NAME\n" per row without a header, as required for a single column; with
//                    labels the header "name\tlabel\n", then "NAME\tLABEL\n"
//   jsonl            one line {"name":"NAME","vector":[value,value,...]} per row; with labels "label":"LABEL" after the
//                    name
//   csv              RFC 4180: the titles "name",v1,v2 ..., then one line "NAME",value,value ... per row; a quote in a
//                    name is doubled; with labels a column "label" after the name
//   safetensors      Hugging Face's file: the length of its JSON header, the header, then the rows as the float32
//                    tensor `embeddings`
//   hdf5             PyTorch-BigGraph's embeddings file (export/hdf5_head.h), the rows as little-endian floats; the
//                    names are a JSON list in a separate file
// Values in text are the shortest decimals that read back as the same float.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "export/element_types.h"

namespace octavo {

enum class VectorFormat { kNpy, kWord2Vec, kWord2VecBinary, kTsv, kCsv, kProjector, kJsonLines, kHdf5, kSafetensors };

// "npy", "word2vec", ... as above. The parser's error lists them.
std::string_view VectorFormatName(VectorFormat format);
absl::StatusOr<VectorFormat> ParseVectorFormat(std::string_view name);
// Returns the format for the extension of a file name, ignoring .gz or .zst: .npy, .tsv, .csv, .jsonl, .h5, .hdf5 and
// .safetensors their format, .txt and .vec word2vec, .bin word2vec-binary; npy for a name without an extension. A usage
// error for any other lists the extensions and formats.
absl::StatusOr<VectorFormat> FormatOfEnding(const std::filesystem::path& path);
// All formats, in this order.
std::vector<std::string> VectorFormatNames();

// Whether values are written as decimals; whether each row contains its name.
bool IsText(VectorFormat format);
bool HoldsNames(VectorFormat format);

// Returns what precedes the first row. REQUIRES: element is kFloat32 unless the format is npy
absl::StatusOr<std::string> VectorHeader(VectorFormat format, VectorElement element, std::uint64_t rows,
                                         std::size_t columns, bool labels = false);

// Appends `name` as a field of the format and returns whether it had to be changed.
// - word2vec: its readers split at blanks and expect UTF-8. Each ASCII white-space character becomes `_`, each byte
//   that is not UTF-8 becomes U+FFFD, and an empty name becomes `_`.
// - tsv, and the metadata of projector: each tab, line feed and carriage return becomes `_`; other bytes are kept.
// - csv: all bytes are kept.
// - jsonl, and the list of names of hdf5: a JSON string; each byte that is not UTF-8 becomes U+FFFD.
bool AppendName(VectorFormat format, std::string_view name, std::string& out);

// Appends the row of `name` and returns whether the name had to be changed. A label is written if the format has a
// place for it, empty if it is. JSON has no infinities and no NaN: with jsonl the values must be finite.
bool AppendVector(VectorFormat format, std::string_view name, std::span<const float> values, std::string& out,
                  std::optional<std::string_view> label = std::nullopt);

}  // namespace octavo
