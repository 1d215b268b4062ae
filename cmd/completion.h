// Completion in shells: each shell's script (octavo completion SHELL) asks the program itself what may stand in a
// place, so it knows what the command line knows, by `octavo __complete WORD...`.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace octavo {

// What the last of `words` may become; the others stand before it, without the name of the program. A line each:
// "CANDIDATE<TAB>what it is", and at the end what else the shell offers: ":files", ":dirs", ":presets" (files, and the
// presets that are installed) or ":none". Candidates of "--flag=VALUE" have the flag, too.
std::string Complete(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace octavo
