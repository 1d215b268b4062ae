#include "model/group_adjustment.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

using testing::ElementsAre;
using testing::Pointwise;

constexpr float kMasked = kMaskedScore;
constexpr LossKind kOthers[] = {LossKind::kLogistic, LossKind::kRanking, LossKind::kSelfAdversarial};

// Queries of 2, 3 and 1 edges, counted from 7 as in a piece of a chunk; 3 negatives.
class GroupAdjustmentTest : public testing::Test {
 protected:
  const std::vector<std::uint32_t> begins_ = {7, 9, 12, 13};
  const std::vector<std::uint8_t> anchors_ = {0, 1, 1};
  const std::vector<std::uint8_t> of_answers_ = {1, 0, 0, 1, 0, 0};
  const std::vector<std::uint8_t> negatives_ = {1, 0, 1};
  const SideGroups groups_ = {.anchors = anchors_, .answers = of_answers_, .negatives = negatives_, .log_share = -0.5F};
  const std::vector<float> answers_ = {1, 2, 3, 4, 5, 6};
  std::vector<float> scores_ = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  GroupAdjustment adjustment_;
};

TEST_F(GroupAdjustmentTest, ASoftmaxLowersWhatIsInTheGroupOfTheAnchor) {
  const auto answers = adjustment_.Apply(LossKind::kSoftmax, groups_, begins_, answers_, scores_);
  EXPECT_THAT(answers, ElementsAre(1, 1.5F, 3, 3.5F, 5, 6));
  EXPECT_THAT(scores_, ElementsAre(1, 1.5F, 3, 3.5F, 5, 5.5F, 6.5F, 8, 8.5F));
}

TEST_F(GroupAdjustmentTest, OtherLossesMaskTheGroupOfTheAnchorUnlessAnAnswerIsThere) {
  for (const LossKind loss : kOthers) {
    std::vector<float> scores = scores_;
    EXPECT_EQ(adjustment_.Apply(loss, groups_, begins_, answers_, scores).data(), answers_.data());
    EXPECT_THAT(scores, ElementsAre(1, 2, 3, 4, 5, 6, kMasked, 8, kMasked));
  }
}

TEST_F(GroupAdjustmentTest, WithoutGroupsNothingChanges) {
  for (const LossKind loss : {LossKind::kSoftmax, LossKind::kRanking}) {
    const std::vector<float> before = scores_;
    EXPECT_EQ(adjustment_.Apply(loss, {}, begins_, answers_, scores_).data(), answers_.data());
    EXPECT_EQ(scores_, before);
  }
}

// What is not finite must reach the loss, which says so.
TEST_F(GroupAdjustmentTest, DoesNotHideNan) {
  scores_[6] = std::numeric_limits<float>::quiet_NaN();
  for (const LossKind loss : {LossKind::kSoftmax, LossKind::kLogistic}) {
    adjustment_.Apply(loss, groups_, begins_, answers_, scores_);
    EXPECT_TRUE(std::isnan(scores_[6]));
  }
}

// Nodes are answers with known probabilities; a lane trains those in the group of the anchor too rarely. The scores
// that fit all edges, the logarithms of the probabilities, are then those at which the slopes are 0.
TEST_F(GroupAdjustmentTest, TrueScoresHaveNoSlopesInALane) {
  const std::vector<double> probabilities = {0.1, 0.25, 0.3, 0.05, 0.2, 0.1};
  const std::vector<std::uint32_t> begins = {0, 6};
  const std::vector<std::uint8_t> anchors = {1};
  const std::vector<std::uint8_t> of_answers = {0, 1, 0, 1, 1, 0};
  const std::vector<std::uint8_t> negative = {0};
  constexpr double kShare = 1.0 / 7;
  const SideGroups groups = {.anchors = anchors,
                             .answers = of_answers,
                             .negatives = negative,
                             .log_share = static_cast<float>(std::log(kShare))};
  std::vector<Edge> edges;
  std::vector<float> true_scores, weights;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    edges.push_back({.tail = NodeId{i}});
    true_scores.push_back(static_cast<float>(std::log(probabilities[i])));
    weights.push_back(static_cast<float>(probabilities[i] * (of_answers[i] == anchors[0] ? kShare : 1)));
  }
  const auto slopes = [&](const SideGroups& of_lane) {
    std::vector<float> masked = {kMasked}, found(edges.size());
    const auto answers = adjustment_.Apply(LossKind::kSoftmax, of_lane, begins, true_scores, masked);
    LossAndGradient({.competing_answers = true}, answers, weights, masked, 1, found, begins, edges);
    return found;
  };
  EXPECT_THAT(slopes(groups), Pointwise(testing::FloatNear(1e-6F), std::vector<float>(edges.size(), 0.0F)));
  EXPECT_GT(std::abs(slopes({})[0]), 0.01F);
}

}  // namespace
}  // namespace octavo
