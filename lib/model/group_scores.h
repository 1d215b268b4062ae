// Scores of a chunk of a lane, which holds two groups of nodes.
//
// In a round a lane trains all edges between its two groups, but of those within a group only a share. So for an anchor
// the nodes of the same group are answers too rarely. A softmax over the candidates x of a query, of which each is an
// answer with a known relative rate c(x), is that of the true distribution if log c(x) is added to its scores ("logit
// adjustment": Menon et al., ICLR 2021; King and Zeng, Political Analysis 2001). Here c is the share of the
// edges for nodes in the group of the anchor, answers and negatives alike, and 1 for the others.
//
// The other losses look at one negative at a time, and do not compare the groups. They mask the negatives in the group
// of the anchor where no answer of the query is there, so that these meet as many negatives as they have answers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/chunk.h"
#include "model/loss.h"

namespace octavo {

// One thread.
class GroupScores {
 public:
  // Changes the scores of negatives, [Q, N] with Q = begins.size() - 1. Returns the scores of the answers for the loss,
  // [E], valid until the next call: `answers`, or others. Without groups nothing is changed.
  std::span<const float> Weigh(LossKind loss, const ComparedGroups& groups, std::span<const std::uint32_t> begins,
                               std::span<const float> answers, std::span<float> scores);

 private:
  std::array<std::vector<float>, 2> added_;  // to the scores of a query whose anchor is in group 0, 1; [N]
  std::vector<float> answers_;               // [E]
};

}  // namespace octavo
