#include "serve/http_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/buffer.hpp>

namespace octavo {
namespace {

// Parses all of `text`; the status of the response that refuses it, or 0.
unsigned Parse(const std::string& text, ServeRequest* taken = nullptr) {
  HttpParser parser;
  LimitParser(parser);
  boost::system::error_code error;
  std::size_t done = 0;
  while (done < text.size() && !parser.is_done()) {
    done += parser.put(boost::asio::buffer(text.data() + done, text.size() - done), error);
    if (error == boost::beast::http::error::need_more) break;
    if (error) return ParserError(error).status;
    if (parser.is_header_done()) {
      if (const auto refused = RefuseBody(parser)) return refused->status;
      parser.eager(true);
    }
  }
  if (!parser.is_done()) return 1;
  if (taken != nullptr) *taken = TakeRequest(parser);
  return 0;
}

TEST(HttpRequestTest, TakesWhatIsNeeded) {
  ServeRequest request;
  ASSERT_EQ(Parse("POST /a?b=c HTTP/1.1\r\nHost: h:1\r\nAuthorization: Bearer x\r\nCookie: a=b\r\nContent-Type: "
                  "application/json\r\nSec-Fetch-Site: none\r\nLast-Event-ID: 7-8\r\nContent-Length: 2\r\n\r\n{}",
                  &request),
            0U);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/a?b=c");
  EXPECT_EQ(request.host, "h:1");
  EXPECT_EQ(request.authorization, "Bearer x");
  EXPECT_EQ(request.cookie, "a=b");
  EXPECT_EQ(request.content_type, "application/json");
  EXPECT_EQ(request.fetch_site, "none");
  EXPECT_EQ(request.last_event, "7-8");
  EXPECT_EQ(request.body, "{}");
}

TEST(HttpRequestTest, TheAbsoluteFormNamesHostAndPath) {
  ServeRequest request;
  ASSERT_EQ(Parse("GET http://localhost:80/a?b=http://c HTTP/1.1\r\nHost: evil.example\r\n\r\n", &request), 0U);
  EXPECT_EQ(request.host, "localhost:80");
  EXPECT_EQ(request.target, "/a?b=http://c");
  ASSERT_EQ(Parse("GET HTTP://h?b=c HTTP/1.1\r\nHost: h\r\n\r\n", &request), 0U);
  EXPECT_EQ(request.target, "/?b=c");
  ASSERT_EQ(Parse("GET http://h HTTP/1.1\r\nHost: h\r\nHost: localhost\r\n\r\n", &request), 0U);
  EXPECT_EQ(request.target, "/");
  EXPECT_EQ(request.host, "");
}

TEST(HttpRequestTest, TwoHostsAreNone) {
  ServeRequest request;
  ASSERT_EQ(Parse("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", &request), 0U);
  EXPECT_EQ(request.host, "");
}

TEST(HttpRequestTest, RefusesWhatIsTooLargeOrUnmeasured) {
  EXPECT_EQ(Parse("GET / HTTP/1.1\r\nX: " + std::string(kMostHeaderBytes, 'x') + "\r\n\r\n"), 431U);
  EXPECT_EQ(Parse("POST / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n"), 413U);
  EXPECT_EQ(Parse("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 411U);
  EXPECT_EQ(Parse("POST / HTTP/1.1\r\nHost: h\r\n\r\n"), 411U);
  EXPECT_EQ(Parse("\x16\x03\x01 TLS\r\n\r\n"), 400U);
  EXPECT_EQ(Parse("GET / HTTP/9.9\r\n\r\n"), 400U);
}

}  // namespace
}  // namespace octavo
