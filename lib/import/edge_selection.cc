#include "import/edge_selection.h"

#include <atomic>
#include <cstddef>

#include "base/mutex.h"
#include "base/parallel.h"

namespace octavo {
namespace {

// Where a name was seen, by id. Any thread may set marks while none reads them.
class Marks {
 public:
  enum : std::uint8_t { kInTrain = 1, kElsewhere = 2 };

  explicit Marks(std::uint32_t ids) : marks_(ids) {}

  void Set(std::uint32_t id, std::uint8_t mark) {
    // Relaxed: the marks are read after the threads have been joined. The load spares a locked write, as nearly every
    // name has its mark already.
    const std::atomic_ref<std::uint8_t> cell(marks_[id]);
    if ((cell.load(std::memory_order_relaxed) & mark) == 0) cell.fetch_or(mark, std::memory_order_relaxed);
  }
  bool InTrain(std::uint32_t id) const { return (marks_[id] & kInTrain) != 0; }
  bool Seen(std::uint32_t id) const { return marks_[id] != 0; }
  std::size_t size() const { return marks_.size(); }

 private:
  std::vector<std::uint8_t> marks_;
};

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

std::uint64_t CountUnseen(const Marks& marks) {
  std::uint64_t count = 0;
  for (std::uint32_t id = 0; id < marks.size(); ++id) count += marks.Seen(id) && !marks.InTrain(id) ? 1 : 0;
  return count;
}

std::vector<bool> Kept(const Marks& marks, bool only_train) {
  std::vector<bool> kept(marks.size());
  for (std::uint32_t id = 0; id < marks.size(); ++id) kept[id] = only_train ? marks.InTrain(id) : marks.Seen(id);
  return kept;
}

}  // namespace

Selection SelectEdges(EdgeRuns& runs, const NameTable& nodes, const NameTable& relations, const SelectionRules& rules) {
  Marks node_marks(nodes.id_limit());
  Marks relation_marks(relations.id_limit());
  const bool has_relations = relation_marks.size() > 0;
  const auto assign = [&](EdgeRecord& record, Counts& counts) {
    const std::uint32_t relation = record.relation();
    if (rules.split) {
      record.set_part(rules.split->PartOf(nodes.Hash(record.head), has_relations ? relations.Hash(relation) : 0,
                                          nodes.Hash(record.tail)));
    }
    if (record.head == record.tail) {
      ++counts.self_loops;
      if (rules.drop_self_loops) return record.set_part(Part::kDropped);
    }
    const std::uint8_t mark = record.part() == Part::kTrain ? Marks::kInTrain : Marks::kElsewhere;
    node_marks.Set(record.head, mark);
    node_marks.Set(record.tail, mark);
    if (has_relations) relation_marks.Set(relation, mark);
  };
  const auto judge = [&](EdgeRecord& record, Counts& counts) {
    const Part part = record.part();
    if (part == Part::kDropped) return;
    const bool seen = part == Part::kTrain || (node_marks.InTrain(record.head) && node_marks.InTrain(record.tail) &&
                                               (!has_relations || relation_marks.InTrain(record.relation())));
    if (!seen) {
      ++counts.unseen[static_cast<std::size_t>(part)];
      if (rules.drop_unseen) return record.set_part(Part::kDropped);
    }
    ++counts.kept[static_cast<std::size_t>(part)];
  };
  Selection selection;
  selection.self_loops = ForEachRecord(runs, assign).self_loops;
  const Counts counts = ForEachRecord(runs, judge);
  selection.unseen_edges = counts.unseen;
  selection.kept_edges = counts.kept;
  selection.unseen_nodes = CountUnseen(node_marks);
  selection.unseen_relations = CountUnseen(relation_marks);
  // Under drop_unseen every edge that stays has names of training edges only.
  selection.nodes = Kept(node_marks, rules.drop_unseen);
  selection.relations = Kept(relation_marks, rules.drop_unseen);
  return selection;
}

}  // namespace octavo
