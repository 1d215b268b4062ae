#include "serve/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace octavo {
namespace {

constexpr std::string_view kToken = "0123456789abcdef";

unsigned StatusOf(const ServeRequest& request, const GuardOptions& options) {
  const std::optional<ServeResponse> refused = Refuse(request, *ParseTarget(request.target), options);
  return refused ? refused->status : 0;
}

ServeRequest Get(std::string target, std::string host = "127.0.0.1:8321") {
  return {.method = "GET", .target = std::move(target), .host = std::move(host)};
}

TEST(GuardTest, Loopback) {
  for (const char* host : {"127.0.0.1", "127.8.9.1", "::1", "localhost"}) EXPECT_TRUE(IsLoopback(host)) << host;
  for (const char* host : {"0.0.0.0", "::", "192.168.1.2", "127.0.0.1.evil.org", "example.org", ""}) {
    EXPECT_FALSE(IsLoopback(host)) << host;
  }
}

// A page of evil.example makes its own name resolve to 127.0.0.1; only the Host header shows it.
TEST(GuardTest, HostOfAnotherNameIsRefused) {
  for (const char* host : {"127.0.0.1:8321", "localhost:1", "LOCALHOST", "[::1]:8321", "192.168.0.1", "box:8321"}) {
    EXPECT_EQ(StatusOf(Get("/", host), {.host = "box"}), 0U) << host;
  }
  for (const char* host : {"evil.example:8321", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "",
                           "[::1", ":8321", "box.evil.example"}) {
    EXPECT_EQ(StatusOf(Get("/", host), {.host = "box"}), 421U) << host;
  }
}

TEST(GuardTest, OtherSitesMayOnlyLinkToPages) {
  ServeRequest request = Get("/api/v1/runs");
  request.fetch_site = "cross-site";
  EXPECT_EQ(StatusOf(request, {}), 403U);
  request.target = "/node?name=x";
  EXPECT_EQ(StatusOf(request, {}), 0U);
  request.method = "POST";
  EXPECT_EQ(StatusOf(request, {}), 403U);
  request.fetch_site = "same-origin";
  EXPECT_EQ(StatusOf(request, {}), 0U);
}

TEST(GuardTest, OtherSitesMayUseTheApiIfTheyAreAllowed) {
  const GuardOptions options{.token = std::string(kToken), .origins = {"https://a.example"}};
  ServeRequest request = Get("/api/v1/runs");
  request.method = "OPTIONS";
  request.fetch_site = "cross-site";
  request.origin = "https://a.example";
  EXPECT_EQ(StatusOf(request, options), 204U);  // before the request that has the token
  request.method = "GET";
  EXPECT_EQ(StatusOf(request, options), 401U);
  request.authorization = "Bearer " + std::string(kToken);
  EXPECT_EQ(StatusOf(request, options), 0U);
  for (const char* other : {"https://a.example.evil", "http://a.example", "https://A.example", "null", ""}) {
    request.origin = other;
    EXPECT_EQ(StatusOf(request, options), 403U) << other;
  }
  request.origin = "https://a.example";
  request.host = "evil.example";
  EXPECT_EQ(StatusOf(request, options), 421U);
  request.host = "localhost";
  request.target = "/";
  EXPECT_FALSE(IsAllowedOrigin(request, *ParseTarget(request.target), options));  // the API alone
}

TEST(GuardTest, Origins) {
  for (const char* origin : {"https://a.example", "http://localhost:3000", "http://[::1]:80"}) {
    EXPECT_TRUE(IsOrigin(origin)) << origin;
  }
  for (const char* other : {"", "*", "null", "a.example", "https://", "https://a.example/", "https://a b", "ftp://a"}) {
    EXPECT_FALSE(IsOrigin(other)) << other;
  }
}

TEST(GuardTest, TokenComesInAHeaderOrACookie) {
  const GuardOptions options{.token = std::string(kToken)};
  ServeRequest request = Get("/api/v1/runs");
  EXPECT_EQ(StatusOf(request, options), 401U);
  for (const char* wrong : {"0123456789abcdef", "Bearer 0123456789abcdeg", "Bearer 0123456789abcde", "Bearer "}) {
    request.authorization = wrong;
    EXPECT_EQ(StatusOf(request, options), 401U) << wrong;
  }
  for (const char* right : {"Bearer 0123456789abcdef", "bearer 0123456789abcdef"}) {
    request.authorization = right;
    EXPECT_EQ(StatusOf(request, options), 0U) << right;
  }
  request.authorization.clear();
  request.cookie = "a=b; octavo_token=0123456789abcdef; c=d";
  EXPECT_EQ(StatusOf(request, options), 0U);
  for (const char* wrong : {"octavo_token=0123456789abcde", "xoctavo_token=0123456789abcdef", "octavo_token"}) {
    request.cookie = wrong;
    EXPECT_EQ(StatusOf(request, options), 401U) << wrong;
  }
  // An address with the token is for pages: those of the API end up in logs and programs.
  EXPECT_EQ(StatusOf(Get("/api/v1/runs?token=0123456789abcdef"), options), 401U);
}

TEST(GuardTest, PageWithTheTokenSetsTheCookieAndGoesOn) {
  const GuardOptions options{.token = std::string(kToken)};
  const ServeRequest request = Get("//node?name=a%26b&token=0123456789abcdef");
  const std::optional<ServeResponse> response = Refuse(request, *ParseTarget(request.target), options);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 303U);
  using testing::Contains;
  using testing::Pair;
  EXPECT_THAT(response->headers, Contains(Pair("Location", "/node?name=a%26b")));
  EXPECT_THAT(response->headers,
              Contains(Pair("Set-Cookie", "octavo_token=0123456789abcdef; Path=/; HttpOnly; SameSite=Strict")));
  EXPECT_EQ(StatusOf(Get("/?token=0123456789abcdeg"), options), 401U);
}

}  // namespace
}  // namespace octavo
