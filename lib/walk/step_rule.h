// How a walk chooses its next node. Pure: the same random numbers give the same step.
#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"
#include "walk/adjacency.h"
#include "walk/walk_options.h"

namespace octavo {

// The random numbers of step `step` (from 1) of walk `walk`. Walk i of node v has number v * walks_of_node() + i.
inline RandomStream StepStream(std::uint64_t seed, std::uint64_t walk, std::uint64_t step) {
  return {seed, RandomPurpose::kWalk, static_cast<std::uint32_t>(step), walk};
}

// Returns a neighbour of `node`, drawn by weight; empty if it has none. REQUIRES: rows.Has(node)
std::optional<std::uint32_t> DrawNeighbour(const Adjacency& rows, std::uint32_t node, RandomStream& stream);

// The steps of node2vec, by rejection sampling: a neighbour drawn by weight is accepted with probability bias / largest
// bias (Yang et al., "KnightKing", SOSP 2019). If the step back is likelier than all others, it has its own area beside
// them, so that a small p costs nothing.
class SecondOrderStep {
 public:
  SecondOrderStep(double p, double q);

  // Returns the node after `node` for a walk that came from `previous`; empty if there is none.
  // REQUIRES: rows.Has(node) and previous_rows.Has(previous)
  std::optional<std::uint32_t> Draw(const Adjacency& rows, std::uint32_t node, const Adjacency& previous_rows,
                                    std::uint32_t previous, RandomStream& stream) const;

 private:
  double back_;     // 1 / p
  double away_;     // 1 / q
  double largest_;  // largest bias of a step that does not lead back
  double smallest_;
};

// Whether a ppr walk ends at its current node, before step `step`; it continues with probability alpha.
inline bool EndsHere(double alpha, RandomStream& stream) {
  return static_cast<double>(stream.Next32()) * 0x1.0p-32 >= alpha;
}

}  // namespace octavo
