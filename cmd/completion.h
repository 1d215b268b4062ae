// Completion in shells: each shell's script (octavo completion SHELL) calls `octavo __complete WORD...` to ask the
// program what is allowed at a place, so completion always matches the parser.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace octavo {

// Returns the completions of the last of `words`; the others precede it, without the program's name. One line each:
// "CANDIDATE<TAB>description". The last line says what else the shell offers: ":files", ":dirs", ":presets" (files and
// installed presets) or ":none". Candidates for "--flag=VALUE" include the flag.
std::string Complete(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace octavo
