// octavo evaluate: how well a run predicts held-out edges, or labels of nodes.

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/count_text.h"
#include "base/escape.h"
#include "base/number.h"
#include "base/status.h"
#include "cmd/evaluate.h"
#include "cmd/flags.h"
#include "cmd/program.h"
#include "cmd/reading_memory.h"
#include "cmd/run_flags.h"
#include "evaluate/ranking.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

constexpr Split kSplits[] = {Split::kTrain, Split::kValid, Split::kTest};
// Longer relation names are cut in the table; --json has them whole.
constexpr std::size_t kMaxNameBytes = 40;
constexpr std::size_t kMaxFractions = 1000;

struct EvaluateFlags {
  RunFlags run;
  std::string split = "test";
  RankingOptions ranking;
  ClassificationFlags classification;
  bool link_prediction = false;
  bool json = false;
};

Split SplitOf(const std::string& name) {
  return *std::find_if(std::begin(kSplits), std::end(kSplits), [&](Split split) { return SplitName(split) == name; });
}

void AddMetrics(Json& object, const RankSums& sums) {
  object["mrr"] = sums.MeanReciprocalRank();
  object["hits@1"] = sums.HitsAt1();
  object["hits@3"] = sums.HitsAt3();
  object["hits@10"] = sums.HitsAt10();
  object["mean_rank"] = sums.MeanRank();
}

Json SideObject(const SideSums& sums) {
  Json object = Json::object();
  AddMetrics(object, sums.filtered);
  AddMetrics(object["raw"] = Json::object(), sums.raw);
  return object;
}

Json ReportObject(const EvaluateFlags& flags, const TrainedRun& run, const RankingReport& report, double seconds) {
  const SideSums both = report.Both();
  Json object = Json::object();
  AddMetrics(object, both.filtered);
  object["triples"] = report.triples;
  object["filtered"] = true;
  object["split"] = flags.split;
  object["candidates"] = report.candidates;
  object["all_candidates"] = report.all_candidates;
  AddMetrics(object["raw"] = Json::object(), both.raw);
  object["head"] = SideObject(report.head);
  object["tail"] = SideObject(report.tail);
  AddRunKeys(object, run, seconds);
  if (!flags.ranking.per_relation) return object;
  object["relations"] = Json::array();
  for (const RankingReport::Relation& relation : report.relations) {
    Json entry = Json::object();
    entry["relation"] = run.graph->RelationName(relation.relation);
    entry["triples"] = relation.tail.raw.count;
    AddMetrics(entry, relation.Both().filtered);
    entry["head"] = SideObject(relation.head);
    entry["tail"] = SideObject(relation.tail);
    object["relations"].push_back(std::move(entry));
  }
  return object;
}

std::string Columns(const RankSums& sums) {
  return fmt::format("{:8.4f}{:8.4f}{:8.4f}{:9.4f}{:12.1f}\n", sums.MeanReciprocalRank(), sums.HitsAt1(),
                     sums.HitsAt3(), sums.HitsAt10(), sums.MeanRank());
}

std::string ReportTable(const EvaluateFlags& flags, const TrainedRun& run, const RankingReport& report) {
  const SideSums both = report.Both();
  std::string text = fmt::format(
      "{} of {} ({}), each end ranked among {}\n\n", CountText(report.triples, flags.split + " triple"), flags.run.run,
      DescribeRun(run),
      report.all_candidates ? "all " + CountText(report.candidates, "node")
                            : fmt::format("{} of {}: not comparable with ranks among all of them",
                                          CountText(report.candidates, "random node"), run.graph->node_count()));
  text += fmt::format("{:<22}{:>8}{:>8}{:>8}{:>9}{:>12}\n", "", "MRR", "Hits@1", "Hits@3", "Hits@10", "mean rank");
  text += fmt::format("{:<22}{}", "filtered", Columns(both.filtered));
  text += fmt::format("{:<22}{}", "  tails (h, r, ?)", Columns(report.tail.filtered));
  text += fmt::format("{:<22}{}", "  heads (?, r, t)", Columns(report.head.filtered));
  text += fmt::format("{:<22}{}", "raw", Columns(both.raw));
  text += fmt::format("{:<22}{}", "  tails (h, r, ?)", Columns(report.tail.raw));
  text += fmt::format("{:<22}{}", "  heads (?, r, t)", Columns(report.head.raw));
  return text;
}

