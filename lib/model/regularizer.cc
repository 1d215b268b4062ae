// Penalties of single rows. Naive version: the formulas of regularizer.h in double (tests/support/naive_model.cc).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/regularizer.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include "model/regularizer.h"

#include <array>

#include "base/escape.h"
#include "base/lanes-inl.h"
#include "base/status.h"
#include "fmt/format.h"
#include "hwy/highway.h"

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

// Coordinate `l` of a row whose coordinates have `Parts` floats each, `stride` apart.
template <int Parts>
struct Coordinate {
  template <class D>
  static HWY_INLINE hn::Vec<D> Squared(D d, const float* row, std::size_t stride) {
    const auto re = hn::LoadU(d, row);
    if constexpr (Parts == 1) return hn::Mul(re, re);
    const auto im = hn::LoadU(d, row + stride);
    return hn::MulAdd(re, re, hn::Mul(im, im));
  }
  template <class D>
  static HWY_INLINE void AddScaled(D d, hn::Vec<D> slope, const float* row, std::size_t stride, float* gradient) {
    for (std::size_t part = 0; part < Parts; ++part, row += stride, gradient += stride) {
      hn::StoreU(hn::MulAdd(slope, hn::LoadU(d, row), hn::LoadU(d, gradient)), d, gradient);
    }
  }
};

// (|h|^2 + |t|^2) (1/2 + 3/2 |r|^2): d/dh = (1 + 3 |r|^2) h, the same for t, d/dr = 3 (|h|^2 + |t|^2) r
template <int Parts>
double AddDuraOf(float factor, std::size_t n, const EdgeRows& rows, const EdgeGradients& out) {
  using C = Coordinate<Parts>;
  LaneSum sum;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR {
    const float* const head = rows.head.data() + i;
    const float* const relation = rows.relation.data() + i;
    const float* const tail = rows.tail.data() + i;
    const auto nodes = hn::Add(C::Squared(d, head, n), C::Squared(d, tail, n));
    const auto slope = hn::MulAdd(hn::Set(d, 3.0F), C::Squared(d, relation, n), hn::Set(d, 1.0F));
    sum.AddProduct(d, nodes, hn::Mul(slope, hn::Set(d, 0.5F)));
    const auto node_slope = hn::Mul(slope, hn::Set(d, factor));
    C::AddScaled(d, node_slope, head, n, out.head.data() + i);
    C::AddScaled(d, node_slope, tail, n, out.tail.data() + i);
    C::AddScaled(d, hn::Mul(nodes, hn::Set(d, 3 * factor)), relation, n, out.relation.data() + i);
  });
  return sum.Total();
}
double AddRealDura(float factor, const EdgeRows& rows, const EdgeGradients& out) {
  return AddDuraOf<1>(factor, rows.head.size(), rows, out);
}
double AddComplexDura(float factor, const EdgeRows& rows, const EdgeGradients& out) {
  return AddDuraOf<2>(factor, rows.head.size() / 2, rows, out);
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
HWY_EXPORT(AddRealDura);
HWY_EXPORT(AddComplexDura);

struct Name {
  std::string_view name;
  RegularizerKind kind;
};

constexpr std::array<Name, 4> kNames = {{{"none", RegularizerKind::kNone},
                                         {"l2", RegularizerKind::kL2},
                                         {"n3", RegularizerKind::kN3},
                                         {"dura", RegularizerKind::kDura}}};

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
  return UsageError(fmt::format("\"{}\" is not a regularizer; expected none, l2, n3 or dura", Escape(name)));
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

double AddDura(const RegularizerSpec& spec, bool complex_layout, const EdgeRows& rows, const EdgeGradients& gradients) {
  const double sum = complex_layout ? HWY_DYNAMIC_DISPATCH(AddComplexDura)(spec.weight, rows, gradients)
                                    : HWY_DYNAMIC_DISPATCH(AddRealDura)(spec.weight, rows, gradients);
  return static_cast<double>(spec.weight) * sum;
}

}  // namespace octavo
#endif  // HWY_ONCE
