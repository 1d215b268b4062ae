// Decides which edges are kept and which names get a row.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "cells/edge_record.h"
#include "import/name_marks.h"
#include "import/name_table.h"
#include "import/split_rule.h"

namespace octavo {

struct SelectionRules {
  std::optional<SplitRule> split{};  // replaces the splits given by the files
  bool undirected = false;           // both directions of an edge go to the same split
  bool drop_self_loops = false;
  bool drop_unseen = false;  // drop valid and test edges with a name that is in no training edge
};

// Counts by split are indexed by EdgeSplit: train, valid, test.
struct EdgeSelection {
  // By NameTable id: marks from the edges of all splits, including those dropped as unseen. With drop_unseen the names
  // in training edges get a row, otherwise all seen names.
  NameMarks nodes;
  NameMarks relations;
  std::uint64_t self_loops = 0;
  std::uint64_t unseen_nodes = 0;      // distinct names
  std::uint64_t unseen_relations = 0;  // distinct names
  std::array<std::uint64_t, 3> unseen_edges{};
  std::array<std::uint64_t, 3> kept_edges{};
};

// Results of the rules that depend on one edge alone. `edges` counts the kept edges by split.
struct AssignedSplits {
  std::uint64_t self_loops = 0;
  std::array<std::uint64_t, 3> edges{};
};

// Sets the split of every record in `chunks` by the rules that depend on the edge alone: --split and dropped
// self-loops. Marks the names of the kept edges; the marks must have room for the tables' ids. Parallel.
AssignedSplits AssignSplits(EdgeChunks& chunks, const NameTable& nodes, const NameTable& relations,
                            const SelectionRules& rules, NameMarks& node_marks, NameMarks& relation_marks);

// Sets the split of every record in `chunks`; kDropped for those that the rules drop. A name has a row if a kept edge
// has it.
EdgeSelection SelectEdges(EdgeChunks& chunks, const NameTable& nodes, const NameTable& relations,
                          const SelectionRules& rules);

}  // namespace octavo
