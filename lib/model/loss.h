// Losses of a positive against the negatives of its chunk. Pure; values are in nats.
//
// p is the positive's score, s_j those of the unmasked negatives, n their number, g the margin.
//   softmax           -p + log(e^p + c sum_j e^(s_j)); without a negative 0. c is how many nodes a negative stands for
//   logistic          softplus(-(g + p)) + mean_j softplus(g + s_j)
//   ranking           mean_j max(0, g - p + s_j)
//   self-adversarial  softplus(-(g + p)) + sum_j w_j softplus(g + s_j), w = softmax(temperature * s), held constant
//                     (Sun et al., ICLR 2019; scores are negated distances there)
// Without a negative the mean or sum over j is 0.
//
// If edges share a row of scores, each of them is compared with the negatives only. With competing answers the softmax
// is over the negatives and all answers of the row, -p + log(sum_k e^(p_k) + c sum_j e^(s_j)); if the negatives are all
// other nodes, that is the loss of each edge against every node ("1vsAll" in Ruffinelli et al., ICLR 2020). An answer
// of several edges of the row is in the sum once. Without a negative the answers still compete; labels are smoothed
// over the negatives only.
//
// Label smoothing by e gives the positive's label the value 1 - e: for softmax e is distributed evenly over the
// negatives; for logistic each negative has the label e. Both add e * (p - mean_j s_j) to the loss (nothing without a
// negative). The other losses have no labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/edge.h"

namespace octavo {

enum class LossKind { kSoftmax, kLogistic, kRanking, kSelfAdversarial };

struct LossSpec {
  LossKind kind = LossKind::kSoftmax;
  float margin = 0.0F;
  float adversarial_temperature = 1.0F;
  float label_smoothing = 0.0F;    // in [0, 1)
  bool competing_answers = false;  // softmax only
  double log_negative_count = 0;   // log c, softmax only
};

// "softmax", "logistic", "ranking", "self-adversarial". The parser's error lists them.
std::string_view LossName(LossKind kind);
absl::StatusOr<LossKind> ParseLoss(std::string_view name);

// A negative with this score is masked: it does not contribute to the loss, and its gradient is 0.
inline constexpr float kMaskedScore = -std::numeric_limits<float>::infinity();

// Computes, for each of `positives.size()` edges, the loss of its row of `scores` [rows, negatives] and replaces the
// scores by d loss / d score, times weights[edge]; positive_gradients[edge] gets d loss / d positive, times the weight.
// Row i belongs to the edges [begins[i], begins[i + 1]), counted from begins[0], whose losses and gradients are added.
// With competing answers, adjacent edges of a row with the same tail in `answers` [edges] count as one answer; without
// `answers` every edge is a different one. Returns the sum over the edges of weight * loss. REQUIRES: each row has an
// edge
double LossAndGradient(const LossSpec& spec, std::span<const float> positives, std::span<const float> weights,
                       std::span<float> scores, std::size_t negatives, std::span<float> positive_gradients,
                       std::span<const std::uint32_t> begins, std::span<const Edge> answers = {});

}  // namespace octavo
