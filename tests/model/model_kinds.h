// All kinds of models.
#pragma once

#include "model/model_spec.h"

namespace octavo {

inline constexpr ModelKind kModelKinds[] = {
    ModelKind::kDot,    ModelKind::kDistMult,      ModelKind::kComplEx, ModelKind::kTransE,
    ModelKind::kRotatE, ModelKind::kSourceContext, ModelKind::kRescal,
};

}  // namespace octavo
