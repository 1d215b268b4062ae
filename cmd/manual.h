// Manual pages, generated from the tree that parses the command line.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace octavo {

// Returns octavo(1), or for a command octavo-COMMAND(1), as roff with the macros of man(7). `app` is the program's.
std::string ManualPage(const CLI::App& app, const CLI::App* command);

}  // namespace octavo
