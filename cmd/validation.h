// Validation during a training: ranks the valid split as `evaluate` does.
#pragma once

#include "cmd/program.h"
#include "train/trainer.h"

namespace octavo {

// The validator opens the run as a reader and ranks; SIGINT and SIGTERM stop it.
Validator MakeValidator(Program& program);

}  // namespace octavo
