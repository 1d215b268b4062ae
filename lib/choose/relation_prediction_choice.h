// Whether the relations of edges are predicted, too.
#pragma once

#include "choose/choice_draft.h"

namespace octavo {

// An additional loss, of the relations of edges. It needs many relations, dimensions and edges a node, and with it many
// answers of a query do not push each other away (docs/defaults-measured.md). It is left out where memory is short, and
// where a time has no room for it. A training for which more than the usual cost is allowed gets all negatives, too.
// REQUIRES: FitMemory was called
void ChooseRelationPrediction(ChoiceDraft& draft);

}  // namespace octavo
