// Losses of a row of scores, vectorised over the negatives.
//
// Naive version: the formulas of loss.h, term by term, in double (tests/support/naive_model.cc). Here exp and log1p are
// Highway's, with at most 1 and 2 units in the last place of error where their input is in range; every exponent below
// is at most 0. A row's sum over n negatives is in float, one partial sum per lane, so its relative error is below
// (n / lanes + lanes) * 6e-8; sums over rows are in double.
//
// Highway's Exp turns NaN into 0, so rows with NaN or +inf are found beforehand and made NaN as a whole.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/loss.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include "model/loss.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/escape.h"
#include "base/lanes-inl.h"
#include "base/status.h"
#include "fmt/format.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {

// What the losses must know about a row before they start.
struct RowSurvey {
  float max = kMaskedScore;  // of the unmasked scores
  std::size_t unmasked = 0;
  bool finite = true;  // no NaN and no +inf
};

HWY_INLINE RowSurvey Survey(const float* scores, std::size_t n) {
  RowSurvey survey;
  auto max = hn::Set(FullTag(), kMaskedScore);
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto s = hn::LoadU(d, scores + i);
    const auto below_infinity = hn::Lt(s, hn::Set(d, std::numeric_limits<float>::infinity()));  // false for NaN
    survey.finite = survey.finite && hn::AllTrue(d, below_infinity);
    survey.unmasked += hn::CountTrue(d, hn::Gt(s, hn::Set(d, kMaskedScore)));
    if constexpr (hn::MaxLanes(d) == hn::MaxLanes(FullTag())) {
      max = hn::Max(max, s);
    } else {
      survey.max = std::max(survey.max, hn::GetLane(hn::MaxOfLanes(d, s)));
    }
  });
  survey.max = std::max(survey.max, hn::GetLane(hn::MaxOfLanes(FullTag(), max)));
  return survey;
}

// e^x for x <= 0 or -inf.
template <class D>
HWY_INLINE hn::Vec<D> ExpOfNegative(D d, hn::Vec<D> x) {
  return hn::Exp(d, x);
}

// softplus(x) = log(1 + e^x) and its derivative, the logistic function; x may be -inf.
template <class D>
struct Softplus {
  hn::Vec<D> value;
  hn::Vec<D> slope;

  HWY_INLINE Softplus(D d, hn::Vec<D> x) {
    const auto zero = hn::Zero(d);
    const auto one = hn::Set(d, 1.0F);
    const auto e = ExpOfNegative(d, hn::Neg(hn::Abs(x)));
    value = hn::Add(hn::Max(x, zero), hn::Log1p(d, e));
    slope = hn::Div(hn::IfThenElse(hn::Ge(x, zero), one, e), hn::Add(one, e));
  }
};

struct ScalarSoftplus {
  double value;
  double slope;

  explicit ScalarSoftplus(double x) {
    const double e = std::exp(-std::abs(x));
    value = std::max(x, 0.0) + std::log1p(e);
    slope = (x >= 0 ? 1 : e) / (1 + e);
  }
};

HWY_INLINE void ScaleRow(float factor, float* row, std::size_t n) {
  ForEachLane(n, [&](auto d, std::size_t i)
                     HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(d, row + i), hn::Set(d, factor)), d, row + i); });
}

// The edges of one row of scores.
struct Positives {
  const float* scores;
  const float* weights;
  float* gradients;
  std::size_t count;
  const Edge* answers = nullptr;  // with competing answers, to recognise copies

  // The end of the edges, from `first` on, that have the answer of edge `first`.
  std::size_t EndOfCopies(std::size_t first) const {
    std::size_t end = first + 1;
    while (answers != nullptr && end < count && answers[end].tail == answers[first].tail) ++end;
    return end;
  }

  float TotalWeight() const {
    float total = 0;
    for (std::size_t i = 0; i < count; ++i) total += weights[i];
    return total;
  }
};

