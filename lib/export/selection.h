// The rows of a table that are exported, chosen by their names.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "absl/status/statusor.h"
#include "export/vector_table.h"

namespace octavo {

// Which rows: with a list those that it names, in its order; of these, or of all in id order, those whose name matches.
struct SelectionOptions {
  // File of names, one a line and nothing else, plain or compressed, or "-"; a name that comes twice is two rows.
  std::string list = {};
  // A regular expression of RE2, found anywhere in the name. Empty: every name matches.
  std::string match = {};
  bool skip_unknown = false;    // else a name that the table lacks is an input error with its line
  std::uint64_t max_bytes = 0;  // for the selection; more is a usage error
};

struct Selection {
  static constexpr std::uint64_t kRowBytes = 9;  // in memory
  // Beside the rows: what RE2 may take, and the buffers of a list.
  static constexpr std::uint64_t kBytes = 18 << 20;

  std::deque<std::uint64_t> rows;  // which does not hold old and new while it grows
  std::uint64_t unknown = 0;       // names of the list that the table lacks
  std::string first_unknown;
};

// A selection without a row is an error, of the list or of the expression. REQUIRES: a list or an expression
absl::StatusOr<Selection> SelectRows(const VectorTable& table, const SelectionOptions& options);

// Row i of the result is row selection.rows[i] of `whole`. Rows that are not read with their whole partition are not
// compared with its checksum.
VectorTable SelectedRows(VectorTable whole, Selection selection);

}  // namespace octavo
