#include "import/edge_selection.h"

#include <cstddef>
#include <utility>

#include "base/mutex.h"
#include "base/parallel.h"

namespace octavo {
namespace {

struct Counts {
  std::uint64_t self_loops = 0;
  std::array<std::uint64_t, 3> unseen{};
  std::array<std::uint64_t, 3> kept{};

  void Add(const Counts& other) {
    self_loops += other.self_loops;
    for (std::size_t i = 0; i < 3; ++i) {
      unseen[i] += other.unseen[i];
      kept[i] += other.kept[i];
    }
  }
};

// Calls `function(record, counts)` for every record, in parallel, and returns the sum of the counts.
template <typename Function>
Counts ForEachRecord(EdgeRuns& runs, const Function& function) {
  Mutex mutex;
  Counts total;
  ParallelEach(0, runs.size(), [&](std::size_t run) {
    Counts counts;
    for (EdgeRecord& record : runs[run]) function(record, counts);
    const MutexLock lock(mutex);
    total.Add(counts);
  });
  return total;
}

}  // namespace

AssignedParts AssignParts(EdgeRuns& runs, const NameTable& nodes, const NameTable& relations,
                          const SelectionRules& rules, NameMarks& node_marks, NameMarks& relation_marks) {
  const bool has_relations = relation_marks.size() > 0;
  const Counts counts = ForEachRecord(runs, [&](EdgeRecord& record, Counts& mine) {
    const std::uint32_t relation = record.relation();
    if (rules.split) {
      std::uint64_t from = nodes.Hash(record.head);
      std::uint64_t to = nodes.Hash(record.tail);
      if (rules.undirected && from > to) std::swap(from, to);
      record.set_part(rules.split->PartOf(from, has_relations ? relations.Hash(relation) : 0, to));
    }
    if (record.head == record.tail) {
      ++mine.self_loops;
      if (rules.drop_self_loops) return record.set_part(Part::kDropped);
    }
    ++mine.kept[static_cast<std::size_t>(record.part())];
    const std::uint8_t mark = record.part() == Part::kTrain ? NameMarks::kInTrain : NameMarks::kElsewhere;
    node_marks.Set(record.head, mark);
    node_marks.Set(record.tail, mark);
    if (has_relations) relation_marks.Set(relation, mark);
  });
  return {counts.self_loops, counts.kept};
}

Selection SelectEdges(EdgeRuns& runs, const NameTable& nodes, const NameTable& relations, const SelectionRules& rules) {
  Selection selection = {.nodes = NameMarks(nodes.id_limit()), .relations = NameMarks(relations.id_limit())};
  const NameMarks& node_marks = selection.nodes;
  const NameMarks& relation_marks = selection.relations;
  const bool has_relations = relation_marks.size() > 0;
  const AssignedParts assigned = AssignParts(runs, nodes, relations, rules, selection.nodes, selection.relations);
  selection.self_loops = assigned.self_loops;
  selection.kept_edges = assigned.edges;
  if (assigned.edges[1] + assigned.edges[2] == 0) return selection;  // a training edge has seen names alone
  const Counts counts = ForEachRecord(runs, [&](EdgeRecord& record, Counts& mine) {
    const Part part = record.part();
    if (part == Part::kDropped) return;
    const bool seen = part == Part::kTrain || (node_marks.InTrain(record.head) && node_marks.InTrain(record.tail) &&
                                               (!has_relations || relation_marks.InTrain(record.relation())));
    if (!seen) {
      ++mine.unseen[static_cast<std::size_t>(part)];
      if (rules.drop_unseen) return record.set_part(Part::kDropped);
    }
    ++mine.kept[static_cast<std::size_t>(part)];
  });
  selection.unseen_edges = counts.unseen;
  selection.kept_edges = counts.kept;
  selection.unseen_nodes = node_marks.CountUnseen();
  selection.unseen_relations = relation_marks.CountUnseen();
  return selection;
}

}  // namespace octavo
