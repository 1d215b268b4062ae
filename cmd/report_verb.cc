// octavo report: shows a run as one page of HTML.

#include <fmt/chrono.h>
#include <sys/stat.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/count_text.h"
#include "base/status.h"
#include "checkpoint/state_file.h"
#include "cmd/evaluate.h"
#include "cmd/flags.h"
#include "cmd/interrupt.h"
#include "cmd/opened_run.h"
#include "cmd/output_target.h"
#include "cmd/program.h"
#include "cmd/reading_memory.h"
#include "cmd/report_examples.h"
#include "cmd/run_flags.h"
#include "cmd/version_facts.h"
#include "evaluate/nearest.h"
#include "evaluate/node_labels.h"
#include "export/output_file.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "layout/map_file.h"
#include "layout/principal_plane.h"
#include "report/page.h"
#include "run/run_configuration.h"
#include "run/run_exchange.h"

namespace octavo {
namespace {

constexpr std::uint64_t kMostExamples = 100;
constexpr std::uint64_t kMostNodes = 20'000;  // of the map: a page of some megabytes
// The page without its map while it is assembled: a few hundred thousand bytes, in a few copies.
constexpr std::uint64_t kPageBytes = std::uint64_t{4} << 20;

constexpr std::uint64_t kClassOrderBytes = 24;  // per class, while they are counted and sorted

struct ReportFlags {
  RunFlags run;
  std::string output;
  std::uint64_t sample = 5000;
  std::string labels;
  std::string map;    // empty: the principal plane of the nodes that are drawn
  std::string split;  // empty: valid, if the graph has valid edges
  std::uint64_t evaluation_sample = 5000;
  bool no_evaluation = false;
  std::uint64_t examples = 3;
};

absl::StatusOr<std::string> WhenWritten(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return ErrnoError(fmt::format("stat {}", path.string()), errno);
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(status.st_mtime));
}

// The split to rank; empty if there is nothing to rank.
std::optional<Split> SplitToRank(const ReportFlags& flags, const Graph& graph) {
  if (flags.no_evaluation) return std::nullopt;
  for (const Split split : {Split::kTrain, Split::kValid, Split::kTest}) {
    if (SplitName(split) == flags.split) return split;
  }
  return graph.description().valid_edges > 0 ? std::optional(Split::kValid) : std::nullopt;
}

RankingOptions RankingOf(const ReportFlags& flags, Split split) {
  return {.split = split, .sample = flags.evaluation_sample, .per_relation = true};
}

absl::StatusOr<HeldOutQuality> RankEdges(Program& program, const ReportFlags& flags, const TrainedRun& run, Split split,
                                         std::uint64_t memory_bytes) {
  EvaluationClock clock(program, "ranking");
  RankingOptions options = RankingOf(flags, split);
  options.memory_bytes = memory_bytes;
  options.progress = [&](double share) { clock.Show(share); };
  HeldOutQuality quality = {.split = std::string(SplitName(split)), .edges = run.graph->Edges(split).edge_count()};
  ASSIGN_OR_RETURN(quality.ranks, RankTriples(EmbeddedOf(run), options));
  for (const RankingReport::Relation& relation : quality.ranks.relations) {
    quality.relations.push_back(
        {TextWithName(run.graph->RelationName(relation.relation), run.graph->LabelOf(relation.relation)),
         relation.triples, relation.tail.filtered.MeanReciprocalRank(), relation.head.filtered.MeanReciprocalRank()});
  }
  return quality;
}

// Returns the numbers 0, 1, ..., those of the highest counts first.
std::vector<std::uint32_t> ByCount(const std::vector<std::uint64_t>& counts) {
  std::vector<std::uint32_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::uint32_t i) { return counts[i]; });
  return order;
}

