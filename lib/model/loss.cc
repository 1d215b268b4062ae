// Losses of a row of scores, vectorised over the negatives.
//
// Naive version: the formulas of loss.h, term by term, in double (tests/support/naive_model.cc). In vectors
// exp has an error of at most 0.9 units in the last place, 1.2 where multiply-adds are not fused, and is taken only of
// numbers up to 0; log1p is Highway's, 2 units. A row's sum over n negatives is in float, one partial sum per lane, so
// its relative error is below (n / lanes + lanes)
// * 6e-8; sums over rows are in double.
//
// ExpOfNegative turns NaN into 0, so rows with NaN or +inf are found beforehand and made NaN as a whole.
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
  float max = kMaskedScore;
  bool finite = true;  // no NaN and no +inf

  bool any_unmasked() const { return max > kMaskedScore; }
};

HWY_INLINE RowSurvey Survey(const float* scores, std::size_t n) {
  RowSurvey survey;
  auto max = hn::Set(FullTag(), kMaskedScore);
  auto finite = hn::Eq(max, max);
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto s = hn::LoadU(d, scores + i);
    const auto below_infinity = hn::Lt(s, hn::Set(d, std::numeric_limits<float>::infinity()));  // false for NaN
    if constexpr (hn::MaxLanes(d) == hn::MaxLanes(FullTag())) {
      max = hn::Max(max, s);
      finite = hn::And(finite, below_infinity);
    } else {
      survey.max = std::max(survey.max, hn::GetLane(hn::MaxOfLanes(d, s)));
      survey.finite = survey.finite && hn::AllTrue(d, below_infinity);
    }
  });
  survey.max = std::max(survey.max, hn::GetLane(hn::MaxOfLanes(FullTag(), max)));
  survey.finite = survey.finite && hn::AllTrue(FullTag(), finite);
  return survey;
}

HWY_INLINE std::size_t CountUnmasked(const float* scores, std::size_t n) {
  std::size_t count = 0;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    count += hn::CountTrue(d, hn::Gt(hn::LoadU(d, scores + i), hn::Set(d, kMaskedScore)));
  });
  return count;
}

