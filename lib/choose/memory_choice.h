// Smaller sizes where memory is short.
#pragma once

#include "choose/choice_draft.h"

namespace octavo {

// Lowers dimension, state and batch until the tables are all in memory, or if that costs too much until it can train
// at all.
void FitMemory(ChoiceDraft& draft);
// Whether all tables fit in memory.
bool FitsWhole(const ChoiceDraft& draft);

}  // namespace octavo
