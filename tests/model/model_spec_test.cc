#include "model/model_spec.h"

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/model/model_kinds.h"

namespace octavo {
namespace {

TEST(ModelSpecTest, RelationWidths) {
  EXPECT_EQ((ModelSpec{ModelKind::kDot, Norm::kL1, 10}.RelationWidth()), 0U);
  EXPECT_EQ((ModelSpec{ModelKind::kDistMult, Norm::kL1, 10}.RelationWidth()), 10U);
  EXPECT_EQ((ModelSpec{ModelKind::kComplEx, Norm::kL1, 10}.RelationWidth()), 10U);
  EXPECT_EQ((ModelSpec{ModelKind::kTransE, Norm::kL1, 10}.RelationWidth()), 10U);
  EXPECT_EQ((ModelSpec{ModelKind::kRotatE, Norm::kL1, 10}.RelationWidth()), 5U);
  EXPECT_EQ((ModelSpec{ModelKind::kRescal, Norm::kL1, 10}.RelationWidth()), 100U);
  EXPECT_EQ((ModelSpec{ModelKind::kRescal, Norm::kL1, 10, 2}.RelationWidth()), 20U);
}

TEST(ModelSpecTest, ValidatesDim) {
  for (const ModelKind kind : kModelKinds) {
    const bool halves = kind == ModelKind::kComplEx || kind == ModelKind::kRotatE || kind == ModelKind::kSourceContext;
    for (const std::size_t dim : {0UL, 1UL, 2UL, 99UL, 100UL, 65535UL, 65536UL, 65537UL, 65538UL}) {
      const bool valid = dim > 0 && dim <= 65536 && !(halves && dim % 2 != 0);
      const auto status = ModelSpec{kind, Norm::kL2, dim, kind == ModelKind::kRescal ? 1UL : 0UL}.Validate();
      EXPECT_EQ(status.ok(), valid) << ModelName(kind) << " " << dim;
      if (!valid) {
        EXPECT_EQ(KindOf(status), ErrorKind::kUsage);
        EXPECT_THAT(MessageOf(status), testing::HasSubstr(std::to_string(dim)));
      }
    }
  }
}

TEST(ModelSpecTest, ValidatesBlocks) {
  const auto rescal = [](std::size_t dim, std::size_t block) {
    return ModelSpec{ModelKind::kRescal, Norm::kL1, dim, block}.Validate();
  };
  EXPECT_TRUE(rescal(12, 3).ok());
  EXPECT_TRUE(rescal(1024, 0).ok());
  EXPECT_THAT(MessageOf(rescal(12, 5)), testing::HasSubstr("dim is 12 and block 5; expected a multiple"));
  EXPECT_THAT(MessageOf(rescal(12, 24)), testing::HasSubstr("expected a multiple"));
  EXPECT_THAT(MessageOf(rescal(1025, 0)), testing::HasSubstr("at most 1048576 numbers for each relation"));
}

TEST(ModelSpecTest, NamesAreParsedBack) {
  for (const ModelKind kind : kModelKinds) EXPECT_EQ(ParseModel(ModelName(kind)).value(), kind);
  const auto bad = ParseModel("transh");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(KindOf(bad.status()), ErrorKind::kUsage);
  EXPECT_THAT(MessageOf(bad.status()),
              testing::HasSubstr("dot, distmult, complex, transe, rotate, source-context or rescal"));
}

}  // namespace
}  // namespace octavo
