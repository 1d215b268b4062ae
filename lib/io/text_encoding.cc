#include "io/text_encoding.h"

#include <algorithm>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr std::size_t kLookedAt = 1024;   // a longer line says no more
constexpr std::size_t kLeastLetters = 2;  // one NUL may be an error in the file

// Whether the first line is ASCII in 16 bits a letter, in either order of bytes.
bool HasNulInEverySecondByte(std::string_view head) {
  const std::size_t end = std::min({head.find('\n'), head.size(), kLookedAt});
  if (end < 2 * kLeastLetters) return false;
  std::size_t nuls[] = {0, 0};  // at even and odd places
  for (std::size_t i = 0; i < end; ++i) nuls[i % 2] += head[i] == '\0' ? 1 : 0;
  const std::size_t even = (end + 1) / 2;
  const std::size_t odd = end / 2;
  return (nuls[0] == 0 && nuls[1] == odd) || (nuls[0] == even && nuls[1] == 0);
}

}  // namespace

absl::Status RefuseUtf16(std::string_view head, std::string_view name) {
  const bool marked = head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF");
  if (!marked && !HasNulInEverySecondByte(head)) return absl::OkStatus();
  return InputError(fmt::format("{}: found UTF-16 ({}); expected UTF-8, which iconv -f UTF-16{} -t UTF-8 writes", name,
                                marked ? "a byte order mark" : "a NUL in every second byte of the first line",
                                marked            ? ""
                                : head[0] == '\0' ? "BE"
                                                  : "LE"));
}

}  // namespace octavo
