// What import and grow share: the flags for reading edge lists, and running an import with progress and report.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "cmd/program.h"
#include "import/importer.h"
#include "io/atomic_file.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace octavo {

struct ImportFlags {
  ImportOptions options;
  std::string graph;
  std::string format = "auto";
  std::string separator;  // empty: detected
  std::string literals = "drop";
  std::string duplicates = "merge";
  bool directed = false;  // although the base is undirected
  CLI::Option* undirected_option = nullptr;
  CLI::Option* duplicates_option = nullptr;
  std::string self_loops = "keep";
  std::string unseen = "keep";
};

// Adds --valid, --test, --columns, --format and the other flags for turning lines into edges. `flags` must outlive the
// parsing.
void AddImportFlags(CLI::App& app, ImportFlags& flags);

// Imports and reports. Empty if a signal stopped it (reported, with the exit code) or if the import was only to be
// checked. If options.base is given, --undirected and --duplicates default to those of its import. `unnamed` as in
// Import.
absl::StatusOr<std::optional<ImportSummary>> RunImport(ImportFlags& flags, Program& program,
                                                       std::optional<AtomicFolder>* unnamed = nullptr);

}  // namespace octavo
