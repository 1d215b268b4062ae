#include "report/html.h"

#include "base/escape.h"
#include "nlohmann/json.hpp"

namespace octavo {

std::string HtmlText(std::string_view text) {
  std::string out;
  for (const char c : ReadableText(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string ScriptJson(const nlohmann::ordered_json& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::ordered_json::error_handler_t::replace)) {
    switch (c) {  // JSON has these characters only inside strings
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace octavo
