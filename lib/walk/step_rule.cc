#include "walk/step_rule.h"

#include <algorithm>
#include <cstddef>
#include <span>

namespace octavo {
namespace {

// In [0, 1), with 53 random bits.
double Uniform(RandomStream& stream) { return static_cast<double>(stream.Next64() >> 11) * 0x1.0p-53; }

// Draws the position of a neighbour, by weight. REQUIRES: there is a neighbour
std::size_t DrawPlace(std::span<const std::uint32_t> neighbours, std::span<const double> sums, RandomStream& stream) {
  if (sums.empty()) return stream.Below(neighbours.size());
  const double at = Uniform(stream) * sums.back();
  const auto place = static_cast<std::size_t>(std::ranges::upper_bound(sums, at) - sums.begin());
  return std::min(place, sums.size() - 1);  // rounding may make the product equal to the sum
}

// The total weight of the edges from the row's node to `tail`.
double WeightTo(std::span<const std::uint32_t> neighbours, std::span<const double> sums, std::uint32_t tail) {
  const auto [from, to] = std::equal_range(neighbours.begin(), neighbours.end(), tail);
  const auto first = static_cast<std::size_t>(from - neighbours.begin());
  const auto end = static_cast<std::size_t>(to - neighbours.begin());
  if (first == end) return 0;
  if (sums.empty()) return static_cast<double>(end - first);
  return sums[end - 1] - (first > 0 ? sums[first - 1] : 0);
}

}  // namespace

std::optional<std::uint32_t> DrawNeighbour(const Adjacency& rows, std::uint32_t node, RandomStream& stream) {
  const auto neighbours = rows.Neighbours(node);
  if (neighbours.empty()) return std::nullopt;
  return neighbours[DrawPlace(neighbours, rows.WeightSums(node), stream)];
}

SecondOrderStep::SecondOrderStep(double p, double q)
    : back_(1 / p), away_(1 / q), largest_(std::max(1.0, away_)), smallest_(std::min({1.0, away_, back_})) {}

std::optional<std::uint32_t> SecondOrderStep::Draw(const Adjacency& rows, std::uint32_t node,
                                                   const Adjacency& previous_rows, std::uint32_t previous,
                                                   RandomStream& stream) const {
  const auto neighbours = rows.Neighbours(node);
  if (neighbours.empty()) return std::nullopt;
  if (neighbours.size() == 1) return neighbours[0];
  const auto sums = rows.WeightSums(node);
  double back_share = 0;  // relative to the area under `largest_`
  if (back_ > largest_) {
    const double beside = WeightTo(neighbours, sums, previous) * (back_ - largest_);
    const double under = (sums.empty() ? static_cast<double>(neighbours.size()) : sums.back()) * largest_;
    back_share = beside / (beside + under);
  }
  while (true) {
    if (back_share > 0 && Uniform(stream) < back_share) return previous;
    const std::uint32_t next = neighbours[DrawPlace(neighbours, sums, stream)];
    const double at = static_cast<double>(stream.Next32()) * 0x1.0p-32 * largest_;
    if (at < smallest_) return next;  // accepted whatever its bias is
    const double bias = next == previous ? back_ : previous_rows.HasEdge(previous, next) ? 1.0 : away_;
    if (at < bias) return next;
  }
}

}  // namespace octavo
