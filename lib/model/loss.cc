// Losses of a row of scores, vectorised over the negatives.
//
// Naive version: the formulas of loss.h, term by term, in double (tests/support/naive_model.cc). Here exp and log1p are
// Highway's, with at most 1 and 2 units in the last place of error where their input is in range; every exponent below
// is at most 0. A row's sum over n negatives is taken in float, one partial sum a lane, so its relative error is below
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

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "model/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {

// What the losses need to know of a row before they start.
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

double ScalarSoftplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double Sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }

HWY_INLINE void ScaleRow(float factor, float* row, std::size_t n) {
  ForEachLane(n, [&](auto d, std::size_t i)
                     HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(d, row + i), hn::Set(d, factor)), d, row + i); });
}

// Each returns the loss of one row, turns its scores into weight * gradient, and sets the gradient of the positive.
double SoftmaxRow(float p, float weight, const RowSurvey& survey, float* scores, std::size_t n, float& positive) {
  const float max = std::max(p, survey.max);
  LaneSum sums;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto e = ExpOfNegative(d, hn::Sub(hn::LoadU(d, scores + i), hn::Set(d, max)));
    hn::StoreU(e, d, scores + i);
    sums.Add(d, e);
  });
  const double negative_sum = sums.Total();
  const double sum = negative_sum + std::exp(static_cast<double>(p) - max);
  const auto scale = static_cast<float>(weight / sum);
  ForEachLane(n, [&](auto d, std::size_t i)
                     HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(d, scores + i), hn::Set(d, scale)), d, scores + i); });
  positive = static_cast<float>(-weight * negative_sum / sum);
  return std::log(sum) + (static_cast<double>(max) - p);
}

double LogisticRow(float margin, float p, float weight, const RowSurvey& survey, float* scores, std::size_t n,
                   float& positive) {
  const double x = -(static_cast<double>(margin) + p);
  positive = static_cast<float>(-weight * Sigmoid(x));
  const float share = survey.unmasked == 0 ? 0.0F : 1.0F / static_cast<float>(survey.unmasked);
  LaneSum losses;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const Softplus term(d, hn::Add(hn::LoadU(d, scores + i), hn::Set(d, margin)));
    losses.Add(d, term.value);
    hn::StoreU(hn::Mul(term.slope, hn::Set(d, weight * share)), d, scores + i);
  });
  return ScalarSoftplus(x) + static_cast<double>(losses.Total()) * share;
}

double RankingRow(float margin, float p, float weight, const RowSurvey& survey, float* scores, std::size_t n,
                  float& positive) {
  const float share = survey.unmasked == 0 ? 0.0F : 1.0F / static_cast<float>(survey.unmasked);
  LaneSum losses;
  std::size_t violations = 0;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto gap = hn::Add(hn::Sub(hn::LoadU(d, scores + i), hn::Set(d, p)), hn::Set(d, margin));
    const auto violated = hn::Gt(gap, hn::Zero(d));
    violations += hn::CountTrue(d, violated);
    losses.Add(d, hn::IfThenElseZero(violated, gap));
    hn::StoreU(hn::IfThenElseZero(violated, hn::Set(d, weight * share)), d, scores + i);
  });
  positive = -weight * share * static_cast<float>(violations);
  return static_cast<double>(losses.Total()) * share;
}

double SelfAdversarialRow(const LossSpec& spec, float p, float weight, const RowSurvey& survey, float* scores,
                          std::size_t n, float& positive) {
  const double x = -(static_cast<double>(spec.margin) + p);
  positive = static_cast<float>(-weight * Sigmoid(x));
  if (survey.unmasked == 0) {
    std::fill_n(scores, n, 0.0F);
    return ScalarSoftplus(x);
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
  const float share = 1.0F / weights.Total();
  ScaleRow(weight * share, scores, n);
  return ScalarSoftplus(x) + static_cast<double>(losses.Total()) * share;
}

double RowLoss(const LossSpec& spec, float p, float weight, float* scores, std::size_t n, float& positive) {
  const RowSurvey survey = Survey(scores, n);
  if (!survey.finite || !std::isfinite(p)) {
    std::fill_n(scores, n, std::numeric_limits<float>::quiet_NaN());
    positive = std::numeric_limits<float>::quiet_NaN();
    return std::numeric_limits<double>::quiet_NaN();
  }
  switch (spec.kind) {
    case LossKind::kSoftmax:
      return SoftmaxRow(p, weight, survey, scores, n, positive);
    case LossKind::kLogistic:
      return LogisticRow(spec.margin, p, weight, survey, scores, n, positive);
    case LossKind::kRanking:
      return RankingRow(spec.margin, p, weight, survey, scores, n, positive);
    case LossKind::kSelfAdversarial:
      return SelfAdversarialRow(spec, p, weight, survey, scores, n, positive);
  }
  return 0;
}

double LossAndGradientTarget(const LossSpec& spec, std::span<const float> positives, std::span<const float> weights,
                             float* scores, std::size_t negatives, float* positive_gradients) {
  double total = 0;
  for (std::size_t i = 0; i < positives.size(); ++i) {
    const double loss =
        RowLoss(spec, positives[i], weights[i], scores + i * negatives, negatives, positive_gradients[i]);
    total += static_cast<double>(weights[i]) * loss;
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
                       std::span<float> scores, std::size_t negatives, std::span<float> positive_gradients) {
  return HWY_DYNAMIC_DISPATCH(LossAndGradientTarget)(spec, positives, weights, scores.data(), negatives,
                                                     positive_gradients.data());
}

}  // namespace octavo
#endif  // HWY_ONCE
