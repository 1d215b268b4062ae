// Turns the text of the input into edge records and name tables, in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "import/edge_record.h"
#include "import/input_reader.h"
#include "import/name_table.h"

namespace octavo {

struct CollectedEdges {
  NameTable nodes;
  NameTable relations;  // empty if the input has no relation column
  EdgeRuns runs;
  Columns columns;
  std::vector<TextFormat> formats;        // of each file
  std::vector<std::uint64_t> file_edges;  // of each file
  std::uint64_t lines = 0;
  std::uint64_t comment_lines = 0;
  std::uint64_t blank_lines = 0;
  std::uint64_t bad_lines = 0;
  std::vector<std::string> bad_line_messages;  // "file:line: found ..., expected ...", the first ones in input order
  std::uint64_t bytes_read = 0;                // compressed
};

struct CollectOptions {
  LayoutRequest layout;
  std::uint64_t max_bad_lines = 0;
  std::function<bool()> stop;  // may be empty; from several threads
  // May be empty; told the edges and compressed bytes so far, from one thread at a time.
  std::function<void(std::uint64_t edges, std::uint64_t bytes)> progress;
};

// Reads `files` with as many workers as TBB has, beside the reading thread. More than max_bad_lines malformed lines are
// an input error with the first of them. The runs are in input order; only the ids in them depend on timing.
absl::Status CollectEdges(const std::vector<InputFile>& files, const CollectOptions& options, CollectedEdges& out);

}  // namespace octavo
