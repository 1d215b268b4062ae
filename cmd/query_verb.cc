// octavo query: the nearest neighbours of a node, and the likeliest ends of an edge.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "base/status.h"
#include "cmd/flags.h"
#include "cmd/index.h"
#include "cmd/program.h"
#include "cmd/reading_memory.h"
#include "cmd/run_flags.h"
#include "evaluate/nearest.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMaxAnswers = 1'000'000;
constexpr std::size_t kMaxNameBytes = 60;  // longer names are cut in the table; --json has them whole
constexpr std::string_view kAsked = "?";

struct QueryFlags {
  RunFlags run;
  std::uint64_t k = 10;
  bool json = false;
  // neighbors
  std::string name;
  std::string metric = "cosine";
  std::string index;
  std::uint64_t ef = kDefaultEf;
  std::uint64_t recall = 0;
  // predict
  std::array<std::string, 3> words;
  std::string known = "hide";
};

struct Row {
  std::string name;
  float score = 0.0F;
  bool known = false;
};

// The float's own decimals: as a double it would print 0.10000000149011612 for 0.1.
double Shortest(float value) { return std::strtod(fmt::format("{}", value).c_str(), nullptr); }

void PrintTable(const std::vector<Row>& rows, std::string_view score_name) {
  std::size_t width = 4;
  for (const Row& row : rows) width = std::max(width, Escape(row.name, kMaxNameBytes).size());
  fmt::print("{:>4}  {:<{}}  {:>10}\n", "rank", "name", width, score_name);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    fmt::print("{:>4}  {:<{}}  {:>10.4f}{}\n", i + 1, Escape(rows[i].name, kMaxNameBytes), width, rows[i].score,
               rows[i].known ? "  known" : "");
  }
}

void PrintJson(const Json& object) { fmt::print("{}\n", object.dump(2, ' ', false, Json::error_handler_t::replace)); }

// An answer in the heap of each thread and of their sum, as a row with its name, and as a line of the output.
std::uint64_t AnswerBytes(const Program& program, const QueryFlags& flags, const TrainedRun& run) {
  constexpr std::uint64_t kRowBytes = 512;
  const auto heaps = static_cast<std::uint64_t>(ReadingThreads(program)) + 2;
  return std::min(flags.k, run.graph->node_count()) * (heaps * sizeof(ScoredNode) + kRowBytes);
}

absl::StatusOr<SearchOptions> SearchOf(const Program& program, const QueryFlags& flags, TrainedRun& run) {
  const std::uint64_t answers = AnswerBytes(program, flags, run);
  ASSIGN_OR_RETURN(const ReadingMemory memory,
                   ShareReadingMemory(program, "query", run, answers + LeastSearchMemory(EmbeddedOf(run))));
  SearchOptions options;
  options.k = flags.k;
  options.memory_bytes = memory.bytes - answers;
  return options;
}

// Looks up the name of a node; now and then the pages that names came from are given back.
class NameReader {
 public:
  explicit NameReader(const NodeNames& names) : names_(names) {}
  std::string Read(NodeId node) {
    constexpr std::uint64_t kReadings = 1024;  // a few pages each
    if (++readings_ % kReadings == 0) names_.Forget(0, names_.size());
    return std::string(names_.Name(node));
  }

 private:
  const NodeNames& names_;
  std::uint64_t readings_ = 0;
};

struct Neighbors {
  std::vector<ScoredNode> nodes;
  std::optional<double> recall;
};

absl::StatusOr<Neighbors> FindExactly(Program& program, const QueryFlags& flags, TrainedRun& run) {
  ASSIGN_OR_RETURN(const SearchOptions search, SearchOf(program, flags, run));
  ASSIGN_OR_RETURN(const NodeId node, FindNode(*run.graph, flags.name));
  const Similarity similarity = flags.metric == "dot" ? Similarity::kDot : Similarity::kCosine;
  ASSIGN_OR_RETURN(std::vector<ScoredNode> nodes, NearestNodes(EmbeddedOf(run), node, similarity, search));
  return Neighbors{std::move(nodes), std::nullopt};
}

