#include "import/import_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "io/line_reader.h"
#include "parse/column_choice.h"
#include "parse/input_paths.h"

namespace octavo {

absl::StatusOr<std::vector<InputFile>> FilesOf(const ImportOptions& options, const Graph* base) {
  std::vector<InputFile> files;
  for (const Split split : {Split::kTrain, Split::kValid, Split::kTest}) {
    if (base != nullptr && base->description().Edges(split) > 0) {
      files.push_back({base->paths().Cells(split).string(), static_cast<EdgeSplit>(split), base});
    }
  }
  const auto add = [&](const std::string& pattern, EdgeSplit split) -> absl::Status {
    ASSIGN_OR_RETURN(std::vector<std::string> paths, ExpandPath(pattern));
    for (std::string& path : paths) files.push_back({std::move(path), split, nullptr});
    return absl::OkStatus();
  };
  for (const std::string& input : options.inputs) RETURN_IF_ERROR(add(input, EdgeSplit::kTrain));
  if (!options.valid.empty()) RETURN_IF_ERROR(add(options.valid, EdgeSplit::kValid));
  if (!options.test.empty()) RETURN_IF_ERROR(add(options.test, EdgeSplit::kTest));
  return files;
}

absl::Status CheckOptions(const ImportOptions& options, const std::vector<InputFile>& files) {
  if (options.inputs.empty()) return UsageError("no input; expected at least one edge list, or - for standard input");
  if (!options.split.empty() && (!options.valid.empty() || !options.test.empty())) {
    return UsageError("--split and --valid or --test; expected only one way to split");
  }
  if (!options.split.empty() && !options.base.empty()) {
    return UsageError(
        "--split and --base, whose edges are already split; expected --valid or --test for held-out ones");
  }
  const auto names_of_input =
      std::ranges::count(std::array{options.node_names, options.relation_names, options.labels}, "-");
  if (!options.label_choice.language.empty() && options.label_choice.predicate.empty()) {
    return UsageError("--label-language: found no --label-predicate; expected the IRI whose literals are labels");
  }
  std::error_code missing;
  if (!options.labels.empty() && options.labels != "-" && !std::filesystem::exists(options.labels, missing)) {
    return UsageError(fmt::format("{}: no such file", options.labels));
  }
  if (std::ranges::count(files, std::string("-"), &InputFile::path) + names_of_input > 1) {
    return UsageError("- (standard input) is given more than once; expected at most once");
  }
  for (const InputFile& file : files) {
    std::error_code error;
    if (file.path != "-" && !std::filesystem::exists(file.path, error)) {
      return UsageError(fmt::format("{}: no such file", file.path));
    }
    if (file.path == "-" || !options.overwrite) continue;
    const std::filesystem::path folder = std::filesystem::canonical(file.path, error).parent_path();
    if (!error && folder == std::filesystem::canonical(options.graph, error) && !error) {
      return UsageError(
          fmt::format("{}: is a file in the folder {}, which --overwrite replaces; expected an input "
                      "outside it",
                      file.path, options.graph.string()));
    }
  }
  return absl::OkStatus();
}

std::uint64_t TotalBytes(const std::vector<InputFile>& files) {
  std::uint64_t total = 0;
  for (const InputFile& file : files) {
    std::error_code error;
    if (file.path == "-" || !std::filesystem::is_regular_file(file.path, error)) return 0;
    total += std::filesystem::file_size(file.path, error);
  }
  return total;
}

absl::Status WithFirstLine(const absl::Status& refused, const std::vector<InputFile>& files,
                           const LayoutRequest& layout, const InputLimits& limits) {
  const auto file = std::ranges::find_if(files, [](const InputFile& each) { return each.base == nullptr; });
  std::error_code error;
  if (file == files.end() || !std::filesystem::is_regular_file(file->path, error)) return refused;  // "-" or a pipe
  const absl::StatusOr<std::optional<FileFormat>> format = PeekFormat(file->path, layout, limits);
  if (!format.ok() || !*format || !HasFields((*format)->format)) return refused;
  absl::StatusOr<LineReader> reader = LineReader::Open(file->path, limits);
  if (!reader.ok()) return refused;
  for (std::uint64_t line = 0; line < layout.skip_lines; ++line) {
    if (!reader->NextLine().ok()) return refused;
  }
  const absl::StatusOr<std::optional<std::string_view>> line = reader->Next();
  if (!line.ok() || !*line) return refused;
  const std::string fields = FirstLineText(**line, **format);
  if (fields.empty()) return refused;
  return UsageError(fmt::format("{}; the first line of {} has {}", MessageOf(refused), file->path, fields));
}

}  // namespace octavo
