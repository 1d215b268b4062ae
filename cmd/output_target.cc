#include "cmd/output_target.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/status.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "io/compressed_output.h"
#include "io/resolved_path.h"

namespace octavo {

absl::Status CheckTarget(std::string_view flag, const std::string& path, const RunFlags& flags, const Graph& graph) {
  const GraphPaths& paths = graph.paths();
  std::vector<std::filesystem::path> own = RunPaths(flags.run).All();
  for (const std::string& name : GraphPaths::FileNames()) own.push_back(paths.folder() / name);
  ASSIGN_OR_RETURN(const std::filesystem::path target, ResolvedPath(path));
  for (const std::filesystem::path& file : own) {
    ASSIGN_OR_RETURN(const std::filesystem::path resolved, ResolvedPath(file));
    if (resolved != target) continue;
    return UsageError(fmt::format("{} {}: is a file of the run or its graph; choose another name", flag, path));
  }
  return absl::OkStatus();
}

absl::Status CheckRegularTarget(std::string_view what, const std::string& output,
                                const std::filesystem::path& header_path, const RunFlags& flags, const Graph& graph) {
  std::error_code ignored;
  const bool stream = std::filesystem::exists(output, ignored) && !std::filesystem::is_regular_file(output, ignored) &&
                      !std::filesystem::is_directory(output, ignored);
  if (output == "-" || stream || CompressionOfExtension(output) != Compression::kNone) {
    return UsageError(fmt::format(
        "--output {}: {} must be a regular file; expected the name of a file, and not one that ends in .gz or .zst",
        output, what));
  }
  RETURN_IF_ERROR(CheckTarget("--output", output, flags, graph));
  return CheckTarget("--output", header_path.string(), flags, graph);
}

std::string_view ReplacedText(const OutputFile& output) {
  return output.replaces() ? ", replacing the existing file" : "";
}

std::filesystem::path ExistingFolder(const std::string& path) {
  std::filesystem::path folder = path.empty() ? "." : std::filesystem::absolute(path);
  std::error_code error;
  while (!std::filesystem::is_directory(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

}  // namespace octavo
