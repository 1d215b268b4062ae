// octavo evaluate: how well a run predicts held-out edges or node labels.

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "base/json_escape.h"
#include "base/number.h"
#include "base/status.h"
#include "cmd/evaluate.h"
#include "cmd/flags.h"
#include "cmd/job.h"
#include "cmd/opened_run.h"
#include "cmd/program.h"
#include "cmd/reading_memory.h"
#include "cmd/run_flags.h"
#include "evaluate/ranking.h"
#include "fmt/format.h"
#include "train/team.h"
#include "format/paths.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

constexpr Split kSplits[] = {Split::kTrain, Split::kValid, Split::kTest};
constexpr std::size_t kMaxFractions = 1000;
constexpr std::uint64_t kMostEdges = std::uint64_t{1} << 40;

struct EvaluateFlags {
  RunFlags run;
  HeldOutFlags held_out;
  ClassificationFlags classification;
  bool link_prediction = false;
  bool json = false;
};

// Several processes rank together; the other evaluations are for one.
absl::Status JoinEvaluation(Program& program, const EvaluateFlags& flags) {
  RETURN_IF_ERROR(JoinJob(program));
  if (program.ranks == nullptr) return absl::OkStatus();
  if (!flags.classification.labels.empty() || flags.link_prediction) {
    return UsageError(fmt::format("{} is computed by one process; expected it without a launcher of several ranks",
                                  flags.link_prediction ? "--link-prediction" : "--labels"));
  }
  ASSIGN_OR_RETURN(const std::vector<std::uint32_t> folders, FindFolders(*program.ranks, flags.run.run));
  if (std::ranges::count(folders, 0U) == std::ssize(folders)) return absl::OkStatus();
  return UsageError(fmt::format("{}: the ranks have different folders of that name, and only one of them has the "
                                "vectors; expected a folder on a disk that all share, or one process on the machine of "
                                "rank 0",
                                flags.run.run));
}

absl::Status RunEvaluate(Program& program, const EvaluateFlags& flags) {
  RETURN_IF_ERROR(JoinEvaluation(program, flags));
  RETURN_IF_ERROR(WarnIfToBeReplaced(program, flags.run.run));
  if (!flags.classification.labels.empty()) {
    return RunClassification(program, flags.run, flags.classification, flags.json);
  }
  if (flags.link_prediction) return RunLinkPrediction(program, flags.run, flags.held_out, flags.json);
  return RunRanking(program, flags.run, flags.held_out, flags.json);
}

// Parses "0.1,0.5,0.9"; empty if the text is anything else.
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

// Adds the flags of --labels and excludes others that have no effect with it.
void AddClassificationFlags(CLI::App& verb, ClassificationFlags& flags) {
  CLI::Option* const labels =
      RefuseEmpty(verb.add_option("--labels", flags.labels,
                                  "Classify nodes instead: a file of lines NODE<TAB>CLASS [CLASS ...]"))
          ->type_name("FILE");
  AddFractions(verb, flags.options.train_fractions);
  AddWholeNumber(verb, "--repeats", flags.options.repeats, 1, 1'000'000, "Random splits for each share");
  AddPartFlag(verb, flags.part, "Classify by one half of the rows of source-context: source or context; all: both");
  verb.add_flag("--normalize", flags.options.normalize, "Scale each row to length 1 first");
  AddRealNumber(verb, "--cost", flags.options.cost, 1e-9, 1e9,
                "C of the logistic regression: weight of errors relative to the regularization");
  const auto add_list = [&](const std::string& flag, std::string& path, const std::string& help) {
    RefuseEmpty(verb.add_option(flag, path, help))
        ->type_name("FILE")
        ->excludes("--train-fractions")
        ->excludes("--repeats");
  };
  add_list("--label-train", flags.label_train,
           "Train on the nodes listed in this file, one per line; test those of --label-test, or all others");
  add_list("--label-test", flags.label_test,
           "Test the nodes listed in this file; train on those of --label-train, or all others");
  for (const char* flag :
       {"--train-fractions", "--repeats", "--part", "--normalize", "--cost", "--label-train", "--label-test"}) {
    verb.get_option(flag)->needs(labels);
  }
  for (const char* flag : {"--split", "--candidates", "--sample", "--per-relation", "--typed"}) {
    labels->excludes(flag);
  }
}