// e^x for x <= 0 or -inf; 0 from -86.5 down, a little above where powers of two are not normal floats. x = n log 2 + r
// with |r| <= log 2 / 2 (Cody and Waite 1980), and n is added to the exponent of a polynomial of r: of those of degree
// 6 that begin with 1 + r, nearly the one with the least relative error. Half as many instructions as Highway's Exp,
// which has a result for every x.
template <class D>
HWY_INLINE hn::Vec<D> ExpOfNegative(D d, hn::Vec<D> x) {
  const hn::RebindToUnsigned<D> bits;
  const auto whole = hn::Set(d, 12582912.0F);  // 1.5 * 2^23: what is added to it is rounded to a whole number
  const auto shifted = hn::MulAdd(x, hn::Set(d, 1.44269504F), whole);
  const auto n = hn::Sub(shifted, whole);
  // log 2 in two parts; the first has so few digits that n times it is exact.
  const auto r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), hn::NegMulAdd(n, hn::Set(d, 0.693359375F), x));
  auto p = hn::MulAdd(r, hn::Set(d, 0.001381454F), hn::Set(d, 0.008368745F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.04166839F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.16666521F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.49999994F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(bits, shifted));
  const auto power = hn::BitCast(d, hn::Add(hn::BitCast(bits, p), exponent));
  return hn::IfThenElseZero(hn::Gt(x, hn::Set(d, -86.5F)), power);
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
// With S c times the sum over the negatives, an edge's loss is log(1 + S / e^p). The gradient by a negative's score is
// S / (S + e^p) times the negative's share of S, so one pass over the negatives is enough for all edges.
double SoftmaxRow(const LossSpec& spec, const Positives& edges, const RowSurvey& survey, float* scores, std::size_t n) {
  if (!survey.any_unmasked()) {
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
  const double sum = sums.Total();  // S / e^scale
  const double scale = survey.max + spec.log_negative_count;
  double loss = 0;
  double slopes = 0;
  for (std::size_t i = 0; i < edges.count; ++i) {
    constexpr double kLargest = 600;  // e^600 times any sum is finite
    const double exponent = scale - edges.scores[i];
    const double ratio = sum * std::exp(std::min(exponent, kLargest));  // S / e^p
    const double slope = edges.weights[i] * (ratio / (1 + ratio));
    loss += edges.weights[i] * (std::log1p(ratio) + std::max(exponent - kLargest, 0.0));
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

double LogisticRow(float margin, const Positives& edges, float* scores, std::size_t n) {
  const std::size_t unmasked = CountUnmasked(scores, n);
  const float share = unmasked == 0 ? 0.0F : edges.TotalWeight() / static_cast<float>(unmasked);
  LaneSum losses;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const Softplus term(d, hn::Add(hn::LoadU(d, scores + i), hn::Set(d, margin)));
    losses.Add(d, term.value);
    hn::StoreU(hn::Mul(term.slope, hn::Set(d, share)), d, scores + i);
  });
  return LogisticPositives(edges, margin) + static_cast<double>(losses.Total()) * share;
}

// The hinge of each edge is at a different score, so each edge has a pass, which adds to `sums`.
double RankingRow(float margin, const Positives& edges, float* scores, std::size_t n, std::vector<float>& sums) {
  const std::size_t unmasked = CountUnmasked(scores, n);
  sums.assign(n, 0.0F);
  double loss = 0;
  for (std::size_t e = 0; e < edges.count; ++e) {
    const float share = unmasked == 0 ? 0.0F : edges.weights[e] / static_cast<float>(unmasked);
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
  if (!survey.any_unmasked()) {
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
      return LogisticRow(spec.margin, edges, scores, n);
    case LossKind::kRanking:
      return RankingRow(spec.margin, edges, scores, n, scratch);
    case LossKind::kSelfAdversarial:
      return SelfAdversarialRow(spec, edges, survey, scores, n);
  }
  return 0;
}

// Label smoothing adds e * (p - mean_j s_j): the sum over the `count` unmasked negatives is taken before their scores
// are replaced, and the gradient is the same for each of them. `unmasked` is set to 1 for those, 0 for the others.
double SmoothingLoss(const LossSpec& spec, const Positives& edges, std::size_t count, const float* scores,
                     std::size_t n, std::vector<float>& unmasked) {
  unmasked.resize(n);
  LaneSum sum;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto s = hn::LoadU(d, scores + i);
    const auto counts = hn::Gt(s, hn::Set(d, kMaskedScore));
    sum.Add(d, hn::IfThenElseZero(counts, s));
    hn::StoreU(hn::IfThenElseZero(counts, hn::Set(d, 1.0F)), d, unmasked.data() + i);
  });
  const double mean = static_cast<double>(sum.Total()) / static_cast<double>(count);
  double loss = 0;
  for (std::size_t i = 0; i < edges.count; ++i) loss += edges.weights[i] * (edges.scores[i] - mean);
  return spec.label_smoothing * loss;
}

void AddSmoothingGradient(const LossSpec& spec, const Positives& edges, std::size_t count,
                          const std::vector<float>& unmasked, float* scores, std::size_t n) {
  const float share = spec.label_smoothing * edges.TotalWeight() / static_cast<float>(count);
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
  const bool smooth = spec.label_smoothing > 0 && survey.any_unmasked();
  const std::size_t smoothed = smooth ? CountUnmasked(scores, n) : 0;
  const double smoothing = smooth ? SmoothingLoss(spec, edges, smoothed, scores, n, scratch) : 0;
  const double loss = PlainRow(spec, edges, survey, scores, n, scratch);
  if (smooth) AddSmoothingGradient(spec, edges, smoothed, scratch, scores, n);
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
