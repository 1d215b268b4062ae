// The gradient of the layout's loss, optimised for the current processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace octavo {

// Nodes with consecutive ids, a neighbour of each, and nodes that all of them are compared with.
struct LayoutChunk {
  std::uint32_t first = 0;  // id of the first node
  std::span<const float> x = {};
  std::span<const float> y = {};  // [nodes]
  std::span<const float> neighbor_x = {};
  std::span<const float> neighbor_y = {};  // [nodes]
  std::span<const std::uint32_t> negatives = {};
  std::span<const float> negative_x = {};
  std::span<const float> negative_y = {};  // [negatives]
};

// For each node i with the neighbour j and the negatives k other than i itself: the gradient by the position of i of
//   -log(q(i, j) / (q(i, j) + sum over k of q(i, k))),  q(a, b) = 1 / (1 + |a - b|^2),
// that is 2 q_ij (1 - q_ij / s) (y_i - y_j) - 2 / s * sum over k of q_ik^2 (y_i - y_k), where s is the sum in the loss.
// No component is larger than 2. Pure; any thread. A node's bits do not depend on its place in the chunk. dx, dy:
// [nodes]
void LayoutGradient(const LayoutChunk& chunk, std::span<float> dx, std::span<float> dy);

}  // namespace octavo
