#include "base/count_text.h"

#include "fmt/format.h"

namespace octavo {

std::string CountText(std::uint64_t count, std::string_view noun) {
  const bool hisses = noun.ends_with("tch") || noun.ends_with("ss");
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : hisses ? "es" : "s");
}

}  // namespace octavo