// Each of these functions returns the loss of one row, times the weights of its edges, replaces the row's scores by
// weight * gradient, and sets the gradients of the positives.
//
// With S c times the sum over the negatives, an edge's loss is softplus(log S - p). The gradient by a negative's score
// is sigmoid(log S - p) times the negative's share of S, so one pass over the negatives is enough for all edges.
double SoftmaxRow(const LossSpec& spec, const Positives& edges, const RowSurvey& survey, float* scores, std::size_t n) {
  if (survey.unmasked == 0) {
    std::fill_n(scores, n, 0.0F);
    std::fill_n(edges.gradients, edges.count, 0.0F);
    return 0;
  }
  LaneSum sums;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto e = ExpOfNegative(d, hn::Sub(hn::LoadU(d, scores + i), hn::Set(d, survey.max)));
    hn::StoreU(e, d, scores + i);
    sums.Add(d, e);
  });
  const double sum = sums.Total();
  const double log_sum = std::log(sum) + survey.max + spec.log_negative_count;
  double loss = 0;
  double slopes = 0;
  for (std::size_t i = 0; i < edges.count; ++i) {
    const ScalarSoftplus term(log_sum - edges.scores[i]);
    const double slope = edges.weights[i] * term.slope;
    loss += edges.weights[i] * term.value;
    slopes += slope;
    edges.gradients[i] = static_cast<float>(-slope);
  }
  ScaleRow(static_cast<float>(slopes / sum), scores, n);
  return loss;
}

// With Z = sum_k e^(p_k) + c sum_j e^(s_j), the same for all edges of the row, an edge's loss is log Z - p.
double CompetingSoftmaxRow(const LossSpec& spec, const Positives& edges, const RowSurvey& survey, float* scores,
                           std::size_t n) {
  const float max = std::max(survey.max, *std::max_element(edges.scores, edges.scores + edges.count));
  LaneSum sums;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto e = ExpOfNegative(d, hn::Sub(hn::LoadU(d, scores + i), hn::Set(d, max)));
    hn::StoreU(e, d, scores + i);
    sums.Add(d, e);
  });
  const auto above_max = [&](std::size_t i) { return static_cast<double>(edges.scores[i]) - max; };
  const double negative_count = std::exp(spec.log_negative_count);
  double sum = negative_count * sums.Total();
  for (std::size_t i = 0; i < edges.count; i = edges.EndOfCopies(i)) sum += std::exp(above_max(i));
  const double log_sum = std::log(sum);
  const double weight = edges.TotalWeight();
  double loss = 0;
  for (std::size_t i = 0; i < edges.count;) {
    const std::size_t end = edges.EndOfCopies(i);
    const double slope = weight * std::exp(above_max(i) - log_sum) / static_cast<double>(end - i);
    for (; i < end; ++i) {
      loss += edges.weights[i] * (log_sum - above_max(i));
      edges.gradients[i] = static_cast<float>(slope - edges.weights[i]);
    }
  }
  ScaleRow(static_cast<float>(negative_count * weight / sum), scores, n);
  return loss;
}

// The positives' part of the losses that are sums over single scores.
double LogisticPositives(const Positives& edges, float margin) {
  double loss = 0;
  for (std::size_t i = 0; i < edges.count; ++i) {
    const ScalarSoftplus term(-(static_cast<double>(margin) + edges.scores[i]));
    edges.gradients[i] = static_cast<float>(-edges.weights[i] * term.slope);
    loss += edges.weights[i] * term.value;
  }
  return loss;
}

double LogisticRow(float margin, const Positives& edges, const RowSurvey& survey, float* scores, std::size_t n) {
  const float share = survey.unmasked == 0 ? 0.0F : edges.TotalWeight() / static_cast<float>(survey.unmasked);
  LaneSum losses;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const Softplus term(d, hn::Add(hn::LoadU(d, scores + i), hn::Set(d, margin)));
    losses.Add(d, term.value);
    hn::StoreU(hn::Mul(term.slope, hn::Set(d, share)), d, scores + i);
  });
  return LogisticPositives(edges, margin) + static_cast<double>(losses.Total()) * share;
}

