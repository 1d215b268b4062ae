#include "serve/guard.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace octavo {
namespace {

constexpr std::string_view kCookie = "octavo_token";

// The host of a Host header, without port and brackets, in lower case. Empty if it is malformed.
std::string HostOf(std::string_view header) {
  std::string_view host = header;
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return "";
    host = host.substr(1, end - 1);
  } else {
    host = host.substr(0, host.find(':'));
  }
  std::string lower(host);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower;
}

bool IsAddress(const std::string& host) {
  std::array<std::byte, sizeof(in6_addr)> address{};
  return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

// Takes the same time for all texts of one length, so that a token cannot be guessed byte by byte.
bool SameSecret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

// Whether the header is "Bearer TOKEN"; the scheme's case does not matter (RFC 9110, 11.1).
bool HasBearer(const std::string& header, std::string_view token) {
  constexpr absl::string_view kScheme = "Bearer ";
  return absl::StartsWithIgnoreCase(header, kScheme) &&
         SameSecret(std::string_view(header).substr(kScheme.size()), token);
}

bool HasCookie(std::string_view cookies, std::string_view token) {
  while (!cookies.empty()) {
    std::string_view cookie = cookies.substr(0, cookies.find(';'));
    cookies.remove_prefix(std::min(cookies.size(), cookie.size() + 1));
    cookie.remove_prefix(std::min(cookie.size(), cookie.find_first_not_of(' ')));
    const std::size_t equals = cookie.find('=');
    if (cookie.substr(0, equals) == kCookie && equals != std::string_view::npos &&
        SameSecret(cookie.substr(equals + 1), PercentEncode(token))) {
      return true;
    }
  }
  return false;
}

// The address without the token, with a cookie that has it.
ServeResponse SendOn(const Target& target, std::string_view token) {
  std::string address = target.path;
  char separator = '?';
  for (const auto& [name, value] : target.values) {
    if (name == "token") continue;
    address += separator + PercentEncode(name) + "=" + PercentEncode(value);
    separator = '&';
  }
  // A path with two slashes at its beginning would be an address of another host.
  address.erase(0, std::min(address.find_first_not_of('/'), address.size()));
  ServeResponse response = TextResponse(303, "text/plain", "");
  response.headers.emplace_back("Location", "/" + address);
  response.headers.emplace_back(
      "Set-Cookie", std::string(kCookie) + "=" + PercentEncode(token) + "; Path=/; HttpOnly; SameSite=Strict");
  return response;
}

}  // namespace

bool IsLoopback(std::string_view host) {
  std::array<unsigned char, sizeof(in_addr)> address{};
  if (::inet_pton(AF_INET, std::string(host).c_str(), address.data()) == 1) return address[0] == 127;
  return host == "::1" || host == "localhost";
}

bool IsOrigin(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!text.starts_with(scheme)) continue;
    const std::string_view host = text.substr(scheme.size());
    return !host.empty() && std::ranges::all_of(host, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
             std::string_view("-._:[]").find(c) != std::string::npos;
    });
  }
  return false;
}

bool IsAllowedOrigin(const ServeRequest& request, const Target& target, const GuardOptions& options) {
  return target.path.starts_with("/api/") &&
         std::ranges::find(options.origins, request.origin) != options.origins.end();
}

void AllowOrigin(const ServeRequest& request, ServeResponse& response) {
  response.headers.emplace_back("Access-Control-Allow-Origin", request.origin);
  response.headers.emplace_back("Vary", "Origin");
}

std::optional<ServeResponse> Refuse(const ServeRequest& request, const Target& target, const GuardOptions& options) {
  const std::string host = HostOf(request.host);
  if (host.empty() || (!IsAddress(host) && host != "localhost" && host != HostOf(options.host))) {
    return ErrorResponse(421,
                         "the Host header names another machine; expected an IP address, localhost or the --host "
                         "of the server");
  }
  const bool api = target.path.starts_with("/api/");
  const bool allowed = IsAllowedOrigin(request, target, options);
  if (allowed && request.method == "OPTIONS") {
    ServeResponse response = TextResponse(204, "", "");
    response.headers.emplace_back("Access-Control-Allow-Methods", "GET, HEAD, POST");
    response.headers.emplace_back("Access-Control-Allow-Headers", "Authorization, Content-Type");
    return response;
  }
  if (!allowed && request.fetch_site == "cross-site" && (api || request.method != "GET")) {
    return ErrorResponse(403, "requests of other sites are refused");
  }
  if (options.token.empty()) return std::nullopt;
  const auto given = std::ranges::find(target.values, "token", &std::pair<std::string, std::string>::first);
  if (!api && request.method == "GET" && given != target.values.end() && SameSecret(given->second, options.token)) {
    return SendOn(target, options.token);
  }
  if (HasBearer(request.authorization, options.token) || HasCookie(request.cookie, options.token)) {
    return std::nullopt;
  }
  ServeResponse response = ErrorResponse(
      401, "expected the token of the server: \"Authorization: Bearer TOKEN\", or ?token=TOKEN after a page's address");
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace octavo
