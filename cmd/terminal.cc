#include "cmd/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/number.h"

namespace octavo {
namespace {

constexpr std::size_t kUsualColumns = 80;
constexpr std::size_t kMostColumns = 120;
constexpr std::uint64_t kLeastColumns = 40;  // beside a column of names nothing is left of fewer

}  // namespace

std::size_t TerminalColumns(int descriptor) {
  winsize size = {};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : kUsualColumns;
}

std::size_t TextColumns() {
  if (const char* const text = std::getenv("COLUMNS"); text != nullptr) {
    const std::optional<std::uint64_t> columns = ParseWholeNumber(text);
    if (columns && *columns >= kLeastColumns) return *columns;
  }
  return std::clamp<std::size_t>(TerminalColumns(STDOUT_FILENO), kLeastColumns, kMostColumns);
}

}  // namespace octavo
