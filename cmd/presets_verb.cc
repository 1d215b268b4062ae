// octavo presets: lists the installed presets, or prints one.

#include <CLI/App.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cmd/presets.h"
#include "cmd/program.h"
#include "cmd/terminal.h"
#include "cmd/wrapped_text.h"
#include "fmt/format.h"
#include "io/file.h"

namespace octavo {
namespace {

constexpr std::size_t kNameColumn = 30;
constexpr std::uint64_t kMostPresetBytes = std::uint64_t{1} << 16;

// What a preset is for: the first sentence of the comment that it begins with.
std::string AboutText(const std::string& text) {
  std::string about;
  for (std::size_t at = 0; text.compare(at, 2, "# ") == 0 && text.compare(at, 3, "#  ") != 0;) {
    const std::size_t end = text.find('\n', at);
    about += (about.empty() ? "" : " ") + text.substr(at + 2, end - at - 2);
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return about.substr(0, about.find(". "));
}

absl::Status ListPresets() {
  std::string text;
  bool found = false;
  for (const std::string_view verb : VerbsWithPresets()) {
    text += fmt::format("{}octavo {} {}\n", text.empty() ? "" : "\n", verb, FlagOfPresets(verb));
    for (const std::string& name : InstalledPresets(verb)) {
      found = true;
      ASSIGN_OR_RETURN(const std::string preset, ReadWholeFile(InstalledPreset(name, verb), kMostPresetBytes));
      text += NameAndText(name, AboutText(preset), kNameColumn, TextColumns());
    }
  }
  if (!found) return NoPresets();
  fmt::print("{}\noctavo presets NAME prints a preset, with the commands that it belongs to and what they reach.\n",
             text);
  return absl::OkStatus();
}

absl::Status PrintPreset(const std::string& name) {
  bool found = false;
  for (const std::string_view verb : VerbsWithPresets()) {  // a name may be one of several
    const std::filesystem::path path = InstalledPreset(name, verb);
    if (path.empty()) continue;
    ASSIGN_OR_RETURN(const std::string preset, ReadWholeFile(path, kMostPresetBytes));
    fmt::print("{}# For octavo {} {}:\n{}", found ? "\n" : "", verb, FlagOfPresets(verb), preset);
    found = true;
  }
  if (found) return absl::OkStatus();
  return UnknownPreset(name, "", "");
}

}  // namespace

void AddPresetsVerb(CLI::App& app, Program& program) {
  const auto name = std::make_shared<std::string>();
  CLI::App& verb = *app.add_subcommand("presets", "List the presets with what each is for, or print one");
  verb.add_option("NAME", *name, "Preset to print")->type_name("PRESET");
  verb.callback([name, &program] {
    program.run = [name](Program&) { return name->empty() ? ListPresets() : PrintPreset(*name); };
  });
}

}  // namespace octavo