// Gives each node of the map that one of its classes which most of the map's nodes have. The legend has the classes in
// the order of how many nodes are drawn in their colours.
void AddClasses(const NodeLabels& classes, const std::vector<SurveyedNode>& nodes, EmbeddingMap& map) {
  const auto of = [&](std::uint64_t node) -> std::span<const std::uint32_t> {
    const auto found = std::lower_bound(classes.nodes.begin(), classes.nodes.end(), node);
    if (found == classes.nodes.end() || *found != node) return {};
    return classes.Of(static_cast<std::size_t>(found - classes.nodes.begin()));
  };
  std::vector<std::uint64_t> members(classes.names.size());
  for (const SurveyedNode& node : nodes) {
    for (const std::uint32_t each : of(node.node)) ++members[each];
  }
  std::vector<std::optional<std::uint32_t>> drawn(nodes.size());
  std::vector<std::uint64_t> counts(members.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    // Of equally frequent classes the first, as in the order of the file's names.
    for (const std::uint32_t each : of(nodes[i].node)) {
      if (!drawn[i] || members[each] > members[*drawn[i]]) drawn[i] = each;
    }
    if (drawn[i]) ++counts[*drawn[i]];
  }
  const std::vector<std::uint32_t> order = ByCount(counts);
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  for (std::size_t i = 0; i < std::min(order.size(), kMostMapClasses); ++i) {
    map.classes.push_back(MapName(classes.names[order[i]]));
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!drawn[i]) continue;
    map.nodes[i].node_class = std::min(place[*drawn[i]], static_cast<std::uint32_t>(kMostMapClasses));
  }
}

// Opens --map; empty if the flag was not given.
absl::StatusOr<std::optional<MapFile>> OpenMap(const ReportFlags& flags, const TrainedRun& run) {
  if (flags.map.empty()) return std::nullopt;
  ASSIGN_OR_RETURN(MapFile map, MapFile::Open(flags.map));
  RETURN_IF_ERROR(map.CheckCurrent(run.run_id, run.generation, run.graph->node_count(), flags.run.run));
  return std::optional<MapFile>(std::move(map));
}

// Returns the points of the nodes `ids`: those of `file`, if any, or on their principal axes.
absl::StatusOr<PrincipalPlane> PlaceNodes(const TrainedRun& run, const std::vector<std::uint64_t>& ids,
                                          const std::optional<MapFile>& file, const ReadingMemory& memory) {
  if (!file) return ProjectNodes(EmbeddedOf(run), ids, memory.bytes);
  PrincipalPlane plane = {.points = {}, .variance_shares = file->header().variance_shares};
  for (const std::uint64_t id : ids) {
    const MapPoint& point = file->points()[id];
    plane.points.push_back({static_cast<double>(point[0]), static_cast<double>(point[1])});
  }
  if (memory.drops_behind) file->ForgetPoints();
  return plane;
}

absl::StatusOr<EmbeddingMap> MakeMap(const TrainedRun& run, const std::vector<SurveyedNode>& nodes,
                                     const NodeLabels& classes, const std::optional<MapFile>& file,
                                     const ReadingMemory& memory) {
  std::vector<std::uint64_t> ids;
  for (const SurveyedNode& node : nodes) ids.push_back(node.node);
  ASSIGN_OR_RETURN(const PrincipalPlane plane, PlaceNodes(run, ids, file, memory));
  EmbeddingMap map = {.by_neighbors = file && file->header().kind == MapKind::kNeighbors,
                      .x_share = plane.variance_shares[0],
                      .y_share = plane.variance_shares[1]};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeId node{ids[i]};
    map.nodes.push_back({.name = MapName(run.graph->nodes().Name(node), run.graph->LabelOf(node)),
                         .degree = nodes[i].degree,
                         .x = plane.points[i][0],
                         .y = plane.points[i][1]});
    if (memory.drops_behind) run.graph->ForgetTexts(ids[i], 1);
  }
  AddClasses(classes, nodes, map);
  return map;
}

