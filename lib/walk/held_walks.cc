#include <algorithm>
#include <optional>
#include <vector>

#include "base/status.h"
#include "walk/adjacency.h"
#include "walk/step_rule.h"
#include "walk/walk_source.h"

namespace octavo {
namespace {

// Walks of one task: a few hundred microseconds of work.
constexpr std::uint64_t kWalksPerTask = 128;

class HeldWalks {
 public:
  HeldWalks(const WalkOptions& options, const Adjacency& rows)
      : options_(options), rows_(rows), second_order_(options.p, options.q) {}

  void Take(std::uint64_t walk, std::vector<std::uint32_t>& nodes, PairCounter::Writer& writer) const {
    const auto start = static_cast<std::uint32_t>(walk / options_.walks_of_node());
    if (options_.windowed()) {
      TakeWindowed(walk, start, nodes, writer);
    } else {
      writer.Add(start, LastOf(walk, start));
    }
  }

 private:
  void TakeWindowed(std::uint64_t walk, std::uint32_t start, std::vector<std::uint32_t>& nodes,
                    PairCounter::Writer& writer) const {
    nodes.assign(1, start);
    while (nodes.size() < options_.length) {
      RandomStream stream = StepStream(options_.seed, walk, nodes.size());
      const std::uint32_t node = nodes.back();
      const std::optional<std::uint32_t> next =
          options_.kind == WalkKind::kNode2Vec && nodes.size() > 1
              ? second_order_.Draw(rows_, node, rows_, nodes[nodes.size() - 2], stream)
              : DrawNeighbour(rows_, node, stream);
      if (!next) return;
      const std::size_t first = nodes.size() - std::min<std::size_t>(nodes.size(), options_.window);
      for (std::size_t i = first; i < nodes.size(); ++i) writer.Add(nodes[i], *next);
      nodes.push_back(*next);
    }
  }

  std::uint32_t LastOf(std::uint64_t walk, std::uint32_t node) const {
    for (std::uint64_t step = 1;; ++step) {
      RandomStream stream = StepStream(options_.seed, walk, step);
      if (EndsHere(options_.alpha, stream)) return node;
      const std::optional<std::uint32_t> next = DrawNeighbour(rows_, node, stream);
      if (!next) return node;
      node = *next;
    }
  }

  const WalkOptions& options_;
  const Adjacency& rows_;
  const SecondOrderStep second_order_;
};

}  // namespace

absl::Status TakeHeldWalks(const WalkSource& source, PairCounter& counter) {
  ASSIGN_OR_RETURN(const Adjacency rows, source.Rows(source.plan.ranges.front()));
  const HeldWalks walks(source.options, rows);
  std::vector<std::vector<std::uint32_t>> nodes(source.plan.workers);
  const std::uint64_t all = source.walks();
  for (std::uint64_t first = 0; first < all;) {
    RETURN_IF_ERROR(source.CheckStop());
    const std::uint64_t room = counter.Room() / source.options.pairs_of_walk();
    const std::uint64_t count = std::min({all - first, room, kWalksPerTask * 1024 * source.plan.workers});
    if (count == 0) {
      RETURN_IF_ERROR(counter.Compact());
      continue;
    }
    ParallelWorkers(source.plan.workers, 0, (count + kWalksPerTask - 1) / kWalksPerTask,
                    [&](std::size_t worker, std::uint64_t task) {
                      if (!source.CheckStop().ok()) return;
                      const std::uint64_t end = first + std::min(count, (task + 1) * kWalksPerTask);
                      for (std::uint64_t walk = first + task * kWalksPerTask; walk < end; ++walk) {
                        walks.Take(walk, nodes[worker], counter.writer(worker));
                      }
                    });
    RETURN_IF_ERROR(source.CheckStop());
    first += count;
    if (source.progress) source.progress(first, all);
  }
  return absl::OkStatus();
}

}  // namespace octavo
