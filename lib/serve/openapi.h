// The description of the API as OpenAPI 3.0, made from the routes. Pure.
#pragma once

#include <span>
#include <string_view>

#include "nlohmann/json_fwd.hpp"
#include "serve/route.h"

namespace octavo {

nlohmann::ordered_json DescribeApi(std::span<const Route> routes, std::string_view version, bool with_token);

}  // namespace octavo
