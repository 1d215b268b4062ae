// octavo evaluate --labels: how well node labels can be predicted from embeddings.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/count_text.h"
#include "base/escape.h"
#include "base/status.h"
#include "cmd/evaluate.h"
#include "cmd/opened_run.h"
#include "cmd/reading_memory.h"
#include "cmd/run_flags.h"
#include "evaluate/node_labels.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

void AddMean(Json& object, const std::string& key, const MeanOfRepeats& value) {
  object[key] = value.mean;
  object[key + "_deviation"] = value.deviation ? Json(*value.deviation) : Json();
}

Json ReportObject(const ClassificationFlags& flags, const NodeLabels& labels, const TrainedRun& run,
                  const ClassificationReport& report, double seconds) {
  Json object = Json::object();
  object["labels_file"] = flags.labels;
  object["labelled_nodes"] = labels.nodes.size();
  object["labels"] = labels.names.size();
  object["label_assignments"] = labels.labels.size();
  object["multi_label"] = labels.multi_label();
  object["unknown_lines"] = labels.unknown.lines;
  object["part"] = flags.part;
  object["normalize"] = flags.options.normalize;
  object["cost"] = flags.options.cost;
  object["repeats"] = report.repeats;
  object["seed"] = flags.options.seed;
  object["fractions"] = Json::array();
  for (const ClassificationReport::Fraction& fraction : report.fractions) {
    Json entry = Json::object();
    entry["train_fraction"] = fraction.train_fraction;
    entry["train_nodes"] = fraction.train_nodes;
    entry["test_nodes"] = fraction.test_nodes;
    AddMean(entry, "micro_f1", fraction.micro_f1);
    AddMean(entry, "macro_f1", fraction.macro_f1);
    if (fraction.accuracy) AddMean(entry, "accuracy", *fraction.accuracy);
    object["fractions"].push_back(std::move(entry));
  }
  AddRunKeys(object, run, seconds);
  return object;
}

std::string Column(const MeanOfRepeats& value) {
  return fmt::format("{:>10.4f} {:<8}", value.mean, value.deviation ? fmt::format("± {:.4f}", *value.deviation) : "");
}

std::string SplitText(const ClassificationFlags& flags, const ClassificationReport& report) {
  if (!flags.options.split_is_given()) return CountText(report.repeats, "random split");
  std::string text;
  if (!flags.label_train.empty()) text = fmt::format("trained on the nodes of {}", flags.label_train);
  if (flags.label_test.empty()) return text;
  return fmt::format("{}{}tested on the nodes of {}", text, text.empty() ? "" : ", ", flags.label_test);
}

