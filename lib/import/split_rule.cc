#include "import/split_rule.h"

#include <cmath>
#include <optional>

#include "base/escape.h"
#include "base/number.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/checksum.h"
#include "io/file.h"

namespace octavo {

absl::StatusOr<SplitRule> SplitRule::Parse(std::string_view text, std::uint64_t seed) {
  const auto refuse = [&] {
    return UsageError(
        fmt::format("--split: found \"{}\"; expected the fractions of train, valid and test, such as 0.9,0.05,0.05, "
                    "which sum to 1, train above 0",
                    Escape(text)));
  };
  std::array<double, 3> fractions{};
  std::string_view rest = text;
  for (std::size_t i = 0; i < fractions.size(); ++i) {
    const std::string_view field = rest.substr(0, rest.find(','));
    const std::optional<double> fraction = ParseRealNumber(field);
    const bool last = field.size() == rest.size();
    if (!fraction || *fraction < 0 || last != (i + 1 == fractions.size())) return refuse();
    fractions[i] = *fraction;
    if (!last) rest.remove_prefix(field.size() + 1);
  }
  // The tolerance for rounding in sums of decimal fractions.
  if (fractions[0] <= 0 || std::abs(fractions[0] + fractions[1] + fractions[2] - 1) > 1e-9) return refuse();
  // A split of size 0 gets no edge, however the sums are rounded.
  const double test_from = fractions[2] == 0 ? 1.0 : fractions[0] + fractions[1];
  const double valid_from = fractions[1] == 0 ? test_from : fractions[0];
  return SplitRule(valid_from, test_from, seed);
}

EdgeSplit SplitRule::SplitOf(std::uint64_t head, std::uint64_t relation, std::uint64_t tail) const {
  const std::array<std::uint64_t, 4> key = {seed_, head, relation, tail};
  // The high 53 bits as a number in [0, 1).
  const double place = static_cast<double>(Checksum64(AsBytes(key)) >> 11) * 0x1.0p-53;
  return place < valid_from_ ? EdgeSplit::kTrain : place < test_from_ ? EdgeSplit::kValid : EdgeSplit::kTest;
}

}  // namespace octavo
