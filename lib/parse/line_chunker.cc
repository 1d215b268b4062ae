#include "parse/line_chunker.h"

#include <utility>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/text_encoding.h"
#include "parse/parsed_chunk.h"

namespace octavo {

absl::StatusOr<std::optional<std::string>> LineChunker::Next(std::string text) {
  if (done_) return std::nullopt;
  const std::string carry = std::exchange(carry_, {});
  std::uint64_t bytes = carry.size();  // of the text, before anything is removed from it
  std::size_t size = carry.size();     // bytes used in `text`
  text.resize(size + kChunkBytes);     // zeroes only the added bytes
  carry.copy(text.data(), size);
  // Reads until the text contains a line end. What follows the last one is carried to the next chunk.
  while (true) {
    text.resize(size + kChunkBytes);
    ASSIGN_OR_RETURN(const std::size_t got, input_->Read(std::span(text).subspan(size)));
    text.resize(size + got);
    bytes += got;
    if (std::exchange(at_start_, false)) {
      RETURN_IF_ERROR(RefuseUtf16(text, input_->name()));
      if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
    }
    done_ = got < kChunkBytes;
    if (done_) break;
    if (const std::size_t end = text.rfind('\n'); end != std::string::npos) {
      carry_.assign(text, end + 1);
      text.resize(end + 1);
      break;
    }
    // A line that is too long is shortened; the parser rejects it.
    if (text.size() > kMaxLineBytes + 1) text.resize(kMaxLineBytes + 1);
    size = text.size();
    if (bytes > kEndlessLineBytes) {
      return InputError(
          fmt::format("{}: a line of more than {} bytes, \"{}\", from byte {} of the text on; expected an edge list",
                      input_->name(), kEndlessLineBytes, Escape(text, 40), begin_));
    }
  }
  begin_ += bytes - carry_.size();
  if (text.empty()) return std::nullopt;
  return text;
}

}  // namespace octavo
