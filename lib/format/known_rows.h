// known.rows: the rows that --init initialised from the run or vector file it names. Kept as long as those rows are
// treated differently: frozen, or with edges that are not trained.
//
//   [0, 64)   magic "OCTVKNWN", u32 version, u32 0, u64 nodes, u64 relation rows, u64 checksum of the data (XXH3-64),
//             u64 0, u64 0, u64 checksum of the bytes before
//   then      u64[(nodes + 63) / 64], u64[(relation rows + 63) / 64]: row i is bit i % 64 of word i / 64
// All integers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace octavo {

// One bit for each row. One thread may mark; any may read.
class RowMarks {
 public:
  explicit RowMarks(std::uint64_t rows = 0) : rows_(rows), words_((rows + 63) / 64) {}

  std::uint64_t rows() const { return rows_; }
  // REQUIRES: row < rows(), here and below
  bool Has(std::uint64_t row) const { return (words_[row / 64] >> (row % 64) & 1) != 0; }
  void Mark(std::uint64_t row) { words_[row / 64] |= std::uint64_t{1} << (row % 64); }
  std::uint64_t Count() const;

  std::span<const std::uint64_t> words() const { return words_; }
  std::span<std::uint64_t> words() { return words_; }

 private:
  std::uint64_t rows_;
  std::vector<std::uint64_t> words_;
};

struct KnownRows {
  RowMarks nodes;
  RowMarks relations;  // two for each relation with reciprocal relations

  static std::uint64_t FileBytes(std::uint64_t nodes, std::uint64_t relation_rows);
};

std::string EncodeKnownRows(const KnownRows& known);

// A corrupt-file error says what was found and what was expected: a wrong checksum, a wrong size, or counts other than
// `nodes` and `relation_rows`.
absl::StatusOr<KnownRows> DecodeKnownRows(std::string_view bytes, std::uint64_t nodes, std::uint64_t relation_rows,
                                          std::string_view file_name);

}  // namespace octavo