// The hinge of each edge is at a different score, so each edge has a pass, which adds to `sums`.
double RankingRow(float margin, const Positives& edges, const RowSurvey& survey, float* scores, std::size_t n,
                  std::vector<float>& sums) {
  sums.assign(n, 0.0F);
  double loss = 0;
  for (std::size_t e = 0; e < edges.count; ++e) {
    const float share = survey.unmasked == 0 ? 0.0F : edges.weights[e] / static_cast<float>(survey.unmasked);
    LaneSum losses;
    std::size_t violations = 0;
    ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
      const auto gap = hn::Add(hn::Sub(hn::LoadU(d, scores + i), hn::Set(d, edges.scores[e])), hn::Set(d, margin));
      const auto violated = hn::Gt(gap, hn::Zero(d));
      violations += hn::CountTrue(d, violated);
      losses.Add(d, hn::IfThenElseZero(violated, gap));
      const auto slope = hn::IfThenElseZero(violated, hn::Set(d, share));
      hn::StoreU(hn::Add(hn::LoadU(d, sums.data() + i), slope), d, sums.data() + i);
    });
    edges.gradients[e] = -share * static_cast<float>(violations);
    loss += static_cast<double>(losses.Total()) * share;
  }
  std::copy_n(sums.data(), n, scores);
  return loss;
}

double SelfAdversarialRow(const LossSpec& spec, const Positives& edges, const RowSurvey& survey, float* scores,
                          std::size_t n) {
  const double positive_loss = LogisticPositives(edges, spec.margin);
  if (survey.unmasked == 0) {
    std::fill_n(scores, n, 0.0F);
    return positive_loss;
  }
  // One pass with the weights still unnormalised, e^(temperature * (s - max)); a second one divides by their sum.
  LaneSum weights;
  LaneSum losses;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto s = hn::LoadU(d, scores + i);
    const auto exponent = hn::Mul(hn::Set(d, spec.adversarial_temperature), hn::Sub(s, hn::Set(d, survey.max)));
    // Masked by hand: at temperature 0 the exponent would be NaN.
    const auto w = hn::IfThenElseZero(hn::Gt(s, hn::Set(d, kMaskedScore)), ExpOfNegative(d, exponent));
    const Softplus term(d, hn::Add(s, hn::Set(d, spec.margin)));
    weights.Add(d, w);
    losses.AddProduct(d, w, term.value);
    hn::StoreU(hn::Mul(w, term.slope), d, scores + i);
  });
  const float share = edges.TotalWeight() / weights.Total();
  ScaleRow(share, scores, n);
  return positive_loss + static_cast<double>(losses.Total()) * share;
}

double PlainRow(const LossSpec& spec, const Positives& edges, const RowSurvey& survey, float* scores, std::size_t n,
                std::vector<float>& scratch) {
  switch (spec.kind) {
    case LossKind::kSoftmax:
      return spec.competing_answers ? CompetingSoftmaxRow(spec, edges, survey, scores, n)
                                    : SoftmaxRow(spec, edges, survey, scores, n);
    case LossKind::kLogistic:
      return LogisticRow(spec.margin, edges, survey, scores, n);
    case LossKind::kRanking:
      return RankingRow(spec.margin, edges, survey, scores, n, scratch);
    case LossKind::kSelfAdversarial:
      return SelfAdversarialRow(spec, edges, survey, scores, n);
  }
  return 0;
}

// Label smoothing adds e * (p - mean_j s_j): the sum over the negatives is taken before their scores are replaced, and
// the gradient is the same for each of them. `unmasked` is set to 1 for those that count, 0 for the others.
double SmoothingLoss(const LossSpec& spec, const Positives& edges, const RowSurvey& survey, const float* scores,
                     std::size_t n, std::vector<float>& unmasked) {
  unmasked.resize(n);
  LaneSum sum;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto s = hn::LoadU(d, scores + i);
    const auto counts = hn::Gt(s, hn::Set(d, kMaskedScore));
    sum.Add(d, hn::IfThenElseZero(counts, s));
    hn::StoreU(hn::IfThenElseZero(counts, hn::Set(d, 1.0F)), d, unmasked.data() + i);
  });
  const double mean = static_cast<double>(sum.Total()) / static_cast<double>(survey.unmasked);
  double loss = 0;
  for (std::size_t i = 0; i < edges.count; ++i) loss += edges.weights[i] * (edges.scores[i] - mean);
  return spec.label_smoothing * loss;
}

