// JSON output that may reach a terminal.
#pragma once

#include <string>
#include <string_view>

namespace octavo {

// Returns JSON text with U+007F to U+009F written as \u007f to \u009f, and bidirectional controls as \u202a and so on.
// JSON allows them unescaped, but terminals take some for commands: U+009B begins a control sequence. The value of the
// text is unchanged.
std::string EscapeJsonControls(std::string_view json);

}  // namespace octavo
