// The contents of this folder's report.css and report.js.
#pragma once

#include <string_view>

namespace octavo {

extern const std::string_view kReportStyle;
extern const std::string_view kReportScript;

}  // namespace octavo