std::string RelationTable(const TrainedRun& run, const RankingReport& report) {
  std::size_t width = 8;
  for (const RankingReport::Relation& relation : report.relations) {
    width = std::max(width, EscapeName(run.graph->RelationName(relation.relation), kMaxNameBytes).size());
  }
  std::string text = fmt::format("\n{:<{}}{:>10}{:>8}{:>8}{:>8}{:>9}{:>12}\n", "relation (filtered)", width, "triples",
                                 "MRR", "Hits@1", "Hits@3", "Hits@10", "mean rank");
  for (const RankingReport::Relation& relation : report.relations) {
    text += fmt::format("{:<{}}{:>10}{}", EscapeName(run.graph->RelationName(relation.relation), kMaxNameBytes), width,
                        relation.tail.raw.count, Columns(relation.Both().filtered));
  }
  return text;
}

absl::Status RunRanking(Program& program, const EvaluateFlags& flags) {
  ASSIGN_OR_RETURN(TrainedRun run, OpenRun(flags.run));
  EvaluationClock clock(program, "ranking");
  RankingOptions options = flags.ranking;
  options.split = SplitOf(flags.split);
  ASSIGN_OR_RETURN(const ReadingMemory memory,
                   ShareReadingMemory(program, "evaluate", run,
                                      LeastRankingMemory(*run.graph, run.model, options, ReadingThreads(program))));
  options.memory_bytes = memory.bytes;
  options.progress = [&](double share) { clock.Show(share); };
  ASSIGN_OR_RETURN(const RankingReport report, RankTriples(EmbeddedOf(run), options));
  RETURN_IF_ERROR(WarnIfCommitted(program, flags.run, run));
  program.reporter.EndProgress();
  const double took = clock.Seconds();
  if (flags.json) {
    PrintReport(ReportObject(flags, run, report, took));
    return absl::OkStatus();
  }
  fmt::print("{}", ReportTable(flags, run, report));
  if (options.per_relation) fmt::print("{}", RelationTable(run, report));
  program.reporter.Info(
      fmt::format("took {:.1f} s, {:.0f} triples/s", took, static_cast<double>(report.triples) / took));
  return absl::OkStatus();
}

absl::Status RunEvaluate(Program& program, const EvaluateFlags& flags) {
  RETURN_IF_ERROR(WarnIfToBeReplaced(program, flags.run.run));
  if (!flags.classification.labels.empty()) {
    return RunClassification(program, flags.run, flags.classification, flags.json);
  }
  if (flags.link_prediction) {
    LinkPredictionOptions options;
    options.split = SplitOf(flags.split);
    options.sample = flags.ranking.sample;
    options.seed = flags.ranking.seed;
    return RunLinkPrediction(program, flags.run, options, flags.json);
  }
  return RunRanking(program, flags);
}

// Reads "0.1,0.5,0.9"; empty where something else is found.
std::optional<std::vector<double>> ParseFractions(std::string_view text) {
  std::vector<double> fractions;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::optional<double> fraction = ParseRealNumber(text.substr(0, comma));
    if (!fraction || *fraction <= 0 || *fraction >= 1 || fractions.size() == kMaxFractions) return std::nullopt;
    fractions.push_back(*fraction);
    if (comma == std::string_view::npos) return fractions;
    text.remove_prefix(comma + 1);
  }
}

void AddFractions(CLI::App& verb, std::vector<double>& fractions) {
  const auto parse = [&fractions](const std::string& text) {
    const std::optional<std::vector<double>> parsed = ParseFractions(text);
    if (!parsed) {
      throw CLI::ValidationError(fmt::format(
          "--train-fractions: found \"{}\"; expected numbers above 0 and below 1, such as 0.1,0.5,0.9", Escape(text)));
    }
    fractions = *parsed;
  };
  verb.add_option_function<std::string>("--train-fractions", parse, "Shares of the labelled nodes to train on")
      ->type_name("F,F,...")
      ->default_str(fmt::format("{}", fmt::join(fractions, ",")));
}

