// Opens a run for questions and prints the answers.

#include <algorithm>
#include <utility>

#include "base/escape.h"
#include "base/status.h"
#include "cmd/limits.h"
#include "cmd/opened_run.h"
#include "cmd/query.h"
#include "cmd/reading_memory.h"
#include "fmt/format.h"
#include "graph/node_places.h"
#include "query/answer_json.h"
#include "query/name_lookup.h"

namespace octavo {
namespace {

constexpr std::size_t kMaxNameBytes = 60;  // longer names are cut in the table; --json prints them in full

// Characters of a text in UTF-8.
std::size_t Letters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

void PrintTable(const Answer& answer, std::string_view score_name) {
  const std::vector<AnswerRow>& rows = answer.rows;
  std::size_t width = 4;
  std::size_t label_width = 5;
  for (const AnswerRow& row : rows) {
    width = std::max(width, row.name.size());
    label_width = std::max(label_width, Letters(row.label));
  }
  const auto print = [&](const auto& rank, std::string_view name, std::string_view label) {
    fmt::print("{:>4}  {:<{}}  ", rank, name, width);
    if (answer.has_labels) fmt::print("{}{:{}}  ", label, "", label_width - Letters(label));
  };
  print("rank", "name", "label");
  fmt::print("{:>10}\n", score_name);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    print(i + 1, rows[i].name, rows[i].label);
    fmt::print("{:>10.4f}{}{}\n", rows[i].score, rows[i].known ? "  known" : "",
               rows[i].plausible ? "" : "  other type");
  }
}

// A name as titles show it: with its label, if it has one.
std::string Titled(const std::string& name, const std::string& label) {
  return label.empty() ? EscapeCell(name) : fmt::format("{} ({})", EscapeCell(name), EscapeCell(label, kMaxNameBytes));
}

}  // namespace

absl::StatusOr<Answerer> OpenAnswerer(Program& program, const QueryFlags& flags, const AnswerLimits& limits) {
  ASSIGN_OR_RETURN(TrainedRun run, OpenRun(program, flags.run));
  AnswererOptions options = {.folder = flags.run.run,
                             .memory_bytes = MemoryLimit(program),
                             .threads = ReadingThreads(program),
                             .complete_texts = flags.json,
                             .metric = flags.metric,
                             .known = flags.known,
                             .index = flags.index,
                             .ef = flags.ef,
                             .typed = flags.types.typed,
                             .type_share = flags.types.share};
  ASSIGN_OR_RETURN(options.types, ReadTypes(program, "query", run, flags.types));
  options.most_answers = limits.most_answers;
  options.other_bytes = limits.other_bytes;
  options.suggesting = limits.suggesting;
  options.stop = limits.stop;
  return Answerer::Open(std::move(run), std::move(options));
}

double IndexRecall(const Program& program, const Answerer& answerer, std::uint64_t sample, std::uint64_t k) {
  const std::uint64_t ef = answerer.options().ef;
  const std::uint64_t search_bytes = CosineIndex::SearchBytes(answerer.index()->nodes(), std::max(ef, k));
  return answerer.Recall(sample, k, SearchThreads(program, answerer.rest_bytes(), search_bytes));
}

absl::Status CommitWarning::Show() {
  if (shown_) return absl::OkStatus();
  ASSIGN_OR_RETURN(shown_, CommittedSince(flags_.run, answerer_.run()));
  return shown_ ? WarnIfCommitted(program_, flags_, answerer_.run()) : absl::OkStatus();
}

absl::Status NoteUntrainedNodes(Program& program, const Answerer& answerer, const Question& question) {
  const Graph& graph = *answerer.run().graph;
  for (std::size_t word = 0; word < question.words.size(); ++word) {
    const bool is_relation = question.kind == Question::Kind::kPredict && word == 1;
    if (is_relation || question.words[word].empty() || question.words[word] == kAsked) continue;
    ASSIGN_OR_RETURN(const NodeId node, FindNode(graph, question.words[word], false));
    ASSIGN_OR_RETURN(const bool trained, HasTrainingEdge(graph, node));
    if (trained) continue;
    program.reporter.Info(fmt::format(
        "note: no training edge has \"{}\": its vector says little, as only negatives changed it, if anything",
        EscapeCell(question.words[word], kMaxNameBytes)));
  }
  return absl::OkStatus();
}

void PrintAnswer(const Answer& answer) {
  const auto& [head, relation, tail] = answer.question.words;
  if (answer.question.kind == Question::Kind::kNeighbors) {
    fmt::print("neighbors of \"{}\"{}\n\n", EscapeName(head),
               answer.labels[0].empty() ? "" : fmt::format(" ({})", EscapeCell(answer.labels[0], kMaxNameBytes)));
    PrintTable(answer, answer.question.metric);
    return;
  }
  fmt::print("({}, {}, {}), {} known answer{} {}\n\n", Titled(head, answer.labels[0]),
             Titled(relation, answer.labels[1]), Titled(tail, answer.labels[2]), answer.known,
             answer.known == 1 ? "" : "s",
             answer.question.known == "mark" ? "marked"
             : answer.known == 0             ? "left out"
             : answer.known == 1             ? "left out; --known mark shows it"
                                             : "left out; --known mark shows them");
  PrintTable(answer, "score");
}

void PrintObject(const nlohmann::ordered_json& object, int indent) { fmt::print("{}\n", JsonText(object, indent)); }

}  // namespace octavo
