// The outputs of verbs: files beside a run, and folders that are yet to be made.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "cmd/run_flags.h"
#include "export/output_file.h"
#include "graph/graph.h"

namespace octavo {

// Rejects a path that is a file of the run or the graph; `flag` is for the message.
absl::Status CheckTarget(std::string_view flag, const std::string& path, const RunFlags& flags, const Graph& graph);

// Rejects an `output` that would not be a regular file: standard output, a device, a pipe, .gz, .zst. Rejects an
// `output` or its `header_path`, the file beside it, that is a file of the run or the graph. `what`, such as "an
// index", is for the message, which names --output.
absl::Status CheckRegularTarget(std::string_view what, const std::string& output,
                                const std::filesystem::path& header_path, const RunFlags& flags, const Graph& graph);

// Returns ", replacing the existing file", or nothing if there was none.
std::string_view ReplacedText(const OutputFile& output);

// Returns the existing part of the path of a future folder; the current folder for "".
std::filesystem::path ExistingFolder(const std::string& path);

}  // namespace octavo
