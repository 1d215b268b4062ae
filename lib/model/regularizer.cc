// Penalties of single rows. Naive version: the formulas of regularizer.h in double (tests/support/naive_model.cc).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/regularizer.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include "model/regularizer.h"

#include <array>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "hwy/highway.h"
#include "model/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {

// d/dx x^2 = 2 x
double AddL2(float factor, const float* row, std::size_t n, float* gradient) {
  LaneSum sum;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto x = hn::LoadU(d, row + i);
    sum.AddProduct(d, x, x);
    hn::StoreU(hn::MulAdd(hn::Set(d, 2 * factor), x, hn::LoadU(d, gradient + i)), d, gradient + i);
  });
  return sum.Total();
}

// d/dx |x|^3 = 3 |x| x
double AddRealN3(float factor, const float* row, std::size_t n, float* gradient) {
  LaneSum sum;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto x = hn::LoadU(d, row + i);
    const auto modulus = hn::Abs(x);
    sum.AddProduct(d, hn::Mul(x, x), modulus);
    const auto slope = hn::Mul(hn::Set(d, 3 * factor), modulus);
    hn::StoreU(hn::MulAdd(slope, x, hn::LoadU(d, gradient + i)), d, gradient + i);
  });
  return sum.Total();
}

// z = re + i im: d/d(re) |z|^3 = 3 |z| re, and the same for im
double AddComplexN3(float factor, const float* row, std::size_t n, float* gradient) {
  const std::size_t half = n / 2;
  LaneSum sum;
  ForEachLane(half, [&](auto d, std::size_t i) HWY_ATTR {
    const auto re = hn::LoadU(d, row + i);
    const auto im = hn::LoadU(d, row + half + i);
    const auto squared = hn::MulAdd(re, re, hn::Mul(im, im));
    const auto modulus = hn::Sqrt(squared);
    sum.AddProduct(d, squared, modulus);
    const auto slope = hn::Mul(hn::Set(d, 3 * factor), modulus);
    hn::StoreU(hn::MulAdd(slope, re, hn::LoadU(d, gradient + i)), d, gradient + i);
    hn::StoreU(hn::MulAdd(slope, im, hn::LoadU(d, gradient + half + i)), d, gradient + half + i);
  });
  return sum.Total();
}

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octavo {
namespace {

HWY_EXPORT(AddL2);
HWY_EXPORT(AddRealN3);
HWY_EXPORT(AddComplexN3);

struct Name {
  std::string_view name;
  RegularizerKind kind;
};

constexpr std::array<Name, 3> kNames = {
    {{"none", RegularizerKind::kNone}, {"l2", RegularizerKind::kL2}, {"n3", RegularizerKind::kN3}}};

}  // namespace

std::string_view RegularizerName(RegularizerKind kind) {
  for (const Name& entry : kNames) {
    if (entry.kind == kind) return entry.name;
  }
  return "unknown";
}

absl::StatusOr<RegularizerKind> ParseRegularizer(std::string_view name) {
  for (const Name& entry : kNames) {
    if (entry.name == name) return entry.kind;
  }
  return UsageError(fmt::format("\"{}\" is not a regularizer; expected none, l2 or n3", Escape(name)));
}

double AddRegularizer(const RegularizerSpec& spec, bool complex_layout, float scale, std::span<const float> row,
                      std::span<float> gradient) {
  if (spec.kind == RegularizerKind::kNone) return 0;
  const float factor = scale * spec.weight;
  double sum = 0;
  if (spec.kind == RegularizerKind::kL2) {
    sum = HWY_DYNAMIC_DISPATCH(AddL2)(factor, row.data(), row.size(), gradient.data());
  } else if (complex_layout) {
    sum = HWY_DYNAMIC_DISPATCH(AddComplexN3)(factor, row.data(), row.size(), gradient.data());
  } else {
    sum = HWY_DYNAMIC_DISPATCH(AddRealN3)(factor, row.data(), row.size(), gradient.data());
  }
  return static_cast<double>(factor) * sum;
}

}  // namespace octavo
#endif  // HWY_ONCE
