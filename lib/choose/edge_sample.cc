#include "choose/edge_sample.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "base/random.h"
#include "base/status.h"

namespace octavo {
namespace {

// The blocks of a cell and of that of the opposite direction.
struct CellPair {
  std::uint64_t rank = 0;
  std::uint64_t edges = 0;
  std::vector<std::size_t> blocks;
};

std::uint64_t Draw(std::uint64_t a, std::uint64_t b) {
  return RandomStream(0, RandomPurpose::kFactSample, static_cast<std::uint32_t>(std::min(a, b)), std::max(a, b))
      .Next64();
}

std::vector<CellPair> CellPairs(const CellReader& cells) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, CellPair> pairs;
  for (std::size_t i = 0; i < cells.block_count(); ++i) {
    const BlockRecord& block = cells.block(i);
    const auto ends = std::minmax(block.head_partition, block.tail_partition);
    CellPair& pair = pairs[{ends.first, ends.second}];
    pair.rank = Draw(ends.first, ends.second);
    pair.edges += block.edges;
    pair.blocks.push_back(i);
  }
  std::vector<CellPair> drawn;
  for (auto& [ends, pair] : pairs) drawn.push_back(std::move(pair));
  std::ranges::sort(drawn, {}, &CellPair::rank);
  return drawn;
}

}  // namespace

absl::StatusOr<EdgeSample> SampleEdges(const Graph& graph, std::uint64_t most) {
  const CellReader& cells = graph.Edges(Split::kTrain);
  EdgeSample sample;
  std::vector<std::size_t> blocks;
  std::uint64_t taken = 0;
  for (const CellPair& pair : CellPairs(cells)) {
    if (taken > 0 && taken + pair.edges > most) {
      sample.whole = false;
      continue;  // a smaller one may fit
    }
    taken += pair.edges;
    blocks.insert(blocks.end(), pair.blocks.begin(), pair.blocks.end());
  }
  std::ranges::sort(blocks);
  // Pairs of nodes below this are kept: all, unless one cell is too large.
  std::uint64_t limit = UINT64_MAX;
  if (taken > most) {
    limit = static_cast<std::uint64_t>(static_cast<double>(most) / static_cast<double>(taken) * 0x1p63) * 2;
    sample.whole = false;
  }
  sample.edges.reserve(std::min(taken, most));
  std::vector<Edge> edges;
  std::vector<std::byte> scratch;
  for (const std::size_t block : blocks) {
    edges.resize(cells.block(block).edges);
    RETURN_IF_ERROR(cells.ReadBlock(block, edges, scratch));
    cells.Forget(block, block + 1);
    for (const Edge& edge : edges) {
      if (sample.whole || limit == UINT64_MAX || Draw(Value(edge.head), Value(edge.tail)) < limit) {
        sample.edges.push_back(edge);
      }
    }
  }
  return sample;
}

}  // namespace octavo
