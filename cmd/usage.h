// What is wrong with a command line that could not be parsed, and what was probably meant.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace octavo {

// Returns the message, with near spellings of an unknown flag or verb, and where there is help. `app` is the program's,
// after the parsing of `typed`, the words behind its name, has thrown `message`.
std::string UsageMessage(const CLI::App& app, const std::string& message, const std::vector<std::string>& typed);

// Returns "; did you mean A, B or C?", or nothing where there are none.
std::string DidYouMean(const std::vector<std::string>& near);

}  // namespace octavo
