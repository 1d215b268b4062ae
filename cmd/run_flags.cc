#include "cmd/run_flags.h"

#include <CLI/App.hpp>

#include "base/status.h"
#include "cmd/flags.h"
#include "fmt/format.h"

namespace octavo {

void AddRunFlags(CLI::App& app, RunFlags& flags) {
  RefuseEmpty(app.add_option("--run", flags.run, "Run folder that octavo train made"))->required()->type_name("DIR");
  RefuseEmpty(app.add_option("--graph", flags.graph, "Graph folder, if it is no longer where the training found it"))
      ->type_name("DIR");
}

void AddPartFlag(CLI::App& app, std::string& part, const std::string& what) {
  app.add_option("--part", part, what)
      ->check(CLI::IsMember({"source", "context", "all"}))
      ->type_name("NAME")
      ->capture_default_str();
}

absl::StatusOr<RowPart> ParsePart(std::string_view part, std::string_view table, const TrainedRun& run) {
  if (part == "all") return RowPart::kAll;
  if (table != "embeddings" || run.model.kind != ModelKind::kSourceContext) {
    return UsageError(
        fmt::format("--part {}: found {} of the {} model; expected embeddings of source-context, whose "
                    "rows are [source | context]",
                    part, table, ModelName(run.model.kind)));
  }
  return part == "source" ? RowPart::kSource : RowPart::kContext;
}

}  // namespace octavo
