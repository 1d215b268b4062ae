// Scores of a chunk of a lane, which holds two groups of nodes.
//
// In a round a lane trains all edges between its two groups, but only a share of those within a group. So nodes in the
// anchor's group are answers too rarely. The softmax corrects this: in training the logarithm of that share is added to
// the score of every candidate in the anchor's group, answer or negative. Then the plain scores fit the edges of the
// whole epoch ("logit adjustment": Menon et al., ICLR 2021). On average, that is: groups are drawn anew for each epoch,
// and few partitions in a group, or few of them in memory, make the share of one anchor in one round larger or smaller.
// Label smoothing does not know of it: its part of the label is the same for both groups.
//
// The other losses mask the negatives in the group of the anchor, unless an answer of the query is there. Then none of
// the two groups has many more negatives than answers; it was not tried whether the share does better.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/chunk.h"
#include "model/loss.h"

namespace octavo {

// One thread.
class GroupAdjustment {
 public:
  // Changes the scores of negatives, [Q, N] with Q = begins.size() - 1. Returns the scores of the answers for the loss,
  // [E], valid until the next call: `answers`, which stay as they are, or others. Without groups nothing is changed.
  std::span<const float> Apply(LossKind loss, const SideGroups& groups, std::span<const std::uint32_t> begins,
                               std::span<const float> answers, std::span<float> scores);

 private:
  std::array<std::vector<float>, 2> added_;  // to the scores of a query whose anchor is in group 0, 1; [N]
  std::vector<float> answers_;               // [E]
};

}  // namespace octavo
