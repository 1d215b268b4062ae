// The help of a command: its own options, and those of its parent commands, which are allowed after it too; for a verb
// also examples and where to read more. Of a verb with many options, --help describes those that most people need and
// names the others; --help-all describes all.
#pragma once

#include <memory>
#include <string>

namespace CLI {
class App;
class FormatterBase;
}  // namespace CLI

namespace octavo {

std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter();

// Shows --help-all in the help of the verbs that have more than their --help describes. Call it when all options are
// added.
void ShowHelpAll(CLI::App& app);

// What the program prints for a call without any words: the first steps and the verbs.
std::string ShortHelp(const CLI::App& app);

}  // namespace octavo
