#include "base/json_escape.h"

#include "base/escape.h"
#include "fmt/format.h"

namespace octavo {

std::string EscapeJsonControls(std::string_view json) {
  constexpr unsigned char kLead = 0xC2;  // of U+0080 to U+00BF in UTF-8
  std::string text;
  text.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const auto byte = static_cast<unsigned char>(json[i]);
    const unsigned char next = i + 1 < json.size() ? static_cast<unsigned char>(json[i + 1]) : 0;
    if (byte == 0x7F) {
      text += "\\u007f";
    } else if (byte == kLead && next >= 0x80 && next <= 0x9F) {
      text += fmt::format("\\u{:04x}", next);
      ++i;
    } else if (BeginsWithBidiControl(json.substr(i))) {
      const auto last = static_cast<unsigned char>(json[i + 2]);
      text += fmt::format("\\u20{:02x}", next == 0x80 ? last - 0x80U : last - 0x80U + 0x40U);
      i += kBidiBytes - 1;
    } else {
      text += json[i];
    }
  }
  return text;
}

}  // namespace octavo
