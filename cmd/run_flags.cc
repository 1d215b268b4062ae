#include "cmd/run_flags.h"

#include <CLI/App.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <system_error>
#include <vector>

#include "base/count_text.h"
#include "base/escape.h"
#include "base/status.h"
#include "checkpoint/run_replacement.h"
#include "cmd/flags.h"
#include "cmd/usage.h"
#include "evaluate/near_names.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "io/file.h"
#include "oneapi/tbb/info.h"
#include "plan/memory_budget.h"
#include "train/run_configuration.h"
#include "train/run_exchange.h"

namespace octavo {
namespace {

constexpr std::uint64_t kNamesAhead = 16'384;
constexpr std::chrono::milliseconds kSameEndTime(1000);  // of an error in a graph of tens of millions of names
constexpr std::size_t kMostShownBytes = 300;             // of a name that is to be copied

// Of names whose end was typed.
std::string SameEndText(std::string_view kind, const SameEnd& same) {
  const std::string_view looked_at = same.whole ? "" : " of those that were looked at";
  if (same.matches == 1) {
    return fmt::format("; one {}{} ends with that behind a / or #: \"{}\"; expected its whole name", kind, looked_at,
                       EscapeName(same.names[0], kMostShownBytes));
  }
  std::string names;
  for (const std::string& name : same.names) {
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", EscapeName(name, kMostShownBytes));
  }
  return fmt::format("; {} {}s{} end with that behind a / or #, such as {}; expected a whole name", same.matches, kind,
                     looked_at, names);
}

absl::Status UnknownName(std::string_view kind, const Graph& graph, std::string_view name, std::uint64_t size,
                         const std::function<std::string_view(std::uint64_t)>& name_of) {
  const SameEnd same = FindNamesEnding(name, size, name_of, kSameEndTime);
  return UsageError(
      fmt::format("{}: no {} \"{}\"{}", graph.paths().folder().string(), kind, EscapeName(name),
                  same.matches > 0 ? SameEndText(kind, same) : DidYouMean(NearNames(name, size, name_of))));
}

}  // namespace

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

absl::Status CheckGraphPlace(const std::string& run, std::string_view flag) {
  // What is there is the older run's where one is being replaced.
  ASSIGN_OR_RETURN(const bool replaced, IsBeingReplaced(RunPaths(run)));
  if (replaced) return absl::OkStatus();
  const absl::StatusOr<RunConfiguration> configuration = ReadRunConfiguration(RunPaths(run).Configuration());
  if (!configuration.ok()) return absl::OkStatus();
  std::error_code error;
  const bool there = std::filesystem::exists(GraphPaths(configuration->graph).Description(), error);
  if (there || error) return absl::OkStatus();
  return UsageError(fmt::format("{}: was trained on the graph {}, where there is none now; {} DIR names its new place",
                                run, configuration->graph.string(), flag));
}

absl::StatusOr<TrainedRun> OpenRun(const RunFlags& flags) {
  if (flags.graph.empty()) RETURN_IF_ERROR(CheckGraphPlace(flags.run, "--graph"));
  return OpenTrainedRun(flags.run, flags.graph);
}

absl::Status WarnIfToBeReplaced(Program& program, const std::string& run) {
  const RunPaths next = RunPaths(run).Replacement();
  ASSIGN_OR_RETURN(const bool made, FileExists(next.State()));
  ASSIGN_OR_RETURN(const ReplacementStage stage, StageOfReplacement(RunPaths(run)));
  if (made && stage == ReplacementStage::kMaking) {
    program.reporter.Warning(fmt::format(
        "{}: a run that is to take the place of {}, which still stands; where no training is at it any more, "
        "octavo resume removes it, and what made it makes it again",
        next.folder().string(), run));
  }
  return absl::OkStatus();
}

absl::Status WarnIfCommitted(Program& program, const RunFlags& flags, const TrainedRun& run) {
  ASSIGN_OR_RETURN(const bool committed, CommittedSince(flags.run, run));
  if (committed) {
    program.reporter.Warning(
        fmt::format("{}: a training committed while generation {} was read: live rows, of several commits", flags.run,
                    run.generation));
  }
  return absl::OkStatus();
}

std::filesystem::path CanonicalPath(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
}

absl::Status CheckTarget(std::string_view flag, const std::string& path, const RunFlags& flags, const Graph& graph) {
  const GraphPaths& paths = graph.paths();
  std::vector<std::filesystem::path> own = RunPaths(flags.run).All();
  for (const std::string& name : GraphPaths::FileNames()) own.push_back(paths.folder() / name);
  const std::filesystem::path target = CanonicalPath(path);
  for (const std::filesystem::path& file : own) {
    if (CanonicalPath(file) != target) continue;
    return UsageError(fmt::format("{} {}: is a file of the run or its graph; choose another name", flag, path));
  }
  return absl::OkStatus();
}

std::string_view ReplacedText(const OutputFile& output) {
  return output.replaces() ? ", in place of the file that was there" : "";
}

EmbeddedGraph EmbeddedOf(const TrainedRun& run) {
  return {*run.graph, run.embeddings, run.relations, run.model, run.reciprocal};
}

std::string DescribeRun(const TrainedRun& run) {
  return fmt::format("{}{}, dim {}, {}", ModelName(run.model.kind), run.reciprocal ? " with reciprocals" : "",
                     run.model.dim, CountText(run.epochs_done, "epoch"));
}

std::uint64_t MemoryLimit(const Program& program) {
  return program.options.memory > 0 ? program.options.memory : DefaultMemoryLimit();
}

int ThreadCount(const Program& program) {
  return program.options.threads > 0 ? program.options.threads : tbb::info::default_concurrency();
}

absl::StatusOr<NodeId> FindNode(const Graph& graph, std::string_view name, bool suggest) {
  if (const std::optional<NodeId> node = graph.nodes().Find(name)) return *node;
  return UnknownName("node", graph, name, suggest ? graph.node_count() : 0, NodeNamesInTurn(graph));
}

absl::StatusOr<RelationId> FindRelation(const Graph& graph, std::string_view name, bool suggest) {
  if (const std::optional<RelationId> relation = graph.FindRelation(name)) return *relation;
  return UnknownName("relation", graph, name, suggest ? graph.relation_count() : 0, RelationNamesInTurn(graph));
}

std::function<std::string_view(std::uint64_t)> NodeNamesInTurn(const Graph& graph) {
  return [&graph](std::uint64_t i) {
    if (i % kNamesAhead == 0) {
      graph.nodes().Forget(i - std::min(i, kNamesAhead), std::min(i, kNamesAhead));
      graph.nodes().WillRead(i, std::min(kNamesAhead, graph.node_count() - i));
    }
    return graph.nodes().Name(NodeId{i});
  };
}

std::function<std::string_view(std::uint64_t)> RelationNamesInTurn(const Graph& graph) {
  return [&graph](std::uint64_t i) { return graph.RelationName(RelationId{static_cast<std::uint32_t>(i)}); };
}

}  // namespace octavo
