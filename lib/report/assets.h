// The files report.css and report.js of this folder, as they are.
#pragma once

#include <string_view>

namespace octavo {

extern const std::string_view kReportStyle;
extern const std::string_view kReportScript;

}  // namespace octavo