// Reads --labels, or nothing if the flag was not given.
absl::StatusOr<NodeLabels> ReadClasses(Program& program, const ReportFlags& flags, TrainedRun& run) {
  if (flags.labels.empty()) return NodeLabels{};
  // If there is too little memory even for them, a few are still read: the next message then names a sufficient amount.
  const absl::StatusOr<ReadingMemory> before = ShareReadingMemory(program, "report --labels", run, kLeastLabelBytes);
  ASSIGN_OR_RETURN(NodeLabels labels,
                   ReadNodeLabels(*run.graph, flags.labels, before.ok() ? before->bytes : kLeastLabelBytes));
  if (labels.unknown.lines > 0) {
    program.reporter.Warning(fmt::format("{}: left out {} with names that the graph lacks", flags.labels,
                                         CountText(labels.unknown.lines, "line")));
  }
  return labels;
}

absl::StatusOr<RunPage> DescribePage(const ReportFlags& flags, const TrainedRun& run, const Manifest& manifest) {
  const RunPaths paths(flags.run.run);
  RunPage page = {.version = std::string(kVersion),
                  .run = std::filesystem::absolute(flags.run.run),
                  .graph = run.graph->paths().folder(),
                  .description = run.graph->description()};
  ASSIGN_OR_RETURN(RunConfiguration configuration, ReadRunConfiguration(paths.Configuration()));
  page.options = std::move(configuration.options);
  ASSIGN_OR_RETURN(page.committed, WhenWritten(paths.State()));
  const Progress& progress = manifest.header.progress;
  page.epochs_done = progress.epoch;
  page.batches_done = progress.batch;
  ASSIGN_OR_RETURN(page.history, ReadRunHistory(paths.Metrics(), progress.metrics_bytes));
  if (progress.partitions > progress.resident) {
    page.residency = PlannedResidency(progress, page.options, run.graph->Edges(Split::kTrain));
  }
  return page;
}

absl::Status RunReport(Program& program, const ReportFlags& flags) {
  const EndOnInterrupt end(program, flags.output == "-" ? "the page" : flags.output);
  RETURN_IF_ERROR(CheckSettled(RunPaths(flags.run.run)));
  ASSIGN_OR_RETURN(const Manifest manifest, ReadNewestManifest(RunPaths(flags.run.run).State()));
  ASSIGN_OR_RETURN(TrainedRun run, OpenRun(program, flags.run));
  RETURN_IF_ERROR(CheckTarget("--output", flags.output, flags.run, *run.graph));
  ASSIGN_OR_RETURN(OutputFile output, OutputFile::Open(flags.output));
  ASSIGN_OR_RETURN(const NodeLabels classes, ReadClasses(program, flags, run));
  ASSIGN_OR_RETURN(const std::optional<MapFile> map_file, OpenMap(flags, run));
  const std::optional<Split> split = SplitToRank(flags, *run.graph);
  const std::uint64_t nodes = std::min(flags.sample, run.graph->node_count());
  // Memory held from beginning to end, in addition to the work of one part at a time. An event of the history takes no
  // more than its line.
  const std::uint64_t held = kPageBytes + ExampleBytes(flags.examples) + nodes * kMapNodeBytes +
                             2 * manifest.header.progress.metrics_bytes + classes.Bytes() +
                             classes.names.size() * kClassOrderBytes +
                             std::min(classes.names.size(), kMostMapClasses) * kMapNodeBytes;
  std::uint64_t least = LeastSurveyMemory(EmbeddedOf(run), nodes);
  if (nodes > 0) least = std::max(least, LeastPlaneMemory(EmbeddedOf(run), nodes));
  if (split) {
    least =
        std::max(least, LeastRankingMemory(*run.graph, run.model, RankingOf(flags, *split), ReadingThreads(program)));
  }
  if (flags.examples > 0) least = std::max(least, LeastSearchMemory(EmbeddedOf(run)));
  ASSIGN_OR_RETURN(ReadingMemory memory, ShareReadingMemory(program, "report", run, held + least));
  memory.bytes -= held;

  ASSIGN_OR_RETURN(RunPage page, DescribePage(flags, run, manifest));
  if (split) {
    ASSIGN_OR_RETURN(page.quality, RankEdges(program, flags, run, *split, memory.bytes));
  }
  EvaluationClock clock(program, "reading the embeddings");
  const SurveyOptions options = {
      .top = nodes, .first = classes.nodes, .memory_bytes = memory.bytes, .progress = [&](double share) {
        clock.Show(share);
      }};
  ASSIGN_OR_RETURN(NodeSurvey survey, SurveyNodes(EmbeddedOf(run), options));
  page.norms = std::move(survey.norms);
  // No training edge has placed them: negatives alone move them, all the same way.
  std::erase_if(survey.top, [](const SurveyedNode& node) { return node.degree == 0; });
  if (!survey.top.empty()) {
    ASSIGN_OR_RETURN(page.map, MakeMap(run, survey.top, classes, map_file, memory));
  }
  if (flags.examples > 0) {
    EvaluationClock searching(program, "finding examples");
    ASSIGN_OR_RETURN(page.examples, MakeExamples(run, survey.top, split, flags.examples, memory.bytes,
                                                 [&](double share) { searching.Show(share); }));
  }
  RETURN_IF_ERROR(run.graph->TextStatus());
  RETURN_IF_ERROR(output.Append(ToHtml(page)));
  RETURN_IF_ERROR(output.Commit());
  program.reporter.EndProgress();
  program.reporter.Info(
      fmt::format("{}: {}{}", output.name(), FormatByteSize(output.bytes_written()), ReplacedText(output)));
  return WarnIfCommitted(program, flags.run, run);
}

}  // namespace

