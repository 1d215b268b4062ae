#include "cmd/presets.h"

#include <algorithm>
#include <system_error>

#include "base/escape.h"
#include "base/status.h"
#include "cmd/usage.h"
#include "evaluate/near_names.h"
#include "fmt/format.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVerbs[] = {"train", "walk", "tune"};

fs::path PresetFolder(std::string_view verb) {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().parent_path() / "share/octavo/configs" /
         (verb == "walk" || verb == "tune" ? verb : "");
}

}  // namespace

std::span<const std::string_view> VerbsWithPresets() { return kVerbs; }

std::string_view FlagOfPresets(std::string_view verb) {
  return verb == "tune" ? "--space" : verb == "train" || verb == "walk" || verb == "plan" ? "--config" : "";
}

std::vector<std::string> InstalledPresets(std::string_view verb) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(PresetFolder(verb), error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".toml") names.push_back(entry->path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path InstalledPreset(const std::string& name, std::string_view verb) {
  std::error_code error;
  fs::path preset = PresetFolder(verb) / name;
  if (preset.extension() != ".toml") preset += ".toml";
  return fs::exists(preset, error) ? preset : fs::path();
}

absl::StatusOr<fs::path> FindPreset(const std::string& config, std::string_view verb, std::string_view flag) {
  std::error_code error;
  const bool is_file = fs::exists(config, error) && !fs::is_directory(config, error);
  if (is_file || config.find('/') != std::string::npos) return config;
  if (fs::path preset = InstalledPreset(config, verb); !preset.empty()) return preset;
  if (fs::exists(config, error)) return config;  // a folder, which whoever reads it names
  return UnknownPreset(config, verb, flag);
}

absl::Status NoPresets() {
  return RuntimeError(
      fmt::format("no presets in {}; expected the program in bin/ beside the share/ that was installed with it",
                  PresetFolder("").parent_path().string()));
}

absl::Status UnknownPreset(const std::string& name, std::string_view verb, std::string_view flag) {
  const std::string stem = name.ends_with(".toml") ? name.substr(0, name.size() - 5) : name;
  const std::string found = fmt::format("\"{}\" is neither a file nor a preset", Escape(name));
  for (const std::string_view other : VerbsWithPresets()) {
    if (verb.empty() || InstalledPreset(stem, other).empty()) continue;
    return UsageError(fmt::format("{} \"{}\": a preset of octavo {}; octavo presets lists those of octavo {}", flag,
                                  Escape(name), other, verb));
  }
  std::vector<std::string> names;
  for (const std::string_view each : VerbsWithPresets()) {
    if (!verb.empty() && each != verb) continue;
    const std::vector<std::string> installed = InstalledPresets(each);
    names.insert(names.end(), installed.begin(), installed.end());
  }
  const std::string place = flag.empty() ? "" : fmt::format("{}: ", flag);
  if (names.empty()) return UsageError(fmt::format("{}{}; {}", place, found, MessageOf(NoPresets())));
  const std::string meant =
      DidYouMean(NearNames(stem, names.size(), [&](std::uint64_t i) -> std::string_view { return names[i]; }));
  return UsageError(fmt::format("{}{}{} octavo presets lists them", place, found, meant.empty() ? ";" : meant));
}

}  // namespace octavo
