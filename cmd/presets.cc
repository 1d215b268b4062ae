#include "cmd/presets.h"

#include <algorithm>
#include <system_error>

namespace octavo {
namespace {

namespace fs = std::filesystem;

fs::path PresetFolder(std::string_view verb) {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().parent_path() / "share/octavo/configs" /
         (verb == "walk" || verb == "tune" ? verb : "");
}

}  // namespace

std::vector<std::string> InstalledPresets(std::string_view verb) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(PresetFolder(verb), error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".toml") names.push_back(entry->path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path PresetPath(const std::string& config, std::string_view verb) {
  std::error_code error;
  const bool is_file = fs::exists(config, error) && !fs::is_directory(config, error);
  if (is_file || config.find('/') != std::string::npos) return config;
  fs::path preset = PresetFolder(verb) / config;
  if (preset.extension() != ".toml") preset += ".toml";
  return fs::exists(preset, error) ? preset : fs::path(config);
}

}  // namespace octavo
