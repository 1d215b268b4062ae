#include "model/group_scores.h"

#include <cstddef>

namespace octavo {

std::span<const float> GroupScores::Weigh(LossKind loss, const ComparedGroups& groups,
                                          std::span<const std::uint32_t> begins, std::span<const float> answers,
                                          std::span<float> scores) {
  const std::size_t negatives = groups.negatives.size();
  if (negatives == 0) return answers;
  const bool softmax = loss == LossKind::kSoftmax;
  const float within = softmax ? groups.within : kMaskedScore;
  for (std::size_t group = 0; group < added_.size(); ++group) {
    added_[group].resize(negatives);
    for (std::size_t j = 0; j < negatives; ++j) added_[group][j] = groups.negatives[j] == group ? within : 0.0F;
  }
  answers_.assign(answers.begin(), answers.end());
  for (std::size_t q = 0; q + 1 < begins.size(); ++q) {
    const std::uint8_t own = groups.anchors[q];
    bool answered_within = false;
    for (std::size_t e = begins[q] - begins[0]; e < begins[q + 1] - begins[0]; ++e) {
      if (groups.answers[e] != own) continue;
      answered_within = true;
      if (softmax) answers_[e] += within;
    }
    if (!softmax && answered_within) continue;
    float* const row = scores.data() + q * negatives;
    const float* const added = added_[own].data();
    for (std::size_t j = 0; j < negatives; ++j) row[j] += added[j];
  }
  return answers_;
}

}  // namespace octavo