std::string ReportTable(const ClassificationFlags& flags, const NodeLabels& labels, const RunFlags& run_flags,
                        const TrainedRun& run, const ClassificationReport& report) {
  const std::string part = flags.part == "all" ? "" : fmt::format(", {} half", flags.part);
  std::string text =
      fmt::format("{} of {} ({}{}), {}{}; {}\n\n", CountText(labels.nodes.size(), "labelled node"), run_flags.run,
                  DescribeRun(run), part, CountText(labels.names.size(), "class"),
                  labels.multi_label() ? fmt::format(", {} in all", labels.labels.size()) : std::string(),
                  SplitText(flags, report));
  text += fmt::format("{:>8}{:>9}{:>9}{:>12}{:>19}", "trained", "train", "test", "micro-F1", "macro-F1");
  text += labels.multi_label() ? "\n" : fmt::format("{:>19}\n", "accuracy");
  for (const ClassificationReport::Fraction& fraction : report.fractions) {
    text +=
        fmt::format("{:>8}{:>9}{:>9}  {}{}", fmt::format("{:.4g} %", 100 * fraction.train_fraction),
                    fraction.train_nodes, fraction.test_nodes, Column(fraction.micro_f1), Column(fraction.macro_f1));
    if (fraction.accuracy) text += Column(*fraction.accuracy);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

// A class name with blanks is read as several classes, and texts for people are no classes.
void WarnOfClasses(Program& program, const std::string& file, const NodeLabels& labels) {
  if (const std::optional<std::string_view> shared = labels.LabelOfAll()) {
    program.reporter.Warning(fmt::format(
        "{}: every node has the class \"{}\" beside others; a line is NODE<TAB>CLASS [CLASS ...]: several classes are "
        "separated by blanks, and a class name has none",
        file, Escape(*shared)));
  }
  if (labels.NearlyAllDiffer()) {
    program.reporter.Warning(fmt::format(
        "{}: {} for {}; expected classes that many nodes share (octavo import --labels takes the texts that "
        "people read)",
        file, CountText(labels.names.size(), "class"), CountText(labels.nodes.size(), "node")));
  }
}

}  // namespace

absl::Status RunClassification(Program& program, const RunFlags& run_flags, const ClassificationFlags& given,
                               bool json) {
  if ((given.labels == "-") + (given.label_train == "-") + (given.label_test == "-") > 1) {
    return UsageError("of --labels, --label-train and --label-test, expected at most one to be standard input");
  }
  ClassificationFlags flags = given;
  ASSIGN_OR_RETURN(TrainedRun run, OpenRun(program, run_flags));
  ASSIGN_OR_RETURN(flags.options.part, ParsePart(flags.part, "embeddings", run));
  EvaluationClock clock(program, "classifying");
  // The labels determine the memory needed. If there is too little memory even for them, a few are still read, so that
  // the message can name a sufficient amount.
  const absl::StatusOr<ReadingMemory> before = ShareReadingMemory(program, "evaluate --labels", run, kLeastLabelBytes);
  const std::uint64_t label_bytes = before.ok() ? before->bytes : kLeastLabelBytes;
  ASSIGN_OR_RETURN(const NodeLabels labels, ReadNodeLabels(*run.graph, flags.labels, label_bytes));
  WarnOfUnknownNames(program, flags.labels, labels.unknown, *run.graph);
  WarnOfClasses(program, flags.labels, labels);
  std::uint64_t held = labels.Bytes();
  const auto read = [&](const std::string& path, std::optional<std::vector<std::uint64_t>>& nodes) -> absl::Status {
    if (path.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(NodeList list, ReadNodeList(*run.graph, path, label_bytes));
    WarnOfUnknownNames(program, path, list.unknown, *run.graph);
    nodes = std::move(list.nodes);
    held += 2 * nodes->capacity() * sizeof(std::uint64_t);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(read(flags.label_train, flags.options.train_nodes));
  RETURN_IF_ERROR(read(flags.label_test, flags.options.test_nodes));
  const std::uint64_t least =
      held + LeastClassificationMemory(EmbeddedOf(run), labels, flags.options, ReadingThreads(program));
  const std::string splits = flags.options.split_is_given()
                                 ? std::string()
                                 : fmt::format(" and {} of {}", CountText(flags.options.repeats, "repeat"),
                                               CountText(flags.options.train_fractions.size(), "fraction"));
  const std::string work =
      fmt::format("evaluate --labels, with the rows of {}{},", CountText(labels.nodes.size(), "labelled node"), splits);
  ASSIGN_OR_RETURN(const ReadingMemory memory,
                   ShareReadingMemory(program, work, run, std::max(least, kLeastLabelBytes)));
  flags.options.memory_bytes = memory.bytes - held;
  flags.options.progress = [&](double share) { clock.Show(share); };
  ASSIGN_OR_RETURN(const ClassificationReport report, ClassifyNodes(EmbeddedOf(run), labels, flags.options));
  RETURN_IF_ERROR(WarnIfCommitted(program, run_flags, run));
  program.reporter.EndProgress();
  const double seconds = clock.Seconds();
  if (json) {
    PrintReport(ReportObject(flags, labels, run, report, seconds));
    return absl::OkStatus();
  }
  fmt::print("{}", ReportTable(flags, labels, run_flags, run, report));
  program.reporter.Info(fmt::format("took {:.1f} s", seconds));
  return absl::OkStatus();
}

}  // namespace octavo
