// Requests as HTTP/1.1 has them, by Boost.Beast, with their limits.
#pragma once

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

#include "serve/message.h"

namespace octavo {

inline constexpr std::uint32_t kMostHeaderBytes = 16 << 10;
inline constexpr std::uint64_t kMostBodyBytes = 1 << 20;

using HttpParser = boost::beast::http::request_parser<boost::beast::http::string_body>;

// Sets the limits of a new parser.
void LimitParser(HttpParser& parser);

// Returns a response if a request with this header, whose body is still to come, is refused: 411 without a
// Content-Length where there is a body, 413 if it is too long.
std::optional<ServeResponse> RefuseBody(const HttpParser& parser);

// Returns the response for an error of the parser: 400, 413 or 431.
ServeResponse ParserError(const boost::system::error_code& error);

// Takes what is needed from the parsed request.
ServeRequest TakeRequest(HttpParser& parser);

}  // namespace octavo
