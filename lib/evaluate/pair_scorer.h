// Scores pairs of a query and a row that arrive one by one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/per_thread.h"
#include "model/scorer.h"

namespace octavo {

// A product of two vectors takes almost as long as one of some dozen by as many. So each thread collects pairs and
// scores them as a block, of which only the diagonal is used. The bits are the same (ScoreBlock).
class PairScorer {
 public:
  explicit PairScorer(const ModelSpec& model);

  // Copies query and row, both [dim]. `score` is written before Finish returns. Any thread.
  void Add(std::span<const float> query, std::span<const float> row, float& score);
  // Scores the remaining pairs. Not concurrently with Add.
  void Finish();

 private:
  struct Block {
    std::vector<float> queries;  // [targets, dim]
    std::vector<float> rows;     // [targets, dim]
    std::vector<float*> targets;
    std::vector<float> scores;  // [targets, targets]
    ScoreScratch scratch;
  };
  void Score(Block& block) const;

  const ModelSpec model_;
  const std::size_t pairs_;  // in a full block
  PerThread<Block> blocks_;
};

}  // namespace octavo
