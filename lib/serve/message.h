// A request and its response, apart from how they travel.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"

namespace octavo {

struct ServeRequest {
  std::string method = {};  // "GET", "HEAD", "POST" or another
  std::string target = {};  // as sent: path and query
  std::string host = {};
  std::string authorization = {};
  std::string cookie = {};
  std::string content_type = {};
  std::string origin = {};
  std::string fetch_site = {};  // Sec-Fetch-Site
  std::string last_event = {};  // Last-Event-ID
  std::string body = {};
};

struct ServeResponse {
  unsigned status = 200;
  std::string type = {};
  std::shared_ptr<const std::string> body = {};                   // shared, so that pages and maps are not copied
  std::vector<std::pair<std::string, std::string>> headers = {};  // in addition to those of every response
};

ServeResponse TextResponse(unsigned status, std::string type, std::string body);
ServeResponse JsonResponse(unsigned status, const nlohmann::ordered_json& object);

// {"error": {"code": STATUS, "message": MESSAGE}}
ServeResponse ErrorResponse(unsigned status, std::string_view message);

// Statuses of errors that are not the client's fault, and whose messages it does not see: 500 and above.
bool IsServerError(unsigned status);

// Returns the HTTP status for an error: 404 for an unknown name, 400 for other usage errors, 503 for a stopped search,
// 500 for the rest.
unsigned HttpStatusOf(const absl::Status& status);

}  // namespace octavo
