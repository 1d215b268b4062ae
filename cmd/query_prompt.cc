// octavo query at a terminal: questions typed one after the other.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "base/count_text.h"
#include "base/escape.h"
#include "base/number.h"
#include "base/status.h"
#include "cmd/line_editor.h"
#include "cmd/opened_run.h"
#include "cmd/query.h"
#include "cmd/query_words.h"
#include "evaluate/name_completion.h"
#include "evaluate/near_names.h"
#include "fmt/format.h"
#include "query/answer_json.h"
#include "query/name_lookup.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

// More answers are for a file, not a screen. --memory is divided for this many.
constexpr std::uint64_t kMostAnswers = 1000;
constexpr std::size_t kChoices = 50;                       // one screen
constexpr auto kTabTime = std::chrono::milliseconds(200);  // the longest time for a key
constexpr std::size_t kMaxChoiceBytes = 60;
constexpr std::string_view kKnownWords[] = {"hide", "mark"};

constexpr std::array<std::string_view, 6> kCommands = {"help", "k", "neighbors", "predict", "quit", "exit"};

constexpr std::string_view kHelpText =
    "neighbors NAME            the nodes whose vectors are most similar to NAME's; also: NAME\n"
    "predict HEAD RELATION ?   the likeliest tails; also: HEAD RELATION ?, predict HEAD RELATION\n"
    "predict ? RELATION TAIL   the likeliest heads; also: ? RELATION TAIL\n"
    "k N                       show N answers\n"
    "quit                      leave; also: Ctrl-D\n"
    "\n"
    "The ? stands for the wanted name. After a question, -k N applies only to it. After one for heads or tails,\n"
    "--known mark also shows the answers that are already in the graph, which are hidden by default (--known hide),\n"
    "and --typed puts answers last that are of another type than those of the relation.\n"
    "TAB completes a word, also by its part after the last / or #; the arrow keys recall lines, Ctrl-C clears the "
    "line or stops a search.\n"
    "A name with blanks, or one that is a command, needs \"quotes\".\n";

std::atomic<bool> stopped = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // otherwise the handler could not use it

// While a question is answered, Ctrl-C is a signal.
void CatchStops() {
  struct sigaction action {};
  action.sa_handler = [](int) { stopped.store(true, std::memory_order_relaxed); };
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
}

bool IsCommand(std::string_view word) { return std::find(kCommands.begin(), kCommands.end(), word) != kCommands.end(); }

// The kinds of words that are allowed at a place.
struct Kinds {
  bool commands = false;
  bool nodes = false;
  bool relations = false;
};

Kinds KindsAt(const Words& words, std::size_t place, bool quoted, bool one_relation) {
  if (place == 0) return {.commands = !quoted, .nodes = true};
  const Word& first = words.list[0];
  const bool command = !first.quoted && IsCommand(first.text);
  if (command && first.text == "neighbors") return {.nodes = true};
  if (command && first.text != "predict") return {};
  const std::size_t word = command ? place - 1 : place;  // of head, relation, tail
  return {.nodes = word != 1 || one_relation, .relations = word == 1};
}

// Names of the kinds that begin with the word; with kShortName, those whose short names do.
NameCompletion CompleteNames(const Graph& graph, const Kinds& kinds, const Word& word, CompletedPart part) {
  NameCompletion found;
  if (kinds.relations) {
    Merge(CompleteName(word.text, graph.relation_count(), RelationNamesInTurn(graph), kChoices, kTabTime, part),
          kChoices, found);
  }
  // If nothing was typed, only commands are useful help.
  if (kinds.nodes && !(kinds.commands && word.text.empty())) {
    Merge(CompleteName(word.text, graph.node_count(), NodeNamesInTurn(graph), kChoices, kTabTime, part), kChoices,
          found);
    if (graph.labels() != nullptr && !word.text.empty() && part == CompletedPart::kName) {
      Merge(CompleteName(word.text, graph.node_count(), NodeLabelsInTurn(graph), kChoices, kTabTime, part), kChoices,
            found);
    }
  }
  return found;
}

// Completes the last word before the cursor.
TabResult CompleteLine(const Graph& graph, std::string_view before) {
  Words words = SplitWords(before);
  const bool begins = !words.open;
  const Word word = begins ? Word{"", before.size(), false} : words.list.back();
  const std::size_t place = words.list.size() - (begins ? 0 : 1);
  const Kinds kinds = KindsAt(words, place, word.quoted, graph.relation_count() == 1);
  TabResult result{word.begin, std::string(before.substr(word.begin)), {}, ""};
  NameCompletion found = CompleteNames(graph, kinds, word, CompletedPart::kName);
  if (kinds.commands) {
    Merge(CompleteName(
              word.text, kCommands.size(), [](std::uint64_t i) { return kCommands[i]; }, kChoices, kTabTime),
          kChoices, found);
  }
  const bool by_short_name = found.matches == 0 && !word.text.empty();
  if (by_short_name) found = CompleteNames(graph, kinds, word, CompletedPart::kShortName);
  if (found.matches == 0) return result;
  // If the matching names do not extend what was typed, it stays and they are shown.
  const bool grows = !by_short_name || ShortName(found.common).starts_with(word.text);
  const bool quotes = word.quoted || std::any_of(found.names.begin(), found.names.end(), NeedsQuotes);
  if (grows) result.text = quotes ? "\"" + Escape(found.common, found.common.size()) : found.common;
  if (found.matches == 1 && found.whole) {
    result.text += quotes ? "\" " : " ";
  } else if (!grows || found.common == word.text) {
    for (const std::string& name : found.names) result.choices.push_back(EscapeName(name, kMaxChoiceBytes));
    const std::uint64_t more = found.matches - found.names.size();
    if (more > 0) result.note = fmt::format("and {} more", more);
    if (!found.whole) result.note += fmt::format("{}of the names checked", more > 0 ? " " : "");
  }
  return result;
}

