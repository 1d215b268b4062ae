#include "cmd/type_flags.h"

#include <CLI/App.hpp>
#include <utility>

#include "base/status.h"
#include "cmd/evaluate.h"
#include "cmd/flags.h"
#include "cmd/reading_memory.h"

namespace octavo {

void AddTypeFlags(CLI::App& app, TypeFlags& flags, const std::string& help) {
  CLI::Option* const typed = app.add_flag("--typed", flags.typed, help);
  RefuseEmpty(app.add_option("--types", flags.types,
                             "With --typed: judge by the types in this file of lines NODE<TAB>TYPE [TYPE ...]"))
      ->type_name("FILE")
      ->needs(typed);
  AddRealNumber(app, "--type-share", flags.share, 0.0001, 1,
                "With --typed: share of the nodes seen at the asked end of the relation that must have what a "
                "plausible answer has")
      ->needs(typed);
}

absl::StatusOr<std::optional<NodeLabels>> ReadTypes(Program& program, std::string_view verb, TrainedRun& run,
                                                    const TypeFlags& flags) {
  if (flags.types.empty()) return std::optional<NodeLabels>();
  ASSIGN_OR_RETURN(const ReadingMemory memory, ShareReadingMemory(program, verb, run, kLeastLabelBytes));
  ASSIGN_OR_RETURN(NodeLabels types, ReadNodeLabels(*run.graph, flags.types, memory.bytes));
  WarnOfUnknownNames(program, flags.types, types.unknown, *run.graph);
  return std::optional<NodeLabels>(std::move(types));
}

TypeRuleOptions TypeRuleOptionsOf(const TypeFlags& flags, const std::optional<NodeLabels>& types) {
  TypeRuleOptions options;
  options.share = flags.share;
  if (types) options.types = &*types;
  return options;
}

}  // namespace octavo
