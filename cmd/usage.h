// Explains why a command line could not be parsed, and what was probably meant.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace octavo {

// Returns the message, with similar spellings for an unknown flag or verb, and where to find help. `app` is the
// program's, after parsing `typed`, the words after its name, has thrown `message`.
std::string UsageMessage(const CLI::App& app, const std::string& message, const std::vector<std::string>& typed);

}  // namespace octavo
