// octavo evaluate --link-prediction: how well scores separate held-out edges from pairs that are not edges.

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "base/count_text.h"
#include "base/status.h"
#include "cmd/evaluate.h"
#include "cmd/opened_run.h"
#include "cmd/reading_memory.h"
#include "cmd/run_flags.h"
#include "evaluate/edge_list.h"
#include "format/paths.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

Json ReportObject(const HeldOutFlags& flags, const LinkPredictionOptions& options, const TrainedRun& run,
                  const LinkPredictionReport& report, double seconds) {
  Json object = Json::object();
  object["auc"] = report.auc;
  object["average_precision"] = report.average_precision;
  if (!flags.negatives.empty()) {
    for (std::size_t i = 0; i < kSharedHits.size(); ++i) {
      object[fmt::format("hits@{}", kSharedHits[i])] = report.hits[i];
    }
  }
  object["edges"] = report.edges;
  object["non_edges"] = report.non_edges;
  if (!flags.negatives.empty()) object["negatives_file"] = flags.negatives;
  if (!flags.candidates.empty()) object["candidates_file"] = flags.candidates;
  object["split"] = SplitName(options.split);
  object["seed"] = options.seed;
  AddRunKeys(object, run, seconds);
  return object;
}

std::string NegativesText(const HeldOutFlags& flags, const LinkPredictionReport& report) {
  if (!flags.negatives.empty())
    return fmt::format("{} of {}", CountText(report.non_edges, "negative"), flags.negatives);
  if (!flags.candidates.empty()) {
    return fmt::format("{} with other ends of {}", CountText(report.non_edges, "negative"), flags.candidates);
  }
  return CountText(report.non_edges, "random pair") + " without an edge";
}

// Reads the files of negatives or candidates.
absl::Status ReadNegatives(Program& program, const std::string& what, TrainedRun& run, const HeldOutFlags& flags,
                           LinkPredictionOptions& options) {
  if (!flags.candidates.empty()) {
    ASSIGN_OR_RETURN(options.candidate_nodes, ReadCandidates(program, what, run, flags.candidates));
  }
  if (flags.negatives.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const ReadingMemory memory, ShareReadingMemory(program, what, run, kLeastLabelBytes));
  ASSIGN_OR_RETURN(EdgeList list, ReadEdgeList(*run.graph, flags.negatives, memory.bytes));
  WarnOfUnknownNames(program, flags.negatives, list.unknown, *run.graph);
  options.negatives = std::move(list.edges);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunLinkPrediction(Program& program, const RunFlags& run_flags, const HeldOutFlags& flags, bool json) {
  if (flags.options.candidates > 0) {
    return UsageError(
        "--link-prediction: found --candidates with a number; expected a file with names of nodes, or none");
  }
  ASSIGN_OR_RETURN(TrainedRun run, OpenRun(program, run_flags));
  EvaluationClock clock(program, "scoring");
  const std::string what = "evaluate --link-prediction";
  LinkPredictionOptions options;
  options.split = SplitOf(flags.split);
  options.sample = flags.options.sample;
  options.seed = flags.options.seed;
  RETURN_IF_ERROR(ReadNegatives(program, what, run, flags, options));
  const std::uint64_t held = options.negatives.capacity() * sizeof(Edge) + options.candidate_nodes.capacity() * 8;
  const std::uint64_t least = LeastLinkPredictionMemory(EmbeddedOf(run), options, ReadingThreads(program));
  ASSIGN_OR_RETURN(const ReadingMemory memory, ShareReadingMemory(program, what, run, held + least));
  options.memory_bytes = memory.bytes - held;
  options.progress = [&](double share) { clock.Show(share); };
  ASSIGN_OR_RETURN(const LinkPredictionReport report, PredictHeldOutEdges(EmbeddedOf(run), options));
  RETURN_IF_ERROR(WarnIfCommitted(program, run_flags, run));
  program.reporter.EndProgress();
  const double seconds = clock.Seconds();
  if (report.known_negatives > 0) {
    program.reporter.Warning(fmt::format("{}: {} of {} are edges of the graph", flags.negatives, report.known_negatives,
                                         CountText(report.non_edges, "negative")));
  }
  if (report.unlisted_edges > 0) {
    program.reporter.Warning(fmt::format("{}: left out {}, of which no end is listed", flags.candidates,
                                         CountText(report.unlisted_edges, "edge")));
  }
  const bool drawn = flags.negatives.empty() && flags.candidates.empty();
  if (drawn && report.non_edges < report.edges) {
    program.reporter.Warning(fmt::format("found a pair without an edge for only {} of {}: the graph is dense",
                                         report.non_edges, CountText(report.edges, "edge")));
  }
  if (json) {
    PrintReport(ReportObject(flags, options, run, report, seconds));
    return absl::OkStatus();
  }
  fmt::print("{} of {} ({}) and {}\n\n", CountText(report.edges, fmt::format("{} edge", SplitName(options.split))),
             run_flags.run, DescribeRun(run), NegativesText(flags, report));
  fmt::print("AUC                {:.4f}\naverage precision  {:.4f}\n", report.auc, report.average_precision);
  for (std::size_t i = 0; i < kSharedHits.size() && !flags.negatives.empty(); ++i) {
    fmt::print("{:<19}{:.4f}\n", fmt::format("Hits@{}", kSharedHits[i]), report.hits[i]);
  }
  program.reporter.Info(fmt::format("took {:.1f} s", seconds));
  return absl::OkStatus();
}

}  // namespace octavo
