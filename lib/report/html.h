// Text of any bytes, such as names of nodes, made safe for a page. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "nlohmann/json_fwd.hpp"

namespace octavo {

// Returns `text` for the content of an element or a quoted attribute, as ReadableText has it.
std::string HtmlText(std::string_view text);

// Returns the object as JSON that may stand in a <script> element: pure ASCII, with <, > and & as \u003c and so on, so
// that nothing in it ends the element or begins a comment. Bytes that are not UTF-8 are U+FFFD.
std::string ScriptJson(const nlohmann::ordered_json& json);

}  // namespace octavo
