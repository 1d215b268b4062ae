#include "walk/walk_graph.h"

#include <chrono>
#include <memory>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/stopwatch.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "graph/graph.h"
#include "graph/graph_copy.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "nlohmann/json.hpp"
#include "walk/pair_counter.h"
#include "walk/walk_pairs.h"
#include "walk/walk_source.h"

namespace octavo {
namespace {

using Clock = std::chrono::steady_clock;

absl::Status CheckGraph(const WalkGraphOptions& options, const Graph& graph) {
  RETURN_IF_ERROR(CheckWalkable(graph));
  std::error_code error;
  if (std::filesystem::equivalent(options.graph, options.output, error) && !error) {
    return UsageError(
        fmt::format("--output: found the graph itself, {}; expected another folder", options.graph.string()));
  }
  return absl::OkStatus();
}

class WalkGraph {
 public:
  WalkGraph(const WalkGraphOptions& options, const std::function<void(const WalkProgress&)>& progress)
      : options_(options), progress_(progress) {}

  absl::StatusOr<WalkSummary> Run() {
    RETURN_IF_ERROR(ValidateWalkOptions(options_.walk));
    ASSIGN_OR_RETURN(graph_, Graph::Open(options_.graph));
    RETURN_IF_ERROR(CheckGraph(options_, *graph_));
    graph_->DropBehind();
    RETURN_IF_ERROR(Plan());
    std::vector<std::string> names = GraphPaths::FileNames();
    for (const std::string_view name : {PairCounter::kFileName, kAdjacencyFileName, kWalkerFileName}) {
      names.emplace_back(name);
    }
    ASSIGN_OR_RETURN(AtomicFolder folder, AtomicFolder::Create(options_.output, options_.overwrite, std::move(names)));
    if (options_.check_only) return WalkSummary{.graph = graph_->description(), .streamed = plan_.streamed()};
    RETURN_IF_ERROR(folder.UnderFinalName(Make(GraphPaths(folder.path()))));
    if (options_.stop && options_.stop()) return absl::CancelledError("interrupted");
    RETURN_IF_ERROR(folder.Commit());
    summary_.write_seconds = SecondsSince(begin_) - summary_.walk_seconds;
    return std::move(summary_);
  }

 private:
  absl::Status Make(const GraphPaths& paths) {
    ASSIGN_OR_RETURN(const WrittenEdges written, WriteCells(paths));
    return Finish(paths, written);
  }

