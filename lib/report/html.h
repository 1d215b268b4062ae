// Makes text of any bytes, such as node names, safe for a page. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "nlohmann/json_fwd.hpp"

namespace octavo {

// Returns `text` made readable (ReadableText) and escaped for the content of an element or a quoted attribute.
std::string HtmlText(std::string_view text);

// Returns the object as JSON for a <script> element: pure ASCII, with <, > and & as \u003c and so on, so that nothing
// in it ends the element or begins a comment. Bytes that are not UTF-8 become U+FFFD.
std::string ScriptJson(const nlohmann::ordered_json& json);

}  // namespace octavo
