#include "base/count_text.h"

#include "fmt/format.h"

namespace octavo {

std::string CountText(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : noun.ends_with("tch") ? "es" : "s");
}

}  // namespace octavo