// The meaning of a line.
struct Order {
  enum class Kind { kNothing, kQuestion, kHelp, kCount, kQuit };
  Kind kind = Kind::kNothing;
  Question question;
  std::string count;  // number of answers; empty: report it, or keep it
};

Order Ask(Question::Kind kind, std::array<std::string, 3> words) {
  return {Order::Kind::kQuestion, {.kind = kind, .words = std::move(words)}, ""};
}

// Flags at the end of a line.
struct LineFlags {
  std::string count;
  std::string known;
  bool typed = false;
};

// Removes the flags from the line.
absl::StatusOr<LineFlags> TakeFlags(Words& words, std::string_view& line) {
  LineFlags flags;
  std::vector<Word>& list = words.list;
  while (!list.empty()) {
    if (list.size() > 1 && !list.back().quoted && list.back().text == "--typed") {
      flags.typed = true;
      line = line.substr(0, list.back().begin);
      list.pop_back();
      continue;
    }
    const bool alone = list.size() < 2 || list[list.size() - 2].quoted || list[list.size() - 2].text[0] != '-';
    const Word& flag = list[list.size() - (alone ? 1 : 2)];
    const bool count = flag.text == "-k" || flag.text == "--k";
    if (flag.quoted || (!count && flag.text != "--known")) break;
    if (alone) {
      return UsageError(
          fmt::format("{}: found nothing after it; expected {}", flag.text, count ? "a whole number" : "hide or mark"));
    }
    const std::string& value = list.back().text;
    if (!count && std::ranges::find(kKnownWords, value) == std::end(kKnownWords)) {
      return UsageError(fmt::format("--known: found \"{}\"; expected hide or mark", Escape(value)));
    }
    (count ? flags.count : flags.known) = value;
    line = line.substr(0, flag.begin);
    list.resize(list.size() - 2);
  }
  return flags;
}

absl::Status CheckNoFlagOfPredict(const LineFlags& flags) {
  if (!flags.typed && flags.known.empty()) return absl::OkStatus();
  return UsageError(
      fmt::format("{}: found after something else; expected HEAD RELATION {} or {} RELATION TAIL before it",
                  flags.typed ? "--typed" : "--known", kAsked, kAsked));
}

// A name that is the rest of the line needs no quotes.
std::string NameFrom(const Words& words, std::size_t first, std::string_view line) {
  if (first + 1 == words.list.size()) return words.list[first].text;
  const std::string_view rest = line.substr(words.list[first].begin);
  return std::string(rest.substr(0, rest.find_last_not_of(" \t") + 1));
}

absl::StatusOr<Order> ParseOrder(const Words& words, std::string_view line) {
  const std::vector<Word>& list = words.list;
  const std::string command = list[0].quoted ? "" : list[0].text;
  if (list.size() == 1 && (command == "quit" || command == "exit")) return Order{Order::Kind::kQuit, {}, ""};
  if (list.size() == 1 && command == "help") return Order{Order::Kind::kHelp, {}, ""};
  if (list.size() <= 2 && command == "k") {
    return Order{Order::Kind::kCount, {}, list.size() == 2 ? list[1].text : ""};
  }
  if (command == "neighbors") {
    if (list.size() == 1) return UsageError("neighbors: found no name; expected NAME");
    return Ask(Question::Kind::kNeighbors, {NameFrom(words, 1, line)});
  }
  const std::size_t first = command == "predict" ? 1 : 0;
  const std::size_t count = list.size() - first;
  const bool three = count == 2 || count == 3;  // or two of them, if the graph has one relation
  if (first == 1 && !three) {
    return UsageError(
        fmt::format("predict: found {} word{}; expected HEAD RELATION {} or {} RELATION TAIL, and quotes "
                    "around a name with blanks",
                    count, count == 1 ? "" : "s", kAsked, kAsked));
  }
  if (!three || (first == 0 && list.front().text != kAsked && list.back().text != kAsked)) {
    return Ask(Question::Kind::kNeighbors, {NameFrom(words, 0, line)});
  }
  return Ask(Question::Kind::kPredict,
             {list[first].text, list[first + 1].text, count == 3 ? list[first + 2].text : ""});
}

