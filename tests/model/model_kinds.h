// All kinds of models.

#ifndef OCTAVO_TESTS_MODEL_MODEL_KINDS_H_
#define OCTAVO_TESTS_MODEL_MODEL_KINDS_H_

#include "model/model_spec.h"

namespace octavo {

inline constexpr ModelKind kModelKinds[] = {
    ModelKind::kDot,    ModelKind::kDistMult,      ModelKind::kComplEx, ModelKind::kTransE,
    ModelKind::kRotatE, ModelKind::kSourceContext, ModelKind::kRescal,
};

}  // namespace octavo

#endif  // OCTAVO_TESTS_MODEL_MODEL_KINDS_H_
