// How a walk chooses its next node. Pure: the same stream of random numbers gives the same step.
#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"
#include "walk/adjacency.h"
#include "walk/walk_options.h"

namespace octavo {

// The numbers of step `step` (from 1) of walk `walk`: walk i of node v is v * walks_of_node() + i.
inline RandomStream StepStream(std::uint64_t seed, std::uint64_t walk, std::uint64_t step) {
  return {seed, RandomPurpose::kWalk, static_cast<std::uint32_t>(step), walk};
}

// Returns a neighbour of `node` by weight; empty if it has none. REQUIRES: rows.Has(node)
std::optional<std::uint32_t> DrawNeighbour(const Adjacency& rows, std::uint32_t node, RandomStream& stream);

// The steps of node2vec, drawn by rejection: a neighbour by weight is taken with probability bias / largest bias, as in
// Yang et al., "KnightKing", SOSP 2019. A step back that is likelier than all others is an area of its own beside them,
// so that a small p costs nothing.
class SecondOrderStep {
 public:
  SecondOrderStep(double p, double q);

  // Returns the node behind `node` for a walk that came from `previous`; empty if there is none.
  // REQUIRES: rows.Has(node) and previous_rows.Has(previous)
  std::optional<std::uint32_t> Draw(const Adjacency& rows, std::uint32_t node, const Adjacency& previous_rows,
                                    std::uint32_t previous, RandomStream& stream) const;

 private:
  double back_;     // 1 / p
  double away_;     // 1 / q
  double largest_;  // of the biases of steps that do not lead back
  double smallest_;
};

// Whether a walk of ppr ends where it is, before step `step`.
inline bool EndsHere(double alpha, RandomStream& stream) {
  return static_cast<double>(stream.Next32()) * 0x1.0p-32 >= alpha;
}

}  // namespace octavo
