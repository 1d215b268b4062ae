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

// Calls `function(record, counts)` for every record, in parallel, and returns the summed counts.
template <typename Function>
Counts ForEachRecord(EdgeChunks& chunks, const Function& function) {
  Mutex mutex;
  Counts total;
  ParallelEach(0, chunks.size(), [&](std::size_t chunk) {
    Counts counts;
    for (EdgeRecord& record : chunks[chunk]) function(record, counts);
    const MutexLock lock(mutex);
    total.Add(counts);
  });
  return total;
}

}  // namespace

AssignedSplits AssignSplits(EdgeChunks& chunks, const NameTable& nodes, const NameTable& relations,
                            const SelectionRules& rules, NameMarks& node_marks, NameMarks& relation_marks) {
  const bool has_relations = relation_marks.size() > 0;
  const Counts counts = ForEachRecord(chunks, [&](EdgeRecord& record, Counts& mine) {
    const std::uint32_t relation = record.relation();
    // By hashes, not ids: ids depend on the order of arrival, the split must not.
    if (rules.split) {
      std::uint64_t from = nodes.Hash(record.head);
      std::uint64_t to = nodes.Hash(record.tail);
      if (rules.undirected && from > to) std::swap(from, to);
      record.set_split(rules.split->SplitOf(from, has_relations ? relations.Hash(relation) : 0, to));
    }
    if (record.head == record.tail) {
      ++mine.self_loops;
      if (rules.drop_self_loops) return record.set_split(EdgeSplit::kDropped);
    }
    ++mine.kept[static_cast<std::size_t>(record.split())];
    const std::uint8_t mark = record.split() == EdgeSplit::kTrain ? NameMarks::kInTrain : NameMarks::kElsewhere;
    node_marks.Set(record.head, mark);
    node_marks.Set(record.tail, mark);
    if (has_relations) relation_marks.Set(relation, mark);
  });
  return {counts.self_loops, counts.kept};
}

EdgeSelection SelectEdges(EdgeChunks& chunks, const NameTable& nodes, const NameTable& relations,
                          const SelectionRules& rules) {
  EdgeSelection selection = {.nodes = NameMarks(nodes.id_limit()), .relations = NameMarks(relations.id_limit())};
  const NameMarks& node_marks = selection.nodes;
  const NameMarks& relation_marks = selection.relations;
  const bool has_relations = relation_marks.size() > 0;
  const AssignedSplits assigned = AssignSplits(chunks, nodes, relations, rules, selection.nodes, selection.relations);
  selection.self_loops = assigned.self_loops;
  selection.kept_edges = assigned.edges;
  if (assigned.edges[1] + assigned.edges[2] == 0) return selection;  // training edges have only seen names
  const Counts counts = ForEachRecord(chunks, [&](EdgeRecord& record, Counts& mine) {
    const EdgeSplit split = record.split();
    if (split == EdgeSplit::kDropped) return;
    const bool seen =
        split == EdgeSplit::kTrain || (node_marks.InTrain(record.head) && node_marks.InTrain(record.tail) &&
                                       (!has_relations || relation_marks.InTrain(record.relation())));
    if (!seen) {
      ++mine.unseen[static_cast<std::size_t>(split)];
      if (rules.drop_unseen) return record.set_split(EdgeSplit::kDropped);
    }
    ++mine.kept[static_cast<std::size_t>(split)];
  });
  selection.unseen_edges = counts.unseen;
  selection.kept_edges = counts.kept;
  selection.unseen_nodes = node_marks.CountUnseen();
  selection.unseen_relations = relation_marks.CountUnseen();
  return selection;
}

}  // namespace octavo
