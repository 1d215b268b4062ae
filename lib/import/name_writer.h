// Writes the dictionary of a graph: nodes.hash, nodes.names, nodes.offsets and relations.tsv.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "format/paths.h"
#include "import/name_ranking.h"
#include "import/name_table.h"
#include "import/node_writer.h"

namespace octavo {

// Writes the three node files and returns the headers of the arrays.
absl::StatusOr<NodeArrays> WriteNodes(const GraphPaths& paths, const NameTable& names, const NameRanking& ranking);

// Writes relations.tsv and returns its text. `train_edges` has one number for each relation, by rank.
absl::StatusOr<std::string> WriteRelations(const GraphPaths& paths, const NameTable& names, const NameRanking& ranking,
                                           std::span<const std::uint64_t> train_edges);

}  // namespace octavo
