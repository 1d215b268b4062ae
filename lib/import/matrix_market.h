// The head of a Matrix Market coordinate file (Boisvert, Pozo and Remington 1996, NISTIR 5935): a banner, comments that
// begin with %, and a line of rows, columns and entries. Each entry is a line of its row and column, counted from 1,
// and its value: none in a pattern, one number if real or integer, two if complex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "import/input_format.h"

namespace octavo {

struct MatrixMarketHead {
  std::uint64_t rows = 0;  // and columns
  std::uint64_t entries = 0;
  std::size_t fields = 2;     // of an entry
  bool one_triangle = false;  // symmetric, skew-symmetric or hermitian: an entry stands for the other way round, too
  bool weights = false;       // the value can be the weight of an edge, both ways
  std::string_view banner;    // in the text
  std::size_t lines = 0;      // of the head
};

// Whether `text` begins with %%MatrixMarket.
bool HasMatrixMarketBanner(std::string_view text);

// Parses the head at the beginning of `text`, whole lines of the file `name`. Only square matrices are taken: row and
// column i are the same node. Anything else is an input error with file and line.
absl::StatusOr<MatrixMarketHead> ParseMatrixMarketHead(std::string_view text, std::string_view name);

// The columns of its entries where the user gave none: head,tail, and the weight or what is to be skipped.
// A usage error if the values cannot be weights, which --columns head,tail,- leaves out.
absl::StatusOr<Columns> MatrixMarketColumns(const MatrixMarketHead& head, const Columns& wanted, std::string_view name);

}  // namespace octavo
