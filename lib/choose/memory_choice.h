// Smaller sizes where memory is short.
#pragma once

#include "choose/choice_draft.h"

namespace octavo {

// Lowers the dimension and the optimizer's state until all tables are in memory. If that would cost too much, lowers
// the sizes of a batch, too, until the tables can be trained in parts.
void FitMemory(ChoiceDraft& draft);
// Whether all tables fit in memory.
bool FitsWhole(const ChoiceDraft& draft);

}  // namespace octavo
