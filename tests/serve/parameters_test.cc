#include "serve/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"

namespace octavo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = ParameterSpec::Kind;

const std::vector<ParameterSpec>& Specs() {
  static const std::vector<ParameterSpec> specs = {
      {.name = "name", .required = true, .repeated = true},
      {.name = "run"},
      {.name = "k", .kind = Kind::kWhole, .least = 1, .most = 1000, .fallback = 10},
      {.name = "exact", .kind = Kind::kFlag},
      {.name = "metric", .kind = Kind::kChoice, .choices = {"cosine", "dot"}}};
  return specs;
}

absl::StatusOr<Parameters> Check(std::string_view target) { return Parameters::Check(Specs(), *ParseTarget(target)); }

TEST(ParametersTest, HasDefaults) {
  const auto found = Check("/?name=x");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->Whole("k"), 10U);
  EXPECT_FALSE(found->Flag("exact"));
  EXPECT_EQ(found->Text("metric"), "cosine");
  EXPECT_FALSE(found->Has("run"));
  EXPECT_EQ(found->Text("run"), "");
}

TEST(ParametersTest, ReadsValues) {
  const auto found = Check("/?name=x&name=y&k=1000&exact=true&metric=dot&run=r");
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->Texts("name"), ElementsAre("x", "y"));
  EXPECT_EQ(found->Whole("k"), 1000U);
  EXPECT_TRUE(found->Flag("exact"));
  EXPECT_EQ(found->Text("metric"), "dot");
}

TEST(ParametersTest, RefusesOthers) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"/", "name: found nothing; expected a value"},
      {"/?name=", "name: found \"\"; expected a text"},
      {"/?name=x&k=0", "k: found \"0\"; expected a whole number from 1 to 1000"},
      {"/?name=x&k=1001", "k: found \"1001\"; expected a whole number from 1 to 1000"},
      {"/?name=x&k=-1", "expected a whole number"},
      {"/?name=x&k=99999999999999999999", "expected a whole number"},
      {"/?name=x&exact=1", "exact: found \"1\"; expected true or false"},
      {"/?name=x&metric=l2", "metric: found \"l2\"; expected cosine or dot"},
      {"/?name=x&run=a&run=b", "run: found \"b\"; expected it once"},
      {"/?name=x&K=3", "found \"K\"; expected name, run, k, exact, metric"}};
  for (const auto& [target, message] : cases) {
    EXPECT_THAT(std::string(MessageOf(Check(target).status())), HasSubstr(std::string(message))) << target;
  }
}

}  // namespace
}  // namespace octavo