absl::StatusOr<Neighbors> FindByIndex(Program& program, const QueryFlags& flags, TrainedRun& run) {
  if (flags.metric != "cosine") {
    return UsageError(fmt::format("--metric {}: an index is by cosine; leave out --index", flags.metric));
  }
  constexpr std::uint64_t kCandidateBytes = 64;  // in two heaps that grow by doubling
  const std::uint64_t ef = std::min(std::max(flags.ef, flags.k), run.graph->node_count());
  const std::uint64_t work =
      AnswerBytes(program, flags, run) + ef * kCandidateBytes * static_cast<std::uint64_t>(ReadingThreads(program));
  ASSIGN_OR_RETURN(const CosineIndex index, OpenIndex(program, flags.index, run, flags.run.run, work));
  ASSIGN_OR_RETURN(const NodeId node, FindNode(*run.graph, flags.name));
  Neighbors neighbors{index.Nearest(node, flags.k, flags.ef), std::nullopt};
  if (flags.recall > 0) neighbors.recall = index.Recall(flags.recall, flags.k, flags.ef);
  return neighbors;
}

absl::Status RunNeighbors(Program& program, const QueryFlags& flags) {
  ASSIGN_OR_RETURN(TrainedRun run, OpenRun(flags.run));
  ASSIGN_OR_RETURN(const Neighbors nearest,
                   flags.index.empty() ? FindExactly(program, flags, run) : FindByIndex(program, flags, run));
  RETURN_IF_ERROR(WarnIfCommitted(program, flags.run, run));
  const std::uint64_t sample = std::min(flags.recall, run.graph->node_count());
  std::vector<Row> rows;
  NameReader names(run.graph->nodes());
  for (const ScoredNode& scored : nearest.nodes) rows.push_back({names.Read(scored.node), scored.score, false});
  if (!flags.json) {
    fmt::print("neighbors of \"{}\"\n\n", Escape(flags.name));
    PrintTable(rows, flags.metric);
    if (nearest.recall) fmt::print("\n{}\n", DescribeRecall(*nearest.recall, flags.k, flags.ef, sample));
    return absl::OkStatus();
  }
  Json object = Json::object();
  object["node"] = flags.name;
  object["metric"] = flags.metric;
  if (!flags.index.empty()) object["ef"] = flags.ef;
  if (nearest.recall) object["recall"] = {{"recall", *nearest.recall}, {"k", flags.k}, {"sample", sample}};
  object["neighbors"] = Json::array();
  for (const Row& row : rows) object["neighbors"].push_back({{"node", row.name}, {"score", Shortest(row.score)}});
  PrintJson(object);
  return absl::OkStatus();
}

// HEAD RELATION TAIL as given: the relation may be left out where the graph has one only.
struct AskedTriple {
  std::string head;
  std::string relation;
  std::string tail;
};

absl::StatusOr<AskedTriple> ParseTriple(const std::array<std::string, 3>& words, const Graph& graph) {
  AskedTriple triple;
  if (!words[2].empty()) {
    triple = {words[0], words[1], words[2]};
  } else if (graph.relation_count() == 1) {
    triple = {words[0], std::string(graph.RelationName(RelationId{0})), words[1]};
  } else {
    return UsageError(
        fmt::format("predict: found 2 words; expected HEAD RELATION {0} or {0} RELATION TAIL, as the "
                    "graph has {1} relations",
                    kAsked, graph.relation_count()));
  }
  if ((triple.head == kAsked) != (triple.tail == kAsked)) return triple;
  return UsageError(fmt::format(
      "predict: found \"{}\" and \"{}\" for head and tail; expected {} for exactly one of them (quoted, as the shell "
      "takes it for a pattern)",
      Escape(triple.head), Escape(triple.tail), kAsked));
}

