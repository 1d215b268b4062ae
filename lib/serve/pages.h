// The pages and their files, which are part of the program. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "serve/message.h"

namespace octavo {

// Returns the page or file at this path of an address, if there is one.
std::optional<ServeResponse> FindPage(std::string_view path);

}  // namespace octavo
