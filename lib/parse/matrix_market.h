// The head of a Matrix Market coordinate file (Boisvert, Pozo and Remington 1996, NISTIR 5935): a banner, comments that
// begin with %, and a line of rows, columns and entries. Each entry is a line of its row and column, counted from 1,
// and its value: none in a pattern, one number if real or integer, two if complex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "parse/input_format.h"

namespace octavo {

struct MatrixMarketHead {
  std::uint64_t rows = 0;  // and columns
  std::uint64_t entries = 0;
  std::size_t fields = 2;     // per entry
  bool one_triangle = false;  // symmetric, skew-symmetric or hermitian: an entry also stands for its mirror image
  bool weights = false;       // the value can be the weight of an edge, in both directions
  std::string_view banner;    // a view into the text
  std::size_t lines = 0;      // in the head
};

// Whether `text` begins with %%MatrixMarket.
bool HasMatrixMarketBanner(std::string_view text);

// Parses the head at the beginning of `text`, whole lines of the file `name`. Accepts only square matrices: row and
// column i are the same node. Anything else is an input error with file and line.
absl::StatusOr<MatrixMarketHead> ParseMatrixMarketHead(std::string_view text, std::string_view name);

// The columns of its entries if the user gave none: head,tail, and a weight or fields to skip. A usage error if the
// values cannot be weights; --columns head,tail,- skips them.
absl::StatusOr<Columns> MatrixMarketColumns(const MatrixMarketHead& head, const Columns& wanted, std::string_view name);

}  // namespace octavo
