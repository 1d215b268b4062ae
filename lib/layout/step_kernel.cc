#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "layout/step_kernel.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include "base/lanes-inl.h"
#include "hwy/highway.h"
#include "layout/step_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {

void GradientOfChunk(const LayoutChunk& chunk, float* dx, float* dy) {
  ForEachLane(chunk.x.size(), [&](auto d, std::size_t i) HWY_ATTR {
    const hn::RebindToUnsigned<decltype(d)> ids;
    const auto one = hn::Set(d, 1.0F);
    const auto node = hn::Iota(ids, chunk.first + static_cast<std::uint32_t>(i));
    const auto x = hn::LoadU(d, chunk.x.data() + i);
    const auto y = hn::LoadU(d, chunk.y.data() + i);
    const auto near_x = hn::Sub(x, hn::LoadU(d, chunk.neighbor_x.data() + i));
    const auto near_y = hn::Sub(y, hn::LoadU(d, chunk.neighbor_y.data() + i));
    const auto near = hn::Div(one, hn::MulAdd(near_x, near_x, hn::MulAdd(near_y, near_y, one)));
    auto sum = near;
    auto push_x = hn::Zero(d);
    auto push_y = hn::Zero(d);
    for (std::size_t k = 0; k < chunk.negatives.size(); ++k) {
      const auto far_x = hn::Sub(x, hn::Set(d, chunk.negative_x[k]));
      const auto far_y = hn::Sub(y, hn::Set(d, chunk.negative_y[k]));
      const auto all = hn::Div(one, hn::MulAdd(far_x, far_x, hn::MulAdd(far_y, far_y, one)));
      const auto itself = hn::RebindMask(d, hn::Eq(node, hn::Set(ids, chunk.negatives[k])));
      const auto q = hn::IfThenZeroElse(itself, all);
      const auto squared = hn::Mul(q, q);
      sum = hn::Add(sum, q);
      push_x = hn::MulAdd(squared, far_x, push_x);
      push_y = hn::MulAdd(squared, far_y, push_y);
    }
    const auto two = hn::Set(d, 2.0F);
    const auto push = hn::Div(two, sum);
    const auto pull = hn::Mul(hn::Mul(two, near), hn::NegMulAdd(near, hn::Div(one, sum), one));
    hn::StoreU(hn::MulSub(pull, near_x, hn::Mul(push, push_x)), d, dx + i);
    hn::StoreU(hn::MulSub(pull, near_y, hn::Mul(push, push_y)), d, dy + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octavo {

HWY_EXPORT(GradientOfChunk);

void LayoutGradient(const LayoutChunk& chunk, std::span<float> dx, std::span<float> dy) {
  HWY_DYNAMIC_DISPATCH(GradientOfChunk)(chunk, dx.data(), dy.data());
}

}  // namespace octavo
#endif  // HWY_ONCE
