// Walks, and the sizes of a model without relations.
#pragma once

#include "choose/choice_draft.h"

namespace octavo {

// Chooses walks, or none. The pairs of random walks say more of a node's place than its edges alone.
void ChooseWalks(ChoiceDraft& draft);
// Dimension, negatives and epochs. Choose the batches first.
void ChoosePlainSize(ChoiceDraft& draft);

}  // namespace octavo
