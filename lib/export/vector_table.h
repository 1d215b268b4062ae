// Named vectors to be exported: the embeddings of a run, or its relations.
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

// The functions may be called from any thread, `read` by one at a time; rows < this->rows.
struct VectorTable {
  std::uint64_t rows = 0;
  std::size_t columns = 0;
  std::function<std::string_view(std::uint64_t)> name;  // valid as long as the table
  std::function<absl::Status(std::uint64_t first, std::span<float> values)> read;
  // The row of a name; empty where rows were chosen already.
  std::function<std::optional<std::uint64_t>(std::string_view)> find = {};
  // Hints that spare reads and memory, or empty: the names of `count` rows from `first` on will be asked for; rows and
  // names from there are done with, though what `name` returned stays valid.
  std::function<void(std::uint64_t first, std::uint64_t count)> will_name = {};
  std::function<void(std::uint64_t first, std::uint64_t count)> done = {};
};

// The rows of `embeddings` in id order, named as the graph's nodes. Partitions that are read whole and in order are
// compared with their checksums, if `embeddings` has them. Both must outlive the result.
VectorTable NodeVectors(const Graph& graph, const TableReader& embeddings);

// Columns [first, end) of `whole`, which are read with the others. REQUIRES: first < end <= whole.columns
VectorTable ColumnsOf(VectorTable whole, std::size_t first, std::size_t end);

// What the name of a relation's reciprocal ends in.
inline constexpr std::string_view kReciprocalSuffix = "^-1";

// The rows of `relations` [rows, width] in id order, named as the graph's relations; with twice as many rows as there
// are relations the second half are their reciprocals. Both must outlive the result.
VectorTable RelationVectors(const Graph& graph, std::span<const float> relations, std::size_t width);

}  // namespace octavo
