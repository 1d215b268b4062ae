// Bytes that a client sends, through the parser, the guard and the routes: no matter what they are, there is a request
// for more bytes or one response with a status and headers that are safe to send.

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>

#include "nlohmann/json.hpp"
#include "serve/http_request.h"
#include "serve/service.h"
#include "tests/fuzz/fuzz.h"

namespace octavo {
namespace {

void CheckResponse(const ServeResponse& response) {
  MUST(response.status >= 200 && response.status < 600);
  MUST(response.body != nullptr);
  for (const auto& [name, value] : response.headers) {
    MUST(!name.empty());
    for (const char c : name + value) MUST(c != '\r' && c != '\n' && c != '\0');
  }
  if (response.type == "application/json") {
    const nlohmann::json object = nlohmann::json::parse(*response.body, nullptr, /*allow_exceptions=*/false);
    MUST(object.is_object());
    if (response.status >= 400) MUST(object["error"]["code"] == response.status);
  }
}

// As the server feeds it: the header, then the body.
std::optional<ServeRequest> Parse(std::string_view bytes) {
  HttpParser parser;
  LimitParser(parser);
  while (!parser.is_done()) {
    boost::system::error_code error;
    const std::size_t used = parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
    bytes.remove_prefix(used);
    if (error == boost::beast::http::error::need_more) return std::nullopt;
    if (error) {
      CheckResponse(ParserError(error));
      return std::nullopt;
    }
    if (parser.is_header_done()) {
      if (const std::optional<ServeResponse> refused = RefuseBody(parser)) {
        CheckResponse(*refused);
        return std::nullopt;
      }
      parser.eager(true);
    }
    if (used == 0 && bytes.empty()) return std::nullopt;
  }
  return TakeRequest(parser);
}

}  // namespace
}  // namespace octavo

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace octavo;
  // Without runs: a route whose values are right answers that there is no such run.
  static Service plain({.version = "0"}, {});
  static Service with_token(
      {.version = "0", .guard = {.host = "box", .token = "0123456789abcdef", .origins = {"https://a.example"}}}, {});
  FuzzInput input(data, size);
  Service& service = input.Value<std::uint8_t>() % 2 == 0 ? plain : with_token;
  std::optional<ServeRequest> request = Parse(input.rest());
  if (!request) return 0;
  const bool is_api = request->target.starts_with("/api/");
  Dispatched dispatched = service.Dispatch(*std::move(request));
  MUST(dispatched.response.has_value() != (dispatched.work != nullptr));
  const ServeResponse response =
      dispatched.response ? *std::move(dispatched.response) : dispatched.work([] { return false; });
  CheckResponse(response);
  if (is_api && response.status == 200) MUST(response.type == "application/json");
  return 0;
}
