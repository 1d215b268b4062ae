#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "index/inner_product.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include "base/lanes-inl.h"
#include "hwy/highway.h"
#include "index/inner_product.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {

float SumOfProducts(const float* a, const float* b, std::size_t n) {
  LaneSum sum;
  ForEachLane(n, [&](auto d, std::size_t i) HWY_ATTR { sum.AddProduct(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i)); });
  return sum.Total();
}

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octavo {

HWY_EXPORT(SumOfProducts);

float InnerProduct(const float* a, const float* b, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(SumOfProducts)(a, b, n);
}

}  // namespace octavo
#endif  // HWY_ONCE