absl::Status RunPredict(Program& program, const QueryFlags& flags) {
  ASSIGN_OR_RETURN(TrainedRun run, OpenRun(flags.run));
  ASSIGN_OR_RETURN(const SearchOptions search, SearchOf(program, flags, run));
  ASSIGN_OR_RETURN(const AskedTriple triple, ParseTriple(flags.words, *run.graph));
  LinkQuestion question;
  question.side = triple.tail == kAsked ? Side::kTail : Side::kHead;
  ASSIGN_OR_RETURN(question.known, FindNode(*run.graph, question.side == Side::kTail ? triple.head : triple.tail));
  ASSIGN_OR_RETURN(question.relation, FindRelation(*run.graph, triple.relation));
  const KnownEdges known = flags.known == "mark" ? KnownEdges::kMark : KnownEdges::kHide;
  ASSIGN_OR_RETURN(const std::vector<Prediction> predictions, PredictLinks(EmbeddedOf(run), question, known, search));
  RETURN_IF_ERROR(WarnIfCommitted(program, flags.run, run));
  std::vector<Row> rows;
  NameReader names(run.graph->nodes());
  for (const Prediction& prediction : predictions) {
    rows.push_back({names.Read(prediction.node), prediction.score, prediction.known});
  }
  if (!flags.json) {
    fmt::print("({}, {}, {}), {}\n\n", Escape(triple.head), Escape(triple.relation), Escape(triple.tail),
               known == KnownEdges::kHide ? "without the edges that are known" : "known edges marked");
    PrintTable(rows, "score");
    return absl::OkStatus();
  }
  Json object = Json::object();
  object["head"] = triple.head == kAsked ? Json() : Json(triple.head);
  object["relation"] = triple.relation;
  object["tail"] = triple.tail == kAsked ? Json() : Json(triple.tail);
  object["known"] = flags.known;
  object["predictions"] = Json::array();
  for (const Row& row : rows) {
    object["predictions"].push_back({{"node", row.name}, {"score", Shortest(row.score)}, {"known", row.known}});
  }
  PrintJson(object);
  return absl::OkStatus();
}

}  // namespace

void AddQueryVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand("query", "Ask a run for neighbours of a node or for likely edges");
  const auto flags = std::make_shared<QueryFlags>();
  verb->require_subcommand(1);
  AddRunFlags(*verb, flags->run);
  AddWholeNumber(*verb, "-k", flags->k, 1, kMaxAnswers, "Answers to show");
  verb->add_flag("--json", flags->json, "Print one JSON object");

  CLI::App* neighbors = verb->add_subcommand("neighbors", "The nodes whose vectors are most like a node's");
  neighbors->add_option("NAME", flags->name, "Name of the node")->required();
  neighbors->add_option("--metric", flags->metric, "cosine, or dot for the inner product")
      ->check(CLI::IsMember({"cosine", "dot"}))
      ->type_name("NAME")
      ->capture_default_str();
  CLI::Option* index = RefuseEmpty(
      neighbors->add_option("--index", flags->index, "Search this file of octavo index, which finds most of them"));
  index->type_name("FILE");
  AddWholeNumber(*neighbors, "--ef", flags->ef, 1, kMaxEf, "Candidates kept in an index: more find more")->needs(index);
  AddWholeNumber(*neighbors, "--recall", flags->recall, 1, kMaxAnswers,
                 "Compare the index with exact searches from this many nodes")
      ->needs(index);
  neighbors->final_callback(
      [&program, flags] { program.run = [flags](Program& p) { return RunNeighbors(p, *flags); }; });

  CLI::App* predict =
      verb->add_subcommand("predict", "The likeliest ends of an edge: HEAD RELATION ? or ? RELATION TAIL");
  // One option a word: the library takes a name in [brackets] for a list where an option has several.
  predict->add_option("HEAD", flags->words[0], "Name of the head, or ? (quoted) to ask for it")->required();
  predict->add_option("RELATION", flags->words[1], "Name of the relation; may be left out where the graph has only one")
      ->required();
  predict->add_option("TAIL", flags->words[2], "Name of the tail, or ? (quoted) to ask for it");
  predict->add_option("--known", flags->known, "What to do with answers that are edges of the graph: hide or mark")
      ->check(CLI::IsMember({"hide", "mark"}))
      ->type_name("NAME")
      ->capture_default_str();
  predict->final_callback([&program, flags] { program.run = [flags](Program& p) { return RunPredict(p, *flags); }; });
}

}  // namespace octavo
