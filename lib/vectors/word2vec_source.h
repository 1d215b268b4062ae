// Vectors in the formats of word2vec (Mikolov et al. 2013), as gensim and octavo export write them, plain or
// compressed:
//
//   text    "ROWS COLUMNS\n", then one line "NAME value value ...\n" per row
//   binary  the same first line, then for each row "NAME ", the values as little-endian floats, and optionally "\n"
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/compressed_input.h"
#include "io/line_reader.h"
#include "vectors/vector_source.h"

namespace octavo {

struct Word2VecHeader {
  std::uint64_t rows = 0;
  std::size_t columns = 0;  // 1 to 65536

  // Parses a line without its end; empty if it is not such a header.
  static std::optional<Word2VecHeader> Parse(std::string_view line);
};

// Input errors name file and line: a wrong first line, a name with missing values, a value that is not a number, more
// or fewer rows than the first line says.
class Word2VecText : public VectorSource {
 public:
  static absl::StatusOr<std::unique_ptr<Word2VecText>> Open(const std::string& path);

  std::size_t columns() const override { return header_.columns; }
  std::string PlaceOf(std::uint64_t number) const override;

 protected:
  absl::StatusOr<std::optional<NamedVector>> Read() override;

 private:
  Word2VecText(std::string path, LineReader lines, const Word2VecHeader& header)
      : path_(std::move(path)), lines_(std::move(lines)), header_(header), values_(header.columns) {}

  const std::string path_;
  LineReader lines_;
  const Word2VecHeader header_;
  std::vector<float> values_;
};

// The same in binary. Places are vector numbers.
class Word2VecBinary : public VectorSource {
 public:
  static absl::StatusOr<std::unique_ptr<Word2VecBinary>> Open(const std::string& path);

  std::size_t columns() const override { return header_.columns; }
  std::string PlaceOf(std::uint64_t number) const override;

 protected:
  absl::StatusOr<std::optional<NamedVector>> Read() override;

 private:
  explicit Word2VecBinary(std::unique_ptr<CompressedInput> input) : input_(std::move(input)) {}
  // Reads until `bytes` bytes are buffered, or to the end.
  absl::Status Fill(std::size_t bytes);
  std::string_view at_hand() const { return std::string_view(text_).substr(begin_); }

  std::unique_ptr<CompressedInput> input_;
  Word2VecHeader header_;
  std::string text_;       // read but not yet consumed or discarded
  std::size_t begin_ = 0;  // where unconsumed bytes begin in text_
  bool ended_ = false;
  std::string name_;
  std::vector<float> values_;
};

}  // namespace octavo
