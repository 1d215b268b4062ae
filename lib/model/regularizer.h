// Penalties on the rows of the positive edges (head, relation, tail), not on those of the negatives.
//
//   l2  weight * sum x^2
//   n3  weight * sum |x|^3, over complex moduli for ComplEx (Lacroix et al., ICML 2018). RotatE's phases are not
//       penalised; its node rows are, by complex moduli.
// Each edge is penalised once for each side that is corrupted, as in Lacroix et al., where an edge and its reciprocal
// are two examples.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "model/model_spec.h"

namespace octavo {

enum class RegularizerKind { kNone, kL2, kN3 };

struct RegularizerSpec {
  RegularizerKind kind = RegularizerKind::kNone;
  float weight = 0.0F;
};

// "none", "l2", "n3". The error of the parser lists them.
std::string_view RegularizerName(RegularizerKind kind);
absl::StatusOr<RegularizerKind> ParseRegularizer(std::string_view name);

// Adds scale * gradient of the penalty on one row to `gradient` and returns scale * penalty. `complex_layout` says that
// the row is in split layout and its moduli count for n3. REQUIRES: gradient.size() == row.size()
double AddRegularizer(const RegularizerSpec& spec, bool complex_layout, float scale, std::span<const float> row,
                      std::span<float> gradient);

}  // namespace octavo
