#include "evaluate/pair_scorer.h"

#include <algorithm>

namespace octavo {
namespace {

constexpr std::size_t kMostPairs = 32;           // the smallest number of columns that a product computes
constexpr std::size_t kBlockBytes = 128 * 1024;  // size of the copies: longer rows are worth separate products

}  // namespace

PairScorer::PairScorer(const ModelSpec& model)
    : model_(model), pairs_(std::clamp<std::size_t>(kBlockBytes / (2 * sizeof(float) * model.dim), 1, kMostPairs)) {}

void PairScorer::Add(std::span<const float> query, std::span<const float> row, float& score) {
  Block& block = blocks_.local();
  block.queries.insert(block.queries.end(), query.begin(), query.end());
  block.rows.insert(block.rows.end(), row.begin(), row.end());
  block.targets.push_back(&score);
  if (block.targets.size() == pairs_) Score(block);
}

void PairScorer::Finish() {
  for (Block& block : blocks_) Score(block);
}

void PairScorer::Score(Block& block) const {
  const std::size_t pairs = block.targets.size();
  block.scores.resize(pairs * pairs);
  ScoreBlock(model_, block.queries, pairs, block.rows, pairs, block.scratch, block.scores);
  for (std::size_t i = 0; i < pairs; ++i) *block.targets[i] = block.scores[i * pairs + i];
  block.queries.clear();
  block.rows.clear();
  block.targets.clear();
}

}  // namespace octavo
