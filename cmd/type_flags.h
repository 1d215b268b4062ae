// The flags of the verbs that tell plausible answers from others by their types: --typed, --types and --type-share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cmd/program.h"
#include "evaluate/node_labels.h"
#include "evaluate/type_rules.h"
#include "run/trained_run.h"

namespace CLI {
class App;
}  // namespace CLI

namespace octavo {

struct TypeFlags {
  bool typed = false;
  std::string types;  // file; empty: none
  double share = kTypeShare;
};

// Adds the flags; `help` is that of --typed. `flags` must outlive the parsing.
void AddTypeFlags(CLI::App& app, TypeFlags& flags, const std::string& help);

// Reads the file of --types, if any; warns of nodes that the graph lacks. `verb` is the command, for a message about
// --memory.
absl::StatusOr<std::optional<NodeLabels>> ReadTypes(Program& program, std::string_view verb, TrainedRun& run,
                                                    const TypeFlags& flags);

// Refers to `types`.
TypeRuleOptions TypeRuleOptionsOf(const TypeFlags& flags, const std::optional<NodeLabels>& types);

// Memory of the given types, and the number of different ones.
inline std::uint64_t TypeBytes(const std::optional<NodeLabels>& types) { return types ? types->Bytes() : 0; }
inline std::uint64_t TypeCount(const std::optional<NodeLabels>& types) { return types ? types->names.size() : 0; }

}  // namespace octavo
