// Graphs made in memory and written as GRAPH folders, for the tests of their readers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/edge.h"
#include "graph/graph.h"
#include "tables/table_reader.h"
#include "tests/support/temporary_folder.h"

namespace octavo {

// Names are given ids in the order of their hashes, so `names[i]` need not become node i.
struct SmallGraph {
  std::vector<std::string> names;
  std::vector<std::string> relations = {"edge"};  // sorted
  std::uint64_t partition_rows = kPartitionRowQuantum;
  std::vector<Edge> train = {};
  std::vector<Edge> valid = {};
  std::vector<Edge> test = {};
};

// Returns "n0", "n1", ...
std::vector<std::string> NumberedNames(std::uint64_t count);

// Writes the folder and opens it.
std::unique_ptr<Graph> WriteGraph(const SmallGraph& graph, const std::filesystem::path& folder);

// Writes `values` [rows, columns] into `<folder>/embeddings.npy` and opens it.
TableReader WriteTable(std::span<const float> values, std::uint64_t columns, std::uint64_t partition_rows,
                       const std::filesystem::path& folder);

}  // namespace octavo
