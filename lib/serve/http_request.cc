#include "serve/http_request.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "fmt/format.h"

namespace octavo {

namespace http = boost::beast::http;

namespace {

std::string FieldOf(const http::request<http::string_body>& request, boost::beast::string_view name) {
  const auto found = request.find(name);
  return found == request.end() ? std::string() : std::string(found->value());
}

// "http://HOST/PATH", which clients send to proxies, is the path; HOST counts instead of the header (RFC 9112, 3.2.2).
void TakeAbsoluteForm(ServeRequest& request) {
  constexpr absl::string_view kScheme = "http://";
  if (!absl::StartsWithIgnoreCase(request.target, kScheme)) return;
  const std::string rest = request.target.substr(kScheme.size());
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  if (!request.host.empty()) request.host = rest.substr(0, end);
  request.target = rest.substr(end).starts_with('/') ? rest.substr(end) : "/" + rest.substr(end);
}

}  // namespace

void LimitParser(HttpParser& parser) {
  parser.header_limit(kMostHeaderBytes);
  parser.body_limit(kMostBodyBytes);
}

std::optional<ServeResponse> RefuseBody(const HttpParser& parser) {
  const auto length = parser.content_length();
  if (length && *length > kMostBodyBytes) {
    return ErrorResponse(413, fmt::format("expected a body of at most {} bytes", kMostBodyBytes));
  }
  if (parser.chunked() || (!length && parser.get().method() == http::verb::post)) {
    return ErrorResponse(411, "expected a Content-Length");
  }
  return std::nullopt;
}

ServeResponse ParserError(const boost::system::error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return ErrorResponse(431, fmt::format("expected headers of at most {} bytes", kMostHeaderBytes));
  }
  if (error == http::error::body_limit) {
    return ErrorResponse(413, fmt::format("expected a body of at most {} bytes", kMostBodyBytes));
  }
  return ErrorResponse(400, "found a request that is not HTTP/1.1");
}

ServeRequest TakeRequest(HttpParser& parser) {
  http::request<http::string_body> request = parser.release();
  ServeRequest taken;
  taken.method = std::string(request.method_string());
  taken.target = std::string(request.target());
  // Two of them could be read differently by others on the way.
  taken.host = request.count(http::field::host) == 1 ? FieldOf(request, "Host") : "";
  TakeAbsoluteForm(taken);
  taken.authorization = FieldOf(request, "Authorization");
  taken.cookie = FieldOf(request, "Cookie");
  taken.content_type = FieldOf(request, "Content-Type");
  taken.origin = FieldOf(request, "Origin");
  taken.fetch_site = FieldOf(request, "Sec-Fetch-Site");
  taken.last_event = FieldOf(request, "Last-Event-ID");
  taken.body = std::move(request.body());
  return taken;
}

}  // namespace octavo
