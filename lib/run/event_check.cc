#include "run/event_check.h"

#include <algorithm>

#include "fmt/format.h"

namespace octavo {
void EventCheck::Add(std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t end = piece.find('\n');
    const std::size_t bytes = std::min(piece.size(), end);
    if (line_.size() <= most_line_bytes_) line_ += piece.substr(0, bytes);
    line_bytes_ += bytes;
    if (end == std::string_view::npos) return;
    if (const absl::Status status = seals_.Check(line_, offset_, path_.string()); !status.ok()) {
      report_.Fault(path_, fmt::format("line {}", lines_ + 1), status);
    }
    ++lines_;
    offset_ += line_bytes_ + 1;
    line_bytes_ = 0;
    line_.clear();
    piece.remove_prefix(end + 1);
  }
}

void EventCheck::ExpectEnd() {
  if (!line_.empty()) Damage("a line that does not end", "a line end before the end of what was committed");
}

void EventCheck::Damage(std::string found, std::string expected) {
  report_.Damage(path_, fmt::format("line {}", lines_ + 1), std::move(found), std::move(expected));
}

}  // namespace octavo
