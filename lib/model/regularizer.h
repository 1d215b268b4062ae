// Penalties on the rows of the positive edges (head, relation, tail), not on those of the negatives.
//
//   l2  weight * sum x^2
//   n3  weight * sum |x|^3, over complex moduli for ComplEx (Lacroix et al., ICML 2018). RotatE's phases are not
//       penalised; its node rows are, by complex moduli.
//   dura  weight * sum (|h|^2 + |t|^2) (1/2 + 3/2 |r|^2), over the coordinates of DistMult and the complex moduli of
//         ComplEx: the duality-induced regularizer (Zhang, Cai and Wang, NeurIPS 2020), with the weights of its
//         authors. It is a penalty on an edge, not on a row: it pulls an answer towards its query.
// Each edge is penalised once for each side that is corrupted, as in Lacroix et al., where an edge and its reciprocal
// are two training examples. An edge of weight w is penalised w times, as its loss counts w times: the scale of the
// weights changes nothing between the two.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "model/model_spec.h"

namespace octavo {

enum class RegularizerKind { kNone, kL2, kN3, kDura };

struct RegularizerSpec {
  RegularizerKind kind = RegularizerKind::kNone;
  float weight = 0.0F;
};

// "none", "l2", "n3", "dura". The parser's error lists them.
std::string_view RegularizerName(RegularizerKind kind);
absl::StatusOr<RegularizerKind> ParseRegularizer(std::string_view name);

// Adds scale * gradient of the penalty on one row to `gradient` and returns scale * penalty. With `complex_layout` the
// row is in split layout, and n3 uses its moduli. REQUIRES: gradient.size() == row.size(), kind is not dura
double AddRegularizer(const RegularizerSpec& spec, bool complex_layout, float scale, std::span<const float> row,
                      std::span<float> gradient);

// The same for dura: adds the gradients of one edge's penalty to those of its three rows, which have the same width.
struct EdgeRows {
  std::span<const float> head, relation, tail;
};
struct EdgeGradients {
  std::span<float> head, relation, tail;
};
double AddDura(const RegularizerSpec& spec, bool complex_layout, const EdgeRows& rows, const EdgeGradients& gradients);

}  // namespace octavo