  absl::Status Plan() {
    if (options_.plan) {
      plan_ = *options_.plan;
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(plan_, PlanWalksOn(*graph_, options_.walk, options_.memory_bytes));
    return absl::OkStatus();
  }

  std::function<void(std::uint64_t, std::uint64_t)> Stage(std::string_view stage, std::string_view unit) const {
    if (!progress_) return nullptr;
    return [this, stage, unit](std::uint64_t done, std::uint64_t total) {
      progress_({.stage = stage, .unit = unit, .done = done, .total = total});
    };
  }

  // Takes the walks and writes the cells of all splits.
  absl::StatusOr<WrittenEdges> WriteCells(const GraphPaths& paths) {
    ASSIGN_OR_RETURN(WalkPairs made, WriteWalkPairs(*graph_, options_.walk, plan_, paths.folder(),
                                                    {.stop = options_.stop,
                                                     .walking = Stage("walking", "walks"),
                                                     .writing = Stage("writing", "pairs")}));
    summary_.walks = made.walks;
    summary_.pairs = made.pairs;
    summary_.streamed = plan_.streamed();
    summary_.spilled_bytes = made.spilled_bytes;
    summary_.walk_seconds = made.walk_seconds;
    for (const Split split : {Split::kValid, Split::kTest}) {
      ASSIGN_OR_RETURN(
          made.written.headers[static_cast<std::size_t>(split)],
          CopyCells(graph_->Edges(split), paths.Cells(split), WalkCellsLayout(graph_->description()), options_.stop));
    }
    return std::move(made.written);
  }

  // Edges were read from files opened at the start, names from files opened now by name; checks that both belong to the
  // same graph.
  absl::Status CheckSource() const {
    const absl::StatusOr<std::unique_ptr<Graph>> now = Graph::Open(options_.graph);
    if (now.ok() && (*now)->description().fingerprint == summary_.source_fingerprint) return absl::OkStatus();
    return RuntimeError(fmt::format(
        "{}: was replaced while its walks were taken: found {}, expected fingerprint {:016x}; walk again",
        options_.graph.string(),
        now.ok() ? fmt::format("fingerprint {:016x}", (*now)->description().fingerprint) : MessageOf(now.status()),
        summary_.source_fingerprint));
  }

  absl::Status WriteText(const std::filesystem::path& path, const std::string& text) {
    ASSIGN_OR_RETURN(File file, File::Create(path));
    RETURN_IF_ERROR(file.WriteAt(0, std::as_bytes(std::span<const char>(text))));
    return file.Close();
  }

  // Writes the rest of the graph: nodes, relations and description.
  absl::Status Finish(const GraphPaths& paths, const WrittenEdges& written) {
    RETURN_IF_ERROR(graph_->nodes().CheckAll(options_.stop));
    RETURN_IF_ERROR(CopyNodes(graph_->paths(), paths, options_.stop));
    if (graph_->labels() != nullptr) RETURN_IF_ERROR(CopyLabels(graph_->paths(), paths, options_.stop));
    GraphDescription& graph = summary_.graph;
    graph = graph_->description();
    summary_.source_fingerprint = graph.fingerprint;
    RETURN_IF_ERROR(CheckSource());
    graph.has_weights = true;
    graph.undirected = graph.keeps_duplicates = false;  // they describe input lines; these edges do not come from lines
    graph.train_edges = written.headers[0].edge_count;
    const std::string relations = fmt::format("{}\t{}\n", graph_->RelationName(RelationId{0}), graph.train_edges);
    RETURN_IF_ERROR(WriteText(paths.Relations(), relations));
    graph.fingerprint =
        GraphFingerprint(written.headers, graph_->nodes().hash_header(), graph_->nodes().offset_header(), relations);
    return WriteText(paths.Description(), EncodeGraphDescription(graph, WalkJson(options_.walk, summary_), "walk"));
  }

  const WalkGraphOptions& options_;
  const std::function<void(const WalkProgress&)>& progress_;
  std::unique_ptr<Graph> graph_;
  WalkPlan plan_;
  const Clock::time_point begin_ = Clock::now();
  WalkSummary summary_;
};

}  // namespace

absl::StatusOr<WalkSummary> MakeWalkGraph(const WalkGraphOptions& options,
                                          const std::function<void(const WalkProgress&)>& progress) {
  return WalkGraph(options, progress).Run();
}

std::string WalkJson(const WalkOptions& options, const WalkSummary& summary) {
  auto object = nlohmann::ordered_json::object();
  object["kind"] = WalkKindName(options.kind);
  if (options.windowed()) {
    object["walks"] = options.walks;
    object["length"] = options.length;
    object["window"] = options.window;
  } else {
    object["samples"] = options.samples;
    object["alpha"] = options.alpha;
  }
  if (options.kind == WalkKind::kNode2Vec) {
    object["p"] = options.p;
    object["q"] = options.q;
  }
  object["pairs"] = options.pairs == PairDirection::kBoth ? "both" : "forward";
  object["self_loops"] = options.keep_self_loops ? "keep" : "drop";
  object["seed"] = options.seed;
  object["source_fingerprint"] = fmt::format("{:016x}", summary.source_fingerprint);
  object["walks_taken"] = summary.walks;
  object["pairs_counted"] = summary.pairs;
  return object.dump();
}

}  // namespace octavo
