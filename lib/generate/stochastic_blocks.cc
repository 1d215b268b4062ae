#include "generate/stochastic_blocks.h"

namespace octavo {

StochasticBlocks::StochasticBlocks(const GenerateOptions& options)
    : EdgeGenerator(options),
      nodes_(options.nodes),
      blocks_(options.blocks),
      mixing_(static_cast<std::uint64_t>(options.mixing * 0x1.0p32)) {}

std::uint64_t StochasticBlocks::DrawTail(std::uint64_t head, RandomStream& random) const {
  const std::uint64_t block = head % blocks_;
  std::uint64_t tail = 0;
  if (random.Next32() < mixing_) {
    do tail = random.Below(nodes_);
    while (tail % blocks_ == block);
    return tail;
  }
  const std::uint64_t members = (nodes_ - block + blocks_ - 1) / blocks_;
  do tail = random.Below(members) * blocks_ + block;
  while (tail == head);
  return tail;
}

void StochasticBlocks::Draw(RandomStream& random, std::span<GeneratedEdge> edges) const {
  for (GeneratedEdge& edge : edges) {
    edge = {random.Below(nodes_), 0, 0};
    edge.tail = DrawTail(edge.head, random);
  }
}

}  // namespace octavo
