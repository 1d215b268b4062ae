// What import and grow share: the flags that say how edge lists are read, and an import with its progress and report.
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
  std::string literals = "drop";
  std::string duplicates = "merge";
  bool directed = false;  // although the base is not
  CLI::Option* undirected_option = nullptr;
  CLI::Option* duplicates_option = nullptr;
  std::string self_loops = "keep";
  std::string unseen = "keep";
};

// Adds --valid, --test, --columns, --format and what else says how lines become edges. `flags` must outlive the
// parsing.
void AddImportFlags(CLI::App& app, ImportFlags& flags);

// Imports and reports; empty where a signal stopped it, which is said and in the exit code, and where it was only to be
// checked. Where options.base is given, --undirected and --duplicates are those of its import unless the flags say
// otherwise. `unnamed` as of Import.
absl::StatusOr<std::optional<ImportSummary>> RunImport(ImportFlags& flags, Program& program,
                                                       std::optional<AtomicFolder>* unnamed = nullptr);

}  // namespace octavo
