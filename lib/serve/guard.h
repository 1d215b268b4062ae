// Who may ask: the Host header against DNS rebinding, the token, and requests that other sites make. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/message.h"
#include "serve/target.h"

namespace octavo {

// Whether `host` is an address or a name of this machine alone: 127.x.y.z, ::1 or localhost.
bool IsLoopback(std::string_view host);

struct GuardOptions {
  std::string host = {};   // where the server listens
  std::string token = {};  // empty: none is needed
  // Sites whose pages may use the API, as in the header Origin: "https://example.org:8080".
  std::vector<std::string> origins = {};
};

// Whether the text is an origin as browsers send it: scheme, host, and a port that is not the scheme's own; no path.
bool IsOrigin(std::string_view text);

// Whether the request is of a page of one of the sites that may use the API.
bool IsAllowedOrigin(const ServeRequest& request, const Target& target, const GuardOptions& options);

// Lets a browser pass the response on to the page that asked (Fetch Standard, 3.2).
// REQUIRES: IsAllowedOrigin
void AllowOrigin(const ServeRequest& request, ServeResponse& response);

// Returns a response if the request is refused, or answered here:
// - A Host that is neither an IP address, nor localhost, nor the name given as `host`: 421. A page of another site can
//   make its name resolve to this machine, but it cannot change the name in the header.
// - Requests that a browser marks as made by another site, except following a link, and of the sites in `origins`: 403.
// - What a browser asks before such a request (OPTIONS): 204.
// - With a token, requests without it: 401. It comes as "Authorization: Bearer TOKEN", or as a cookie, which a page
//   address with ?token=TOKEN sets; the browser is sent on to the address without it.
std::optional<ServeResponse> Refuse(const ServeRequest& request, const Target& target, const GuardOptions& options);

}  // namespace octavo
