#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "evaluate/one_vs_rest.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include "evaluate/one_vs_rest.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/lanes-inl.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "model/gemm.h"

#ifndef OCTAVO_EVALUATE_ONE_VS_REST_CONSTANTS_
#define OCTAVO_EVALUATE_ONE_VS_REST_CONSTANTS_
namespace octavo {
// A lane works on one class at a time. The width of the narrowest panel of Gemm.
inline constexpr std::size_t kLanes = 32;
}  // namespace octavo
#endif

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {

// Turns products [rows, kLanes] of rows and vectors into what the second product is made of.
//
// A lane that asks for a gradient (asks[lane] 1) passes its weights: z becomes d loss / d z, losses[lane] the sum of
// log(1 + exp(-y z)), and `curvatures` gets s (1 - s) with s = 1 / (1 + exp(-z)). A lane that asks for the product of
// the Hessian and a direction (0) gets z times the curvature; its loss is undefined. The sign of a curvature is that of
// y.
//
// Float sums of one tile: the relative error is that of 256 roundings.
void SlopesTarget(std::size_t rows, const float* asks, float* products, float* curvatures, float* losses) {
  ForEachLane(kLanes, [&](auto d, std::size_t lane) HWY_ATTR {
    const auto one = hn::Set(d, 1.0F);
    const auto gradient = hn::Gt(hn::LoadU(d, asks + lane), hn::Zero(d));
    const bool all_hessian = hn::AllFalse(d, gradient);
    auto loss = hn::Zero(d);
    for (std::size_t i = 0; i < rows; ++i) {
      float* const product = products + i * kLanes + lane;
      float* const signed_curvature = curvatures + i * kLanes + lane;
      const auto z = hn::LoadU(d, product);
      const auto y = hn::LoadU(d, signed_curvature);
      const auto scaled = hn::Mul(z, hn::Abs(y));
      if (all_hessian) {
        hn::StoreU(scaled, d, product);
        continue;
      }
      const auto margin = hn::Xor(z, hn::And(y, hn::SignBit(d)));  // y z
      const auto e = hn::Exp(d, hn::Neg(hn::Abs(margin)));
      const auto inverse = hn::Div(one, hn::Add(one, e));
      loss = hn::Add(loss, hn::Add(hn::Max(hn::Neg(margin), hn::Zero(d)), hn::Log1p(d, e)));
      const auto miss = hn::IfThenElse(hn::Ge(margin, hn::Zero(d)), hn::Mul(e, inverse), inverse);
      const auto curvature = hn::Mul(hn::Mul(e, inverse), inverse);
      hn::StoreU(hn::IfThenElse(gradient, hn::CopySign(miss, hn::Neg(y)), scaled), d, product);
      hn::StoreU(hn::IfThenElse(gradient, hn::CopySign(curvature, y), y), d, signed_curvature);
    }
    hn::StoreU(loss, d, losses + lane);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace octavo {
namespace {

HWY_EXPORT(SlopesTarget);

// Rows of a tile: its features, read by both products, stay in the second-level cache.
constexpr std::size_t kTileRows = 256;

// A class is done when its gradient is this fraction of that at w = 0, scaled by the share of the rarer side.
// liblinear's default is 0.01. On BlogCatalog, F1 is within 0.0005 of the result with 1e-4.
constexpr double kTolerance = 0.001;
// The residual of conjugate gradients, relative to the gradient; liblinear's.
constexpr double kResidual = 0.1;
// Armijo's condition on a step's length: this share of the decrease that the gradient predicts.
constexpr double kDecrease = 1e-4;
// Rounding of the loss, relative: a smaller increase is none.
constexpr double kLossNoise = 1e-6;
// Both are reached only where the gradient is lost in rounding.
constexpr int kMaxNewtonSteps = 100;
constexpr int kMaxHalvings = 30;

using Vector = std::vector<double>;

double Dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// a += scale * b
void AddScaled(double scale, const Vector& b, Vector& a) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += scale * b[i];
}

// The minimization of one class. It asks for a pass over the rows with a vector, and continues with the result.
class Minimization {
 public:
  Minimization(std::size_t width, double cost, double members, double rows)
      : cost_(cost),
        tolerance_(kTolerance * std::min(members, rows - members) / rows),
        weights_(width),
        trial_(width) {}

  // Whether the next pass is to return the loss and its gradient at vector(), or the Hessian times vector().
  bool wants_gradient() const { return wants_gradient_; }
  const Vector& vector() const { return wants_gradient_ ? trial_ : direction_; }
  const Vector& weights() const { return weights_; }

  // Takes what the pass has returned, without the regularization. `product` is changed. Returns false when done.
  bool Continue(double loss, Vector& product) {
    for (double& value : product) value *= cost_;
    AddScaled(1, vector(), product);
    return wants_gradient_ ? TakeGradient(cost_ * loss + Dot(trial_, trial_) / 2, product) : TakeHessian(product);
  }

 private:
  bool TakeGradient(double loss, Vector& gradient) {
    if (newton_steps_ > 0 && !(loss <= loss_ + kDecrease * length_ * slope_ + kLossNoise * loss_)) {
      length_ /= 2;
      return ++halvings_ < kMaxHalvings && TryStep();
    }
    weights_ = trial_;
    loss_ = loss;
    gradient_.swap(gradient);
    const double norm = std::sqrt(Dot(gradient_, gradient_));
    if (newton_steps_ == 0) first_norm_ = norm;
    if (norm <= tolerance_ * first_norm_ || newton_steps_ == kMaxNewtonSteps) return false;
    return StartNewtonStep();
  }

  bool StartNewtonStep() {
    ++newton_steps_;
    wants_gradient_ = false;
    directions_ = 0;
    step_.assign(weights_.size(), 0.0);
    residual_.assign(weights_.size(), 0.0);
    AddScaled(-1, gradient_, residual_);
    direction_ = residual_;
    square_ = Dot(residual_, residual_);
    target_ = kResidual * kResidual * square_;
    return true;
  }

  // One step of conjugate gradients.
  bool TakeHessian(const Vector& product) {
    const double length = square_ / Dot(direction_, product);
    AddScaled(length, direction_, step_);
    AddScaled(-length, product, residual_);
    const double square = Dot(residual_, residual_);
    if (square <= target_ || ++directions_ >= std::max<std::size_t>(weights_.size(), 5)) {
      wants_gradient_ = true;
      slope_ = Dot(gradient_, step_);
      length_ = 1;
      halvings_ = 0;
      return TryStep();
    }
    for (std::size_t i = 0; i < direction_.size(); ++i) {
      direction_[i] = residual_[i] + square / square_ * direction_[i];
    }
    square_ = square;
    return true;
  }

  bool TryStep() {
    trial_ = weights_;
    AddScaled(length_, step_, trial_);
    return true;
  }

  double cost_;
  double tolerance_;
  bool wants_gradient_ = true;
  Vector weights_;
  Vector trial_;  // weights whose loss is asked for
  double loss_ = 0;
  Vector gradient_;
  double first_norm_ = 0;
  int newton_steps_ = 0;
  // Conjugate gradients.
  Vector step_;
  Vector residual_;
  Vector direction_;
  double square_ = 0;  // of the residual
  double target_ = 0;
  std::size_t directions_ = 0;
  // The line search.
  double slope_ = 0;
  double length_ = 1;
  int halvings_ = 0;
};

// Passes over the rows for all lanes at once.
class Lanes {
 public:
  Lanes(const FeatureRows& features, std::size_t rows)
      : features_(features),
        rows_(rows),
        curvatures_(rows * kLanes),
        vectors_(features.width() * kLanes),
        tile_sums_(features.width() * kLanes),
        sums_(features.width() * kLanes),
        products_(std::min(rows, kTileRows) * kLanes) {}

  // Makes `members` the class of `lane`.
  void SetClass(std::size_t lane, std::span<const std::uint32_t> members) {
    for (std::size_t i = 0; i < rows_; ++i) curvatures_[i * kLanes + lane] = -1;
    for (const std::uint32_t row : members) curvatures_[row * kLanes + lane] = 1;
  }

  void Ask(std::size_t lane, bool gradient, const Vector& vector) {
    asks_[lane] = gradient ? 1 : 0;
    for (std::size_t i = 0; i < vector.size(); ++i) vectors_[i * kLanes + lane] = static_cast<float>(vector[i]);
  }

  void Run() {
    std::fill(sums_.begin(), sums_.end(), 0.0);
    std::fill_n(losses_, kLanes, 0.0);
    const std::size_t width = features_.width();
    for (std::size_t first = 0; first < rows_; first += kTileRows) {
      const std::size_t count = std::min(kTileRows, rows_ - first);
      const float* const tile = features_.Row(first);
      Gemm(count, kLanes, width, {tile, width}, {vectors_.data(), kLanes}, products_.data(), kLanes, false);
      float losses[kLanes];
      HWY_DYNAMIC_DISPATCH(SlopesTarget)(count, asks_, products_.data(), &curvatures_[first * kLanes], losses);
      Gemm(width, kLanes, count, {tile, width, true}, {products_.data(), kLanes}, tile_sums_.data(), kLanes, false);
      for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += tile_sums_[i];
      for (std::size_t lane = 0; lane < kLanes; ++lane) losses_[lane] += losses[lane];
    }
  }

  double Loss(std::size_t lane) const { return losses_[lane]; }
  void CopySums(std::size_t lane, Vector& sums) const {
    sums.resize(features_.width());
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = sums_[i * kLanes + lane];
  }

  static std::uint64_t Bytes(std::uint64_t rows, std::uint64_t width) {
    return kLanes * (sizeof(float) * (rows + kTileRows + 2 * width) + sizeof(double) * width);
  }

 private:
  const FeatureRows& features_;
  const std::size_t rows_;
  std::vector<float> curvatures_;  // [rows, lanes]
  std::vector<float> vectors_;     // [width, lanes]
  std::vector<float> tile_sums_;   // [width, lanes], of one tile
  std::vector<double> sums_;       // [width, lanes]
  std::vector<float> products_;    // [tile rows, lanes]
  float asks_[kLanes] = {};
  double losses_[kLanes] = {};
};

}  // namespace

FeatureRows::FeatureRows(std::size_t rows, std::size_t columns)
    : rows_(rows), width_(columns + 1), values_(new float[rows * width_]) {}

void FeatureRows::Set(std::size_t row, std::span<const float> values, bool normalize) {
  float* const out = &values_[row * width_];
  double scale = 1;
  if (normalize) {
    double squares = 0;
    for (const float value : values) squares += static_cast<double>(value) * value;
    if (squares > 0) scale = 1 / std::sqrt(squares);
  }
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = static_cast<float>(scale * values[i]);
  out[values.size()] = 1;
}

void FeatureRows::Copy(std::size_t row, const FeatureRows& from, std::size_t from_row) {
  std::copy_n(from.Row(from_row), width_, &values_[row * width_]);
}

void FitOneVsRest(const FeatureRows& features, std::size_t rows, std::span<const ClassToFit> classes, double cost,
                  absl::FunctionRef<void()> fitted) {
  Lanes lanes(features, rows);
  std::size_t begun = 0;
  std::size_t busy = 0;
  struct Lane {
    const ClassToFit* target = nullptr;  // null: idle
    std::optional<Minimization> minimization;
  } works[kLanes];
  const auto begin = [&](std::size_t lane) {
    if (begun == classes.size()) {
      works[lane].target = nullptr;
      return;
    }
    const ClassToFit& target = classes[begun++];
    works[lane].target = &target;
    works[lane].minimization.emplace(features.width(), cost, static_cast<double>(target.members.size()),
                                     static_cast<double>(rows));
    lanes.SetClass(lane, target.members);
    ++busy;
  };
  for (std::size_t lane = 0; lane < kLanes; ++lane) begin(lane);
  Vector sums;
  while (busy > 0) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (works[lane].target == nullptr) continue;
      lanes.Ask(lane, works[lane].minimization->wants_gradient(), works[lane].minimization->vector());
    }
    lanes.Run();
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (works[lane].target == nullptr) continue;
      lanes.CopySums(lane, sums);
      if (works[lane].minimization->Continue(lanes.Loss(lane), sums)) continue;
      const Vector& weights = works[lane].minimization->weights();
      std::copy(weights.begin(), weights.end(), works[lane].target->weights.begin());
      --busy;
      fitted();
      begin(lane);
    }
  }
}

std::uint64_t OneVsRestBytes(std::uint64_t rows, std::size_t columns) {
  constexpr std::uint64_t kVectors = 7;  // of a Minimization, and one that is being copied
  return Lanes::Bytes(rows, columns + 1) + kLanes * (kVectors * (columns + 1) * sizeof(double) + sizeof(Minimization));
}

void ScoreClasses(const FeatureRows& features, std::size_t first, std::size_t count, std::span<const float> weights,
                  std::span<float> scores) {
  const std::size_t width = features.width();
  const std::size_t classes = weights.size() / width;
  Gemm(count, classes, width, {features.Row(first), width}, {weights.data(), width, true}, scores.data(), classes,
       false);
}

}  // namespace octavo
#endif  // HWY_ONCE
