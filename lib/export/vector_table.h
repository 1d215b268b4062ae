// Named vectors for export: the embeddings of a run, or its relations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "graph/graph.h"
#include "tables/table_reader.h"

namespace octavo {

// Any thread may call the functions, `read` one thread at a time. REQUIRES: row < this->rows
struct VectorTable {
  std::uint64_t rows = 0;
  std::size_t columns = 0;
  std::function<std::string_view(std::uint64_t)> name;  // valid as long as the table
  std::function<absl::Status(std::uint64_t first, std::span<float> values)> read;
  // Returns the row of a name. Empty if rows have already been selected.
  std::function<std::optional<std::uint64_t>(std::string_view)> find = {};
  // Hints that save reads and memory; may be empty. will_name: the names of `count` rows from `first` on will be
  // requested. done: these rows and names are no longer needed; names returned before stay valid.
  std::function<void(std::uint64_t first, std::uint64_t count)> will_name = {};
  std::function<void(std::uint64_t first, std::uint64_t count)> done = {};
  // The label of a row, empty for none; the function is empty if the graph has no labels.
  std::function<std::string_view(std::uint64_t)> label = {};
};

// The rows of `embeddings` in id order, named by the graph's nodes. Partitions that are read completely and in order
// are compared with their checksums, if `embeddings` has them. Both must outlive the result.
VectorTable NodeVectors(const Graph& graph, const TableReader& embeddings);

// Columns [first, end) of `whole`; the other columns are read too. REQUIRES: first < end <= whole.columns
VectorTable ColumnsOf(VectorTable whole, std::size_t first, std::size_t end);

// The suffix of the name of a reciprocal relation.
inline constexpr std::string_view kReciprocalSuffix = "^-1";

// The rows of `relations` [rows, width] in id order, named by the graph's relations. If there are twice as many rows as
// relations, the second half are the reciprocals. Both must outlive the result.
VectorTable RelationVectors(const Graph& graph, std::span<const float> relations, std::size_t width);

}  // namespace octavo
