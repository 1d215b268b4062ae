// Every edge of a small generated graph.
#pragma once

#include <cstdint>
#include <vector>

#include "generate/edge_generator.h"

namespace octavo {

inline std::vector<GeneratedEdge> AllEdges(const EdgeGenerator& generator) {
  std::vector<GeneratedEdge> all;
  std::vector<GeneratedEdge> block;
  for (std::uint64_t i = 0; i < generator.block_count(); ++i) {
    generator.MakeBlock(i, block);
    all.insert(all.end(), block.begin(), block.end());
  }
  return all;
}

}  // namespace octavo
