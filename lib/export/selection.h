// The rows of a table that are exported, chosen by their names.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "absl/status/statusor.h"
#include "export/vector_table.h"

namespace octavo {

// Which rows: those named in a list, in its order, or all in id order; of these, the ones whose name matches.
struct SelectionOptions {
  // A file with one name per line and nothing else, plain or compressed, or "-". A repeated name gives a row each time.
  std::string list = {};
  // An RE2 regular expression that matches anywhere in the name. Empty: every name matches.
  std::string match = {};
  bool skip_unknown = false;    // otherwise a name that the table lacks is an input error with its line
  std::uint64_t max_bytes = 0;  // for the selection; more is a usage error
};

struct RowSelection {
  static constexpr std::uint64_t kRowBytes = 9;  // in memory
  // In addition to the rows: RE2's limit and the buffers of a list.
  static constexpr std::uint64_t kBytes = 18 << 20;

  std::deque<std::uint64_t> rows;  // a deque, as it needs no second copy while it grows
  std::uint64_t unknown = 0;       // names of the list that the table lacks
  std::string first_unknown;
};

// An empty selection is an error that names the list or the expression. REQUIRES: a list or an expression
absl::StatusOr<RowSelection> SelectRows(const VectorTable& table, const SelectionOptions& options);

// Row i of the result is row selection.rows[i] of `whole`. Rows are compared with the checksum of their partition only
// if the whole partition is read.
VectorTable SelectedRows(VectorTable whole, RowSelection selection);

}  // namespace octavo
