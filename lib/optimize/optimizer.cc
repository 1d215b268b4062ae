// Naive version: the formulas of optimizer.h, element by element. An element gets the same bits in a vector and in the
// remainder. The mean of row-adagrad is summed in an order that depends only on the width.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimize/optimizer.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include "optimize/optimizer.h"

#include <array>
#include <cmath>

#include "base/escape.h"
#include "base/lanes-inl.h"
#include "base/status.h"
#include "fmt/format.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {

float SumOfSquares(std::size_t n, const float* x) {
  const FullTag d;
  auto sums = hn::Zero(d);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const auto v = hn::LoadU(d, x + i);
    sums = hn::MulAdd(v, v, sums);
  }
  float total = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < n; ++i) total += x[i] * x[i];
  return total;
}

// Whether all numbers that it was shown are finite.
class FiniteCheck {
 public:
  HWY_INLINE FiniteCheck() : full_(hn::Eq(hn::Zero(FullTag()), hn::Zero(FullTag()))), rest_(true) {}

  template <class D>
  HWY_INLINE void Add(D d, hn::Vec<D> v) {
    if constexpr (hn::MaxLanes(D()) == hn::MaxLanes(FullTag())) {
      full_ = hn::And(full_, hn::IsFinite(v));
    } else {
      rest_ = rest_ && hn::AllTrue(d, hn::IsFinite(v));
    }
  }
  HWY_INLINE bool Passed() const { return rest_ && hn::AllTrue(FullTag(), full_); }

 private:
  hn::Mask<FullTag> full_;
  bool rest_;
};

// The following return whether the updated row is finite.

// row -= rate * gradient
bool Descend(std::size_t n, float rate, const float* gradient, float* row) {
  FiniteCheck check;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto updated = hn::NegMulAdd(hn::Set(d, rate), hn::LoadU(d, gradient + i), hn::LoadU(d, row + i));
    check.Add(d, updated);
    hn::StoreU(updated, d, row + i);
  });
  return check.Passed();
}

bool Adagrad(std::size_t n, float rate, float epsilon, const float* gradient, float* row, float* state) {
  FiniteCheck check;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto g = hn::LoadU(d, gradient + i);
    const auto sum = hn::MulAdd(g, g, hn::LoadU(d, state + i));
    const auto step = hn::Div(hn::Mul(hn::Set(d, rate), g), hn::Add(hn::Sqrt(sum), hn::Set(d, epsilon)));
    const auto updated = hn::Sub(hn::LoadU(d, row + i), step);
    check.Add(d, updated);
    hn::StoreU(sum, d, state + i);
    hn::StoreU(updated, d, row + i);
  });
  return check.Passed();
}

// `rate` and `inverse_root` include the bias corrections: rate / (1 - beta1^t), 1 / sqrt(1 - beta2^t).
bool Adam(std::size_t n, const OptimizerSpec& spec, float rate, float inverse_root, const float* gradient, float* row,
          float* state) {
  FiniteCheck check;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto g = hn::LoadU(d, gradient + i);
    const auto m = hn::MulAdd(hn::Set(d, spec.beta1), hn::LoadU(d, state + i), hn::Mul(hn::Set(d, 1 - spec.beta1), g));
    const auto v = hn::MulAdd(hn::Set(d, spec.beta2), hn::LoadU(d, state + n + i),
                              hn::Mul(hn::Set(d, 1 - spec.beta2), hn::Mul(g, g)));
    const auto root = hn::MulAdd(hn::Sqrt(v), hn::Set(d, inverse_root), hn::Set(d, spec.epsilon));
    const auto updated = hn::Sub(hn::LoadU(d, row + i), hn::Div(hn::Mul(hn::Set(d, rate), m), root));
    check.Add(d, updated);
    hn::StoreU(m, d, state + i);
    hn::StoreU(v, d, state + n + i);
    hn::StoreU(updated, d, row + i);
  });
  return check.Passed();
}

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octavo {
namespace {

HWY_EXPORT(SumOfSquares);
HWY_EXPORT(Descend);
HWY_EXPORT(Adagrad);
HWY_EXPORT(Adam);

struct Name {
  std::string_view name;
  OptimizerKind kind;
};

constexpr std::array<Name, 4> kNames = {{{"sgd", OptimizerKind::kSgd},
                                         {"adagrad", OptimizerKind::kAdagrad},
                                         {"row-adagrad", OptimizerKind::kRowAdagrad},
                                         {"adam", OptimizerKind::kAdam}}};

}  // namespace

std::string_view OptimizerName(OptimizerKind kind) {
  for (const Name& entry : kNames) {
    if (entry.kind == kind) return entry.name;
  }
  return "unknown";
}

absl::StatusOr<OptimizerKind> ParseOptimizer(std::string_view name) {
  for (const Name& entry : kNames) {
    if (entry.name == name) return entry.kind;
  }
  return UsageError(
      fmt::format("\"{}\" is not an optimizer; expected sgd, adagrad, row-adagrad or adam", Escape(name)));
}

std::size_t StateWidth(OptimizerKind kind, std::size_t width) {
  switch (kind) {
    case OptimizerKind::kSgd:
      return 0;
    case OptimizerKind::kAdagrad:
      return width;
    case OptimizerKind::kRowAdagrad:
      return 1;
    case OptimizerKind::kAdam:
      return 2 * width;
  }
  return 0;
}

bool UpdateRow(const OptimizerSpec& spec, float learning_rate, std::uint64_t step, std::span<const float> gradient,
               std::span<float> row, std::span<float> state) {
  const std::size_t n = row.size();
  if (n == 0) return true;
  switch (spec.kind) {
    case OptimizerKind::kSgd:
      return HWY_DYNAMIC_DISPATCH(Descend)(n, learning_rate, gradient.data(), row.data());
    case OptimizerKind::kAdagrad:
      return HWY_DYNAMIC_DISPATCH(Adagrad)(n, learning_rate, spec.epsilon, gradient.data(), row.data(), state.data());
    case OptimizerKind::kRowAdagrad: {
      state[0] += HWY_DYNAMIC_DISPATCH(SumOfSquares)(n, gradient.data()) / static_cast<float>(n);
      const float rate = learning_rate / (std::sqrt(state[0]) + spec.epsilon);
      return HWY_DYNAMIC_DISPATCH(Descend)(n, rate, gradient.data(), row.data());
    }
    case OptimizerKind::kAdam: {
      const double t = static_cast<double>(step);
      const double rate = learning_rate / (1 - std::pow(static_cast<double>(spec.beta1), t));
      const double inverse_root = 1 / std::sqrt(1 - std::pow(static_cast<double>(spec.beta2), t));
      return HWY_DYNAMIC_DISPATCH(Adam)(n, spec, static_cast<float>(rate), static_cast<float>(inverse_root),
                                        gradient.data(), row.data(), state.data());
    }
  }
  return true;
}

}  // namespace octavo
#endif  // HWY_ONCE
