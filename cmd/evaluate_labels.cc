// octavo evaluate --labels: how well labels of nodes are told from their embeddings.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "base/count_text.h"
#include "base/escape.h"
#include "base/status.h"
#include "cmd/evaluate.h"
#include "cmd/reading_memory.h"
#include "evaluate/node_labels.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

void WarnOfUnknownNames(Program& program, const std::string& file, const UnknownNames& unknown, const Graph& graph) {
  if (unknown.lines == 0) return;
  program.reporter.Warning(fmt::format("{}: left out {} line{} with names that {} lacks, the first \"{}\"", file,
                                       unknown.lines, unknown.lines == 1 ? "" : "s", graph.paths().folder().string(),
                                       Escape(unknown.first)));
}

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

std::string ReportTable(const ClassificationFlags& flags, const NodeLabels& labels, const RunFlags& run_flags,
                        const TrainedRun& run, const ClassificationReport& report) {
  const std::string part = flags.part == "all" ? "" : fmt::format(", {} half", flags.part);
  std::string text =
      fmt::format("{} of {} ({}{}), {}{}; {}\n\n", CountText(labels.nodes.size(), "labelled node"), run_flags.run,
                  DescribeRun(run), part, CountText(labels.names.size(), "label"),
                  labels.multi_label() ? fmt::format(", {} in all", labels.labels.size()) : std::string(),
                  flags.options.test_nodes ? fmt::format("tested on those of {}", flags.label_test)
                                           : CountText(report.repeats, "random split"));
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

}  // namespace

absl::Status RunClassification(Program& program, const RunFlags& run_flags, const ClassificationFlags& given,
                               bool json) {
  if (given.labels == "-" && given.label_test == "-") {
    return UsageError("--labels and --label-test are both standard input; expected a file for one of them");
  }
  ClassificationFlags flags = given;
  ASSIGN_OR_RETURN(TrainedRun run, OpenRun(run_flags));
  ASSIGN_OR_RETURN(flags.options.part, ParsePart(flags.part, "embeddings", run));
  EvaluationClock clock(program, "classifying");
  // The labels tell what the work takes. Where there is too little memory even for them, a few are read all the same,
  // so that the message names what would do.
  const absl::StatusOr<ReadingMemory> before = ShareReadingMemory(program, "evaluate --labels", run, kLeastLabelBytes);
  const std::uint64_t label_bytes = before.ok() ? before->bytes : kLeastLabelBytes;
  ASSIGN_OR_RETURN(const NodeLabels labels, ReadNodeLabels(*run.graph, flags.labels, label_bytes));
  WarnOfUnknownNames(program, flags.labels, labels.unknown, *run.graph);
  if (!flags.label_test.empty()) {
    ASSIGN_OR_RETURN(NodeList list, ReadNodeList(*run.graph, flags.label_test, label_bytes));
    WarnOfUnknownNames(program, flags.label_test, list.unknown, *run.graph);
    flags.options.test_nodes = std::move(list.nodes);
  }
  const std::uint64_t test_bytes =
      flags.options.test_nodes ? 2 * flags.options.test_nodes->capacity() * sizeof(std::uint64_t) : 0;
  const std::uint64_t held = labels.Bytes() + test_bytes;
  const std::uint64_t least =
      held + LeastClassificationMemory(EmbeddedOf(run), labels, flags.options, ReadingThreads(program));
  const std::string splits = flags.options.test_nodes
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