void AddSmoothingGradient(const LossSpec& spec, const Positives& edges, const RowSurvey& survey,
                          const std::vector<float>& unmasked, float* scores, std::size_t n) {
  const float share = spec.label_smoothing * edges.TotalWeight() / static_cast<float>(survey.unmasked);
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto part = hn::Mul(hn::LoadU(d, unmasked.data() + i), hn::Set(d, share));
    hn::StoreU(hn::Sub(hn::LoadU(d, scores + i), part), d, scores + i);
  });
  for (std::size_t i = 0; i < edges.count; ++i) edges.gradients[i] += spec.label_smoothing * edges.weights[i];
}

double RowLoss(const LossSpec& spec, const Positives& edges, float* scores, std::size_t n,
               std::vector<float>& scratch) {
  const RowSurvey survey = Survey(scores, n);
  const bool finite =
      survey.finite && std::all_of(edges.scores, edges.scores + edges.count, [](float p) { return std::isfinite(p); });
  if (!finite) {
    std::fill_n(scores, n, std::numeric_limits<float>::quiet_NaN());
    std::fill_n(edges.gradients, edges.count, std::numeric_limits<float>::quiet_NaN());
    return std::numeric_limits<double>::quiet_NaN();
  }
  const bool smooth = spec.label_smoothing > 0 && survey.unmasked > 0;
  const double smoothing = smooth ? SmoothingLoss(spec, edges, survey, scores, n, scratch) : 0;
  const double loss = PlainRow(spec, edges, survey, scores, n, scratch);
  if (smooth) AddSmoothingGradient(spec, edges, survey, scratch, scores, n);
  return loss + smoothing;
}

double LossAndGradientTarget(const LossSpec& spec, std::span<const float> positives, std::span<const float> weights,
                             float* scores, std::size_t negatives, float* positive_gradients,
                             std::span<const std::uint32_t> begins, std::span<const Edge> answers) {
  thread_local std::vector<float> scratch;  // kept, as a chunk has as many negatives as the one before
  double total = 0;
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
    const std::size_t begin = begins[i] - begins[0];
    const std::size_t end = begins[i + 1] - begins[0];
    total += RowLoss(spec,
                     {.scores = positives.data() + begin,
                      .weights = weights.data() + begin,
                      .gradients = positive_gradients + begin,
                      .count = end - begin,
                      .answers = answers.empty() ? nullptr : answers.data() + begin},
                     scores + i * negatives, negatives, scratch);
  }
  return total;
}

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octavo {
namespace {

HWY_EXPORT(LossAndGradientTarget);

struct Name {
  std::string_view name;
  LossKind kind;
};

constexpr std::array<Name, 4> kNames = {{{"softmax", LossKind::kSoftmax},
                                         {"logistic", LossKind::kLogistic},
                                         {"ranking", LossKind::kRanking},
                                         {"self-adversarial", LossKind::kSelfAdversarial}}};

}  // namespace

std::string_view LossName(LossKind kind) {
  for (const Name& entry : kNames) {
    if (entry.kind == kind) return entry.name;
  }
  return "unknown";
}

absl::StatusOr<LossKind> ParseLoss(std::string_view name) {
  for (const Name& entry : kNames) {
    if (entry.name == name) return entry.kind;
  }
  return UsageError(
      fmt::format("\"{}\" is not a loss; expected softmax, logistic, ranking or self-adversarial", Escape(name)));
}

double LossAndGradient(const LossSpec& spec, std::span<const float> positives, std::span<const float> weights,
                       std::span<float> scores, std::size_t negatives, std::span<float> positive_gradients,
                       std::span<const std::uint32_t> begins, std::span<const Edge> answers) {
  return HWY_DYNAMIC_DISPATCH(LossAndGradientTarget)(spec, positives, weights, scores.data(), negatives,
                                                     positive_gradients.data(), begins, answers);
}

}  // namespace octavo
#endif  // HWY_ONCE
