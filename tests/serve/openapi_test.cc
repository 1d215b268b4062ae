#include "serve/openapi.h"

#include <gtest/gtest.h>

#include "nlohmann/json.hpp"

namespace octavo {
namespace {

using Kind = ParameterSpec::Kind;

TEST(OpenApiTest, DescribesEveryValueOfARoute) {
  std::vector<Route> routes;
  routes.push_back({.method = "GET",
                    .path = "/api/v1/x",
                    .summary = "An x",
                    .parameters = {{.name = "name", .help = "A name", .required = true},
                                   {.name = "k", .kind = Kind::kWhole, .least = 1, .most = 9, .fallback = 3},
                                   {.name = "way", .kind = Kind::kChoice, .choices = {"up", "down"}},
                                   {.name = "on", .kind = Kind::kFlag}}});
  routes.push_back({.method = "POST", .path = "/api/v1/x", .summary = "Many", .body = R"({"type": "object"})"});
  const nlohmann::ordered_json api = DescribeApi(routes, "1.2.3", /*with_token=*/true);
  EXPECT_EQ(api["openapi"], "3.0.3");
  EXPECT_EQ(api["info"]["version"], "1.2.3");
  const auto& get = api["paths"]["/api/v1/x"]["get"];
  EXPECT_EQ(get["summary"], "An x");
  ASSERT_EQ(get["parameters"].size(), 4U);
  EXPECT_EQ(get["parameters"][0]["required"], true);
  EXPECT_EQ(get["parameters"][0]["description"], "A name");
  EXPECT_EQ(get["parameters"][1]["schema"],
            (nlohmann::ordered_json{{"type", "integer"}, {"minimum", 1}, {"maximum", 9}, {"default", 3}}));
  EXPECT_EQ(get["parameters"][2]["schema"]["enum"], (nlohmann::ordered_json{"up", "down"}));
  EXPECT_EQ(get["parameters"][3]["schema"]["type"], "boolean");
  EXPECT_FALSE(get.contains("requestBody"));
  EXPECT_EQ(api["paths"]["/api/v1/x"]["post"]["requestBody"]["content"]["application/json"]["schema"]["type"],
            "object");
  EXPECT_EQ(api["components"]["securitySchemes"]["token"]["scheme"], "bearer");
  EXPECT_FALSE(DescribeApi(routes, "1", false).contains("security"));
}

}  // namespace
}  // namespace octavo
