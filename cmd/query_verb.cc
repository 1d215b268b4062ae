// octavo query: finds the nearest neighbours of a node and the likeliest ends of an edge.

#include <CLI/App.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/status.h"
#include "cmd/flags.h"
#include "cmd/program.h"
#include "cmd/query.h"
#include "cmd/run_flags.h"
#include "fmt/format.h"
#include "query/answer_json.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMaxAnswers = 1'000'000;
constexpr int kIndent = 2;

struct VerbFlags {
  QueryFlags query;
  Question question;
  std::uint64_t recall = 0;
  std::string questions;  // a file
};

CLI::Option* AddNeighborFlags(CLI::App& app, QueryFlags& flags) {
  app.add_option("--metric", flags.metric, "Of neighbors: cosine, or dot for the inner product")
      ->check(CLI::IsMember({"cosine", "dot"}))
      ->type_name("NAME")
      ->capture_default_str();
  CLI::Option* index =
      RefuseEmpty(app.add_option("--index", flags.index, "Search this index made by octavo index: finds most of them"));
  index->type_name("FILE");
  AddWholeNumber(app, "--ef", flags.ef, 1, kMaxEf, "Candidates kept in an index search: more find more")->needs(index);
  return index;
}

void AddPredictFlags(CLI::App& app, QueryFlags& flags) {
  app.add_option("--known", flags.known,
                 "Answers of predict that are edges of the graph, and the asked node where it says nothing (model dot, "
                 "or one relation): hide or mark")
      ->check(CLI::IsMember({"hide", "mark"}))
      ->type_name("NAME")
      ->capture_default_str();
  AddTypeFlags(app, flags.types,
               "Of predict: list answers last that are unlike the nodes that training edges have there");
}

absl::Status RunQuestion(Program& program, const VerbFlags& flags) {
  AnswerLimits limits;
  limits.most_answers = flags.query.k;
  ASSIGN_OR_RETURN(Answerer answerer, OpenAnswerer(program, flags.query, limits));
  ASSIGN_OR_RETURN(const Answer answer, answerer.Ask(flags.question, flags.query.k));
  RETURN_IF_ERROR(NoteUntrainedNodes(program, answerer, answer.question));
  const std::uint64_t sample = std::min(flags.recall, answerer.run().graph->node_count());
  const double recall = sample == 0 ? 0 : IndexRecall(program, answerer, sample, flags.query.k);
  RETURN_IF_ERROR(CommitWarning(program, flags.query.run, answerer).Show());
  if (!flags.query.json) {
    PrintAnswer(answer);
    if (sample > 0) fmt::print("\n{}\n", DescribeRecall(recall, flags.query.k, flags.query.ef, sample));
    return absl::OkStatus();
  }
  Json object = Json::object();
  AddAnswer(answer, object);
  if (sample > 0) object["recall"] = {{"recall", recall}, {"k", flags.query.k}, {"sample", sample}};
  PrintObject(object, kIndent);
  return absl::OkStatus();
}

}  // namespace

void AddQueryVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand("query", "Ask a run for neighbours of a node or for likely edges");
  const auto flags = std::make_shared<VerbFlags>();
  QueryFlags& query = flags->query;
  verb->require_subcommand(0, 1);
  AddRunFlags(*verb, query.run);
  AddWholeNumber(*verb, "-k", query.k, 1, kMaxAnswers, "Answers to show");
  verb->add_flag("--json", query.json, "Print one JSON object, or one per line and question");
  verb->footer("Without a subcommand, on a terminal, it starts the prompt.");
  const auto run_prompt = [flags](Program& p) { return RunPrompt(p, flags->query); };
  verb->final_callback([&program, verb, run_prompt] {
    if (!verb->get_subcommands().empty()) return;
    if (!CanPrompt()) throw CLI::RequiredError::Subcommand(1);
    program.run = run_prompt;
  });

  CLI::App* neighbors = verb->add_subcommand("neighbors", "The nodes whose vectors are most similar to a node's");
  neighbors->add_option("NAME", flags->question.words[0], "Name of the node")->required();
  CLI::Option* index = AddNeighborFlags(*neighbors, query);
  AddWholeNumber(*neighbors, "--recall", flags->recall, 1, kMaxAnswers,
                 "Compare the index with exact searches from this many nodes")
      ->needs(index);
  neighbors->final_callback(
      [&program, flags] { program.run = [flags](Program& p) { return RunQuestion(p, *flags); }; });

  CLI::App* predict = verb->add_subcommand(
      "predict", "The likeliest ends of an edge: HEAD RELATION ? or ? RELATION TAIL, where ? is the wanted end");
  // One option per word: with several values per option, the library would read a name in [brackets] as a list.
  auto& [head, relation, tail] = flags->question.words;
  predict->add_option("HEAD", head, "Name of the head, or ? (quoted) to ask for it")->required();
  predict->add_option("RELATION", relation, "Name of the relation; if the graph has only one, ? is allowed here")
      ->required();
  predict->add_option("TAIL", tail, "Name of the tail, or ? (quoted) to ask for it; may be omitted");
  AddPredictFlags(*predict, query);
  predict->final_callback([&program, flags] {
    flags->question.kind = Question::Kind::kPredict;
    program.run = [flags](Program& p) { return RunQuestion(p, *flags); };
  });

  CLI::App* batch = verb->add_subcommand("batch", "Answer the questions of a file, one per line");
  RefuseEmpty(batch->add_option("FILE", flags->questions, "Plain, .gz or .zst; - is standard input"))->required();
  AddNeighborFlags(*batch, query);
  AddPredictFlags(*batch, query);
  batch->footer(
      "A line is neighbors<TAB>NAME, predict<TAB>HEAD<TAB>RELATION<TAB>? or predict<TAB>?<TAB>RELATION<TAB>TAIL;\n"
      "a line without a tab is a NAME. Empty lines are ignored. If a question cannot be answered, the others\n"
      "are, and the exit code is 3.");
  batch->final_callback(
      [&program, flags] { program.run = [flags](Program& p) { return RunBatch(p, flags->query, flags->questions); }; });

  CLI::App* prompt = verb->add_subcommand("prompt", "Answer typed questions, with history and completion");
  AddNeighborFlags(*prompt, query);
  AddPredictFlags(*prompt, query);
  prompt->final_callback([&program, run_prompt] { program.run = run_prompt; });
}

}  // namespace octavo
