#include "run/precision.h"

#include "gtest/gtest.h"

namespace octavo {
namespace {

// tests/end_to_end/precision has the same with other backends than that of this machine.
TEST(WithSettledPrecision, IsBf16ForInnerProductsWithAmx) {
  TrainOptions options;
  options.precision = Precision::kAuto;
  const bool tiles = ActiveBf16Backend() == Bf16Backend::kAmx || ActiveBf16Backend() == Bf16Backend::kAmxModel;
  EXPECT_EQ(WithSettledPrecision(options).precision, tiles ? Precision::kBf16 : Precision::kFloat32);
  options.model = ModelKind::kRotatE;
  EXPECT_EQ(WithSettledPrecision(options).precision, Precision::kFloat32);
}

TEST(WithSettledPrecision, LeavesWhatIsGiven) {
  TrainOptions options;
  for (const Precision precision : {Precision::kFloat32, Precision::kBf16}) {
    options.precision = precision;
    EXPECT_EQ(WithSettledPrecision(options).precision, precision);
  }
}

}  // namespace
}  // namespace octavo
