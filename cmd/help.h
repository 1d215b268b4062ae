// The help of a command: its own options, and those of its parent commands, which are allowed after it too; for a verb
// also examples and where to read more.
#pragma once

#include <memory>

namespace CLI {
class FormatterBase;
}

namespace octavo {

std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter();

}  // namespace octavo
