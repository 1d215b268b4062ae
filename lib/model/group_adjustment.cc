#include "model/group_adjustment.h"

#include <algorithm>
#include <cstddef>

namespace octavo {

std::span<const float> GroupAdjustment::Apply(LossKind loss, const SideGroups& groups,
                                              std::span<const std::uint32_t> begins, std::span<const float> answers,
                                              std::span<float> scores) {
  const std::size_t negatives = groups.negatives.size();
  if (negatives == 0) return answers;
  const bool softmax = loss == LossKind::kSoftmax;
  const float in_own_group = softmax ? groups.log_share : kMaskedScore;
  for (std::size_t group = 0; group < added_.size(); ++group) {
    added_[group].resize(negatives);
    for (std::size_t j = 0; j < negatives; ++j) added_[group][j] = groups.negatives[j] == group ? in_own_group : 0.0F;
  }
  for (std::size_t q = 0; q + 1 < begins.size(); ++q) {
    const std::uint8_t own = groups.anchors[q];
    const auto of_query = groups.answers.subspan(begins[q] - begins[0], begins[q + 1] - begins[q]);
    if (!softmax && std::ranges::find(of_query, own) != of_query.end()) continue;
    float* const row = scores.data() + q * negatives;
    const float* const added = added_[own].data();
    for (std::size_t j = 0; j < negatives; ++j) row[j] += added[j];
  }
  if (!softmax) return answers;
  answers_.assign(answers.begin(), answers.end());
  for (std::size_t q = 0; q + 1 < begins.size(); ++q) {
    for (std::size_t e = begins[q] - begins[0]; e < begins[q + 1] - begins[0]; ++e) {
      if (groups.answers[e] == groups.anchors[q]) answers_[e] += groups.log_share;
    }
  }
  return answers_;
}

}  // namespace octavo
