// Validation during a training: the ranking that `evaluate` does, of the valid split.
#pragma once

#include "cmd/program.h"
#include "train/trainer.h"

namespace octavo {

// Opens the run as a reader and ranks; SIGINT and SIGTERM stop it.
Validator MakeValidator(Program& program);

}  // namespace octavo