// Flags of --labels, and which of the others have no meaning with it.
void AddClassificationFlags(CLI::App& verb, ClassificationFlags& flags) {
  CLI::Option* const labels =
      RefuseEmpty(verb.add_option("--labels", flags.labels,
                                  "Classify nodes instead: a file of lines NODE<TAB>LABEL [LABEL ...]"))
          ->type_name("FILE");
  AddFractions(verb, flags.options.train_fractions);
  AddWholeNumber(verb, "--repeats", flags.options.repeats, 1, 1'000'000, "Random splits for each share");
  AddPartFlag(verb, flags.part, "Classify by one half of the rows of source-context: source or context; all: both");
  verb.add_flag("--normalize", flags.options.normalize, "Bring each row to length 1 first");
  AddRealNumber(verb, "--cost", flags.options.cost, 1e-9, 1e9,
                "C of the logistic regression: the weight of errors against that of large weights");
  RefuseEmpty(verb.add_option("--label-test", flags.label_test,
                              "Test the nodes that this file names, one a line, and train on the others"))
      ->type_name("FILE")
      ->excludes("--train-fractions")
      ->excludes("--repeats");
  for (const char* flag : {"--train-fractions", "--repeats", "--part", "--normalize", "--cost", "--label-test"}) {
    verb.get_option(flag)->needs(labels);
  }
  for (const char* flag : {"--split", "--candidates", "--sample", "--per-relation"}) {
    labels->excludes(flag);
  }
}

}  // namespace

double EvaluationClock::Seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void EvaluationClock::Show(double share) const { program_.reporter.Show({.phase = what_, .share = share}); }

void AddRunKeys(Json& object, const TrainedRun& run, double seconds) {
  object["model"] = ModelName(run.model.kind);
  object["dim"] = run.model.dim;
  object["epochs"] = run.epochs_done;
  object["seconds"] = seconds;
}

void PrintReport(const Json& object) { fmt::print("{}\n", object.dump(2, ' ', false, Json::error_handler_t::replace)); }

void AddEvaluateVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand(
      "evaluate",
      "Rank held-out edges (MRR, Hits@k, mean rank, filtered and raw), classify nodes, or tell edges from other pairs");
  const auto flags = std::make_shared<EvaluateFlags>();
  AddRunFlags(*verb, flags->run);
  verb->add_option("--split", flags->split, "Held-out edges: train, valid or test")
      ->check(CLI::IsMember({"train", "valid", "test"}))
      ->type_name("NAME")
      ->capture_default_str();
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  AddWholeNumber(*verb, "--candidates", flags->ranking.candidates, 0, kMost,
                 "Rank among this many random nodes, the same for all edges; 0: among all nodes");
  AddWholeNumber(*verb, "--sample", flags->ranking.sample, 0, kMost,
                 "Take this many random edges of the split; 0: all of them");
  AddWholeNumber(*verb, "--seed", flags->ranking.seed, 0, UINT64_MAX, "Seed of all that is drawn");
  verb->add_flag("--per-relation", flags->ranking.per_relation, "Add a table of the relations, most frequent first");
  AddClassificationFlags(*verb, flags->classification);
  verb->add_flag("--link-prediction", flags->link_prediction,
                 "Tell the edges of the split from as many random pairs that are none: AUC and average precision")
      ->excludes("--labels")
      ->excludes("--candidates")
      ->excludes("--per-relation");
  verb->add_flag("--json", flags->json, "Print one JSON object");
  verb->footer(
      "Filtered: the other ends known from train, valid and test do not count. Ties get the mean of the best and the\n"
      "worst rank; Hits@k counts ranks up to k.\n"
      "Labels: one logistic regression a label, against all others; a node with k labels is given the k likeliest.");
  verb->final_callback([&program, flags] {
    flags->classification.options.seed = flags->ranking.seed;
    program.run = [flags](Program& p) { return RunEvaluate(p, *flags); };
  });
}

}  // namespace octavo