void AddReportVerb(CLI::App& app, Program& program) {
  CLI::App* verb =
      app.add_subcommand("report", "Draw a run as one page of HTML: curves, ranks, a map of the embeddings");
  const auto flags = std::make_shared<ReportFlags>();
  AddRunFlags(*verb, flags->run);
  RefuseEmpty(
      verb->add_option("--output", flags->output, "File to write, replacing an existing one; - for standard output"))
      ->required()
      ->type_name("FILE");
  AddWholeNumber(*verb, "--sample", flags->sample, 0, kMostNodes,
                 "Nodes of the map, those with the highest degrees; 0: no map");
  RefuseEmpty(
      verb->add_option(
          "--labels", flags->labels,
          "Colour the map by classes: a file of lines NODE<TAB>CLASS [CLASS ...]; nodes with a class are preferred"))
      ->type_name("FILE");
  RefuseEmpty(verb->add_option("--map", flags->map,
                               "Map of the run that octavo map made, to draw instead of the principal components"))
      ->type_name("FILE");
  AddWholeNumber(
      *verb, "--examples", flags->examples, 0, kMostExamples,
      "Nodes whose neighbours, and held-out edges whose likeliest tails are shown; each takes a pass over the "
      "embeddings");
  CLI::Option* const split =
      verb->add_option("--split", flags->split, "Held-out edges to rank; by default valid, if there are any")
          ->check(CLI::IsMember({"train", "valid", "test"}))
          ->type_name("NAME");
  AddWholeNumber(*verb, "--evaluation-sample", flags->evaluation_sample, 0, std::uint64_t{1} << 40,
                 "Rank this many random edges of the split; 0: all of them");
  verb->add_flag("--no-evaluation", flags->no_evaluation, "Do not rank edges")
      ->excludes(split)
      ->excludes("--evaluation-sample");
  verb->footer(
      "The page needs no network and no other file. It shows the last commit, also during a training, and is the\n"
      "same for the same run.");
  verb->final_callback([&program, flags] { program.run = [flags](Program& p) { return RunReport(p, *flags); }; });
}

}  // namespace octavo
