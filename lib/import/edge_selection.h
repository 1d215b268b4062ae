// Decides which edges stay and which names get a row.
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
  std::optional<SplitRule> split{};  // replaces the parts that the files gave
  bool undirected = false;           // both directions of an edge fall into the same part
  bool drop_self_loops = false;
  bool drop_unseen = false;  // leave out valid and test edges with a name that no training edge has
};

// Counts by part are indexed by Part: train, valid, test.
struct Selection {
  // By NameTable id: of the edges of all parts, also those that are left out as unseen. Under drop_unseen the names in
  // training edges get a row, else all that were seen.
  NameMarks nodes;
  NameMarks relations;
  std::uint64_t self_loops = 0;
  std::uint64_t unseen_nodes = 0;      // different names
  std::uint64_t unseen_relations = 0;  // different names
  std::array<std::uint64_t, 3> unseen_edges{};
  std::array<std::uint64_t, 3> kept_edges{};
};

// What the rules that look at one edge alone have found. `edges` counts those that stay, by part.
struct AssignedParts {
  std::uint64_t self_loops = 0;
  std::array<std::uint64_t, 3> edges{};
};

// Sets the part of every record in `runs` as far as the edge alone decides it: --split and dropped self-loops. Marks
// the names of the edges that stay; the marks must have room for the tables' ids. Parallel.
AssignedParts AssignParts(EdgeRuns& runs, const NameTable& nodes, const NameTable& relations,
                          const SelectionRules& rules, NameMarks& node_marks, NameMarks& relation_marks);

// Sets the part of every record in `runs`, kDropped for those that the rules leave out. A name has a row if an edge
// that stays has it.
Selection SelectEdges(EdgeRuns& runs, const NameTable& nodes, const NameTable& relations, const SelectionRules& rules);

}  // namespace octavo
