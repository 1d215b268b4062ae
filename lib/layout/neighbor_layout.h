// Moves points of a plane so that nodes lie near their neighbours and away from other nodes: stochastic gradient
// descent on a contrastive loss with shared negatives (InfoNC-t-SNE: Damrich, Böhm, Hamprecht and Kobak, "From t-SNE to
// UMAP with contrastive learning", ICLR 2023), as LargeVis and UMAP do with another loss.
//
// The schedule. An epoch moves each node once. Epochs are taken 16 at a time, a round, and nodes 65,536 at a time, a
// block: block after block does its steps of the round while the other blocks stand. Then the lists of a block are read
// once in a round and need not be in memory. In a step each node of the block draws a word of its list, each chunk
// of 256 nodes draws its negatives among all nodes, and all move at once, from the positions before the step. Ids are
// ranks of hashes, so the nodes of a chunk have nothing in common. Draws are functions of seed, epoch and node, and no
// node is written by two tasks: the bits do not depend on threads or memory.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "absl/status/status.h"
#include "layout/scratch_table.h"

namespace octavo {

using MapPoint = std::array<float, 2>;

inline constexpr std::uint32_t kNoNode = UINT32_MAX;

inline constexpr std::uint64_t kLayoutBlockNodes = 1 << 16;
inline constexpr std::uint64_t kLayoutChunkNodes = 256;
inline constexpr std::uint32_t kLayoutRoundEpochs = 16;

struct LayoutOptions {
  std::uint32_t epochs = 1000;
  // Of a step. More of them keep near neighbourhoods better: with 64, 256 and 1,024 of them, 0.40, 0.42 and
  // 0.43 of the ten nearest nodes on the graph lastfm-asia.
  std::uint32_t negatives = 256;
  double learning_rate = 2;  // of the first epoch; falls linearly to 0
  std::uint64_t seed = 0;
  // Called with the share done, from the calling thread.
  std::function<void(double)> progress = {};
};

// Returns an upper bound for the memory of OptimizeLayout with lists of `width` words, apart from lists and points.
std::uint64_t LayoutBytes(std::uint64_t width, int threads);

// lists: [nodes, width], the neighbours of each node, of which unused words are kNoNode. A node without neighbours
// stays where it is. points: [nodes]. Runs on TBB.
absl::Status OptimizeLayout(const ScratchTable& lists, const LayoutOptions& options, std::span<MapPoint> points);

}  // namespace octavo
