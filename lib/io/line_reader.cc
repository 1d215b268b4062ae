#include "io/line_reader.h"

#include <span>
#include <utility>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/text_encoding.h"

namespace octavo {

absl::StatusOr<LineReader> LineReader::Open(const std::string& path, const InputLimits& limits) {
  ASSIGN_OR_RETURN(std::unique_ptr<CompressedInput> input, CompressedInput::Open(path, nullptr, limits));
  return LineReader(std::move(input));
}

std::string LineReader::Place() const { return fmt::format("{}:{}", input_->name(), line_); }

absl::StatusOr<std::optional<std::string_view>> LineReader::NextLine() {
  std::size_t end = text_.find('\n', begin_);
  while (end == std::string::npos && !ended_) {
    text_.erase(0, std::exchange(begin_, 0));
    const std::size_t before = text_.size();
    if (before > kMaxLineBytes) break;
    text_.resize(before + kPieceBytes);
    ASSIGN_OR_RETURN(const std::size_t got, input_->Read(std::span(text_).subspan(before)));
    text_.resize(before + got);
    ended_ = got < kPieceBytes;
    if (line_ == 0 && before == 0) {
      RETURN_IF_ERROR(RefuseUtf16(text_, input_->name()));
      if (text_.starts_with("\xEF\xBB\xBF")) text_.erase(0, 3);
    }
    end = text_.find('\n', before);
  }
  if (begin_ == text_.size()) return std::nullopt;
  ++line_;
  std::string_view line = std::string_view(text_).substr(begin_, end == std::string::npos ? end : end - begin_);
  begin_ = end == std::string::npos ? text_.size() : end + 1;
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() > kMaxLineBytes) {
    return InputError(fmt::format("{}: found a line of more than {} bytes, \"{}\"; expected a shorter one", Place(),
                                  kMaxLineBytes, Escape(line, 40)));
  }
  if (line.find('\0') != std::string_view::npos) {
    return InputError(fmt::format("{}: found a NUL byte in \"{}\"; expected text", Place(), Escape(line, 40)));
  }
  return line;
}

absl::StatusOr<std::optional<std::string_view>> LineReader::Next() {
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<std::string_view> line, NextLine());
    if (!line) return line;
    const bool comment = line->starts_with('#') || line->starts_with('%');
    if (!comment && line->find_first_not_of(" \t") != std::string_view::npos) return line;
  }
}

}  // namespace octavo