absl::StatusOr<Order> ParseLine(std::string_view line) {
  Words words = SplitWords(line);
  if (words.list.empty()) return Order();
  ASSIGN_OR_RETURN(LineFlags flags, TakeFlags(words, line));
  if (words.list.empty()) {
    RETURN_IF_ERROR(CheckNoFlagOfPredict(flags));
    return Order{Order::Kind::kCount, {}, std::move(flags.count)};
  }
  ASSIGN_OR_RETURN(Order order, ParseOrder(words, line));
  const bool predicts = order.kind == Order::Kind::kQuestion && order.question.kind == Question::Kind::kPredict;
  if (!predicts) RETURN_IF_ERROR(CheckNoFlagOfPredict(flags));
  if (order.kind != Order::Kind::kQuestion) return order;
  order.count = std::move(flags.count);
  order.question.known = std::move(flags.known);
  order.question.typed = flags.typed;
  return order;
}

// The interactive loop.
class Prompt {
 public:
  Prompt(Program& program, const QueryFlags& flags, Answerer& answerer)
      : program_(program), flags_(flags), answerer_(answerer), commits_(program, flags.run, answerer), k_(flags.k) {}

  absl::Status Run() {
    const Graph& graph = *answerer_.run().graph;
    LineEditor editor("octavo> ", [&graph](std::string_view before) { return CompleteLine(graph, before); });
    std::string line;
    while (true) {
      const LineEditor::Input input = editor.Read(line);
      if (input == LineEditor::Input::kEnd) break;
      if (input == LineEditor::Input::kCleared) continue;
      const absl::StatusOr<Order> order = ParseLine(line);
      if (order.ok() && order->kind == Order::Kind::kQuit) return absl::OkStatus();
      const absl::Status status = order.ok() ? Do(*order) : order.status();
      // An error in the question does not end the prompt.
      if (!status.ok() && KindOf(status) != ErrorKind::kUsage) return status;
      std::fflush(stdout);
      if (!status.ok()) program_.reporter.Error(MessageOf(status));
    }
    fmt::print("\n");
    return absl::OkStatus();
  }

 private:
  absl::Status Do(const Order& order) {
    switch (order.kind) {
      case Order::Kind::kHelp:
        fmt::print("{}", kHelpText);
        return absl::OkStatus();
      case Order::Kind::kCount:
        return SetCount(order.count);
      case Order::Kind::kQuestion:
        return Answer(order);
      default:
        return absl::OkStatus();
    }
  }

  // Unchanged if nothing was typed.
  absl::StatusOr<std::uint64_t> ParseCount(const std::string& text) const {
    if (text.empty()) return k_;
    const std::uint64_t most = std::max(kMostAnswers, flags_.k);
    const std::optional<std::uint64_t> count = ParseWholeNumber(text);
    if (count && *count >= 1 && *count <= most) return *count;
    return UsageError(fmt::format("k: found \"{}\"; expected a whole number from 1 to {}", Escape(text), most));
  }

  absl::Status SetCount(const std::string& text) {
    ASSIGN_OR_RETURN(k_, ParseCount(text));
    fmt::print("k {}\n", k_);
    return absl::OkStatus();
  }

  absl::Status Answer(const Order& order) {
    ASSIGN_OR_RETURN(const std::uint64_t k, ParseCount(order.count));
    stopped.store(false, std::memory_order_relaxed);
    const absl::StatusOr<octavo::Answer> answer = answerer_.Ask(order.question, k);
    if (absl::IsCancelled(answer.status())) {
      fmt::print("\n");  // after the ^C of the terminal
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(answer.status());
    RETURN_IF_ERROR(NoteUntrainedNodes(program_, answerer_, answer->question));
    if (flags_.json) {
      Json object = Json::object();
      AddAnswer(*answer, object);
      PrintObject(object);
    } else {
      PrintAnswer(*answer);
      fmt::print("\n");
    }
    std::fflush(stdout);
    return commits_.Show();
  }

  Program& program_;
  const QueryFlags& flags_;
  Answerer& answerer_;
  CommitWarning commits_;
  std::uint64_t k_;
};

}  // namespace

bool CanPrompt() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

absl::Status RunPrompt(Program& program, const QueryFlags& flags) {
  if (!CanPrompt()) {
    return UsageError(
        "prompt: standard input and output are not a terminal; expected one, or octavo query batch - for questions "
        "that "
        "are piped");
  }
  AnswerLimits limits;
  limits.most_answers = std::max(kMostAnswers, flags.k);
  limits.stop = [] { return stopped.load(std::memory_order_relaxed); };
  ASSIGN_OR_RETURN(Answerer answerer, OpenAnswerer(program, flags, limits));
  CatchStops();
  const Graph& graph = *answerer.run().graph;
  program.reporter.Info(fmt::format("{}: {}, {}, {}; help lists what can be asked", flags.run.run,
                                    DescribeRun(answerer.run()), CountText(graph.node_count(), "node"),
                                    CountText(graph.relation_count(), "relation")));
  return Prompt(program, flags, answerer).Run();
}

}  // namespace octavo
