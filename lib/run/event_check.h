// Checks the lines of a log of events (format/sealed_lines.h) for a report, as its bytes are read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "format/sealed_lines.h"
#include "io/check_report.h"

namespace octavo {

class EventCheck {
 public:
  // The rest of a line of more than `most_line_bytes` is not kept, so the line is damaged. `report` must outlive this
  // object.
  EventCheck(std::filesystem::path path, EventKeys keys, std::uint64_t most_line_bytes, CheckReport& report)
      : path_(std::move(path)), seals_(std::move(keys)), most_line_bytes_(most_line_bytes), report_(report) {}

  // Adds the next piece of the log. Reports each damaged line.
  void Add(std::string_view piece);
  // Reports the text after the last line end as damage, if there is any.
  void ExpectEnd();

  // Complete lines so far.
  std::uint64_t lines() const { return lines_; }
  // The text after the last line end, at most a little more than the longest line.
  const std::string& rest() const { return line_; }
  bool first_sealed() const { return seals_.first_sealed(); }
  // Reports damage of the line after the complete ones.
  void Damage(std::string found, std::string expected);

 private:
  const std::filesystem::path path_;
  SealedLines seals_;
  const std::uint64_t most_line_bytes_;
  CheckReport& report_;
  std::string line_;
  std::uint64_t offset_ = 0;      // of line_ in the file
  std::uint64_t line_bytes_ = 0;  // of the line so far
  std::uint64_t lines_ = 0;
};

}  // namespace octavo
