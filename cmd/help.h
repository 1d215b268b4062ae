// The help of a command: its own options, and those of the commands above it, which may stand behind it, too; of a verb
// examples, and where to read more.
#pragma once

#include <memory>

namespace CLI {
class FormatterBase;
}

namespace octavo {

std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter();

}  // namespace octavo