// --candidates N or --candidates FILE.
void AddCandidates(CLI::App& verb, HeldOutFlags& flags) {
  const auto parse = [&flags](const std::string& text) {
    const std::optional<std::uint64_t> count = ParseWholeNumber(text);
    if (text.empty() || (count && *count > kMostEdges)) {
      throw CLI::ValidationError(
          fmt::format("--candidates: found \"{}\"; expected a whole number from 0 to {}, or a file with names of nodes",
                      Escape(text), kMostEdges));
    }
    flags.options.candidates = count.value_or(0);
    flags.candidates = count ? "" : text;
  };
  verb.add_option_function<std::string>(
          "--candidates", parse,
          "Rank among this many random nodes, the same for all edges; 0: among all nodes; or among the nodes listed in "
          "a file, one per line: ends that it does not list are not ranked; or, by a file of questions, each answer "
          "among the candidates of its line: HEAD RELATION ? ANSWER CANDIDATE..., with tabs, or such rows as .npy")
      ->type_name("N|FILE")
      ->default_str("0");
}

}  // namespace

Split SplitOf(const std::string& name) {
  return *std::find_if(std::begin(kSplits), std::end(kSplits), [&](Split split) { return SplitName(split) == name; });
}

void WarnOfUnknownNames(Program& program, const std::string& file, const UnknownNames& unknown, const Graph& graph) {
  if (unknown.lines == 0) return;
  program.reporter.Warning(fmt::format("{}: left out {} line{} with names that {} lacks, the first \"{}\"", file,
                                       unknown.lines, unknown.lines == 1 ? "" : "s", graph.paths().folder().string(),
                                       Escape(unknown.first)));
}

absl::Status CheckCandidatesExist(const std::string& path) {
  std::error_code error;
  if (path == "-" || std::filesystem::exists(path, error)) return absl::OkStatus();
  return UsageError(
      fmt::format("--candidates: found \"{}\", which is no file; expected a whole number, or a file with "
                  "names of nodes, one per line",
                  Escape(path)));
}

absl::StatusOr<std::vector<std::uint64_t>> ReadCandidates(Program& program, const std::string& what, TrainedRun& run,
                                                          const std::string& path) {
  RETURN_IF_ERROR(CheckCandidatesExist(path));
  ASSIGN_OR_RETURN(const ReadingMemory memory, ShareReadingMemory(program, what, run, kLeastLabelBytes));
  ASSIGN_OR_RETURN(NodeList list, ReadNodeList(*run.graph, path, memory.bytes));
  WarnOfUnknownNames(program, path, list.unknown, *run.graph);
  return std::move(list.nodes);
}

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

void PrintReport(const Json& object) {
  fmt::print("{}\n", EscapeJsonControls(object.dump(2, ' ', false, Json::error_handler_t::replace)));
}

void AddEvaluateVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand("evaluate",
                                      "Rank held-out edges (MRR, Hits@k, mean rank, filtered and raw), classify nodes, "
                                      "or separate edges from other pairs");
  const auto flags = std::make_shared<EvaluateFlags>();
  AddRunFlags(*verb, flags->run);
  HeldOutFlags& held_out = flags->held_out;
  verb->add_option("--split", held_out.split, "Held-out edges: train, valid or test")
      ->check(CLI::IsMember({"train", "valid", "test"}))
      ->type_name("NAME")
      ->capture_default_str();
  AddCandidates(*verb, held_out);
  AddWholeNumber(*verb, "--sample", held_out.options.sample, 0, kMostEdges,
                 "Take this many random edges of the split; 0: all of them");
  AddWholeNumber(*verb, "--seed", held_out.options.seed, 0, UINT64_MAX, "Seed of all random draws");
  verb->add_flag("--per-relation", held_out.options.per_relation, "Add a table of the relations, most frequent first");
  AddTypeFlags(*verb, held_out.types, "Rank also among the nodes like those that training edges have there");
  verb->get_option("--typed")->excludes("--candidates");
  AddClassificationFlags(*verb, flags->classification);
  CLI::Option* const links =
      verb->add_flag(
              "--link-prediction", flags->link_prediction,
              "Separate the split's edges from as many random pairs without an edge, or from given negatives: AUC "
              "and average precision")
          ->excludes("--labels")
          ->excludes("--per-relation")
          ->excludes("--typed");
  RefuseEmpty(verb->add_option("--negatives", held_out.negatives,
                               "Negatives of --link-prediction: a file of lines HEAD<TAB>RELATION<TAB>TAIL"))
      ->type_name("FILE")
      ->needs(links)
      ->excludes("--candidates");
  verb->add_flag("--json", flags->json, "Print one JSON object");
  verb->footer(
      "Filtered: the other ends known from train, valid and test do not count. Ties get the mean of the best and the\n"
      "worst rank; Hits@k counts ranks up to k.\n"
      "Classes (--labels): one logistic regression per class, against all others; a node with k classes is predicted "
      "the k likeliest.");
  verb->final_callback([&program, flags, verb] {
    flags->held_out.split_given = verb->count("--split") > 0;
    flags->classification.options.seed = flags->held_out.options.seed;
    program.run = [flags](Program& p) { return RunEvaluate(p, *flags); };
  });
}

}  // namespace octavo
