// Who may ask: the Host header against DNS rebinding, the token, and requests that other sites make. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "serve/message.h"
#include "serve/target.h"

namespace octavo {

// Whether `host` is an address or a name of this machine alone: 127.x.y.z, ::1 or localhost.
bool IsLoopback(std::string_view host);

struct GuardOptions {
  std::string host = {};   // where the server listens
  std::string token = {};  // empty: none is needed
};

// Returns a response if the request is refused, or answered here:
// - A Host that is neither an IP address, nor localhost, nor the name given as `host`: 421. A page of another site can
//   make its name resolve to this machine, but it cannot change the name in the header.
// - Requests that a browser marks as made by another site, except following a link: 403.
// - With a token, requests without it: 401. It comes as "Authorization: Bearer TOKEN", or as a cookie, which a page
//   address with ?token=TOKEN sets; the browser is sent on to the address without it.
std::optional<ServeResponse> Refuse(const ServeRequest& request, const Target& target, const GuardOptions& options);

}  // namespace octavo
