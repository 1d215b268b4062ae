// octavo evaluate --link-prediction: how well held-out edges are told from pairs that are none.

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "base/count_text.h"
#include "base/status.h"
#include "cmd/evaluate.h"
#include "cmd/reading_memory.h"
#include "format/paths.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

Json ReportObject(const LinkPredictionOptions& options, const TrainedRun& run, const LinkPredictionReport& report,
                  double seconds) {
  Json object = Json::object();
  object["auc"] = report.auc;
  object["average_precision"] = report.average_precision;
  object["edges"] = report.edges;
  object["non_edges"] = report.non_edges;
  object["split"] = SplitName(options.split);
  object["seed"] = options.seed;
  AddRunKeys(object, run, seconds);
  return object;
}

}  // namespace

absl::Status RunLinkPrediction(Program& program, const RunFlags& run_flags, const LinkPredictionOptions& given,
                               bool json) {
  ASSIGN_OR_RETURN(TrainedRun run, OpenRun(run_flags));
  EvaluationClock clock(program, "scoring");
  LinkPredictionOptions options = given;
  ASSIGN_OR_RETURN(const ReadingMemory memory,
                   ShareReadingMemory(program, "evaluate --link-prediction", run,
                                      LeastLinkPredictionMemory(EmbeddedOf(run), options, ReadingThreads(program))));
  options.memory_bytes = memory.bytes;
  options.progress = [&](double share) { clock.Show(share); };
  ASSIGN_OR_RETURN(const LinkPredictionReport report, PredictHeldOutEdges(EmbeddedOf(run), options));
  RETURN_IF_ERROR(WarnIfCommitted(program, run_flags, run));
  program.reporter.EndProgress();
  const double seconds = clock.Seconds();
  if (report.non_edges < report.edges) {
    program.reporter.Warning(fmt::format("found a pair that is no edge for {} of {} only: the graph is dense",
                                         report.non_edges, CountText(report.edges, "edge")));
  }
  if (json) {
    PrintReport(ReportObject(options, run, report, seconds));
    return absl::OkStatus();
  }
  fmt::print("{} of {} ({}) and {} without an edge\n\n",
             CountText(report.edges, fmt::format("{} edge", SplitName(options.split))), run_flags.run, DescribeRun(run),
             CountText(report.non_edges, "random pair"));
  fmt::print("AUC                {:.4f}\naverage precision  {:.4f}\n", report.auc, report.average_precision);
  program.reporter.Info(fmt::format("took {:.1f} s", seconds));
  return absl::OkStatus();
}

}  // namespace octavo
