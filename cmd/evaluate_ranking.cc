// octavo evaluate without --labels and --link-prediction: the ranks of held-out edges.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/count_text.h"
#include "base/escape.h"
#include "base/status.h"
#include "cmd/evaluate.h"
#include "cmd/opened_run.h"
#include "cmd/reading_memory.h"
#include "cmd/run_flags.h"
#include "evaluate/given_candidates.h"
#include "evaluate/ranking.h"
#include "format/paths.h"
#include "nlohmann/json.hpp"
#include "ranks/ranks.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

// Longer relation names are cut in the table; --json prints them in full.
constexpr std::size_t kMaxNameBytes = 40;

// Null for a side that was not ranked.
void AddMetrics(Json& object, const RankSums& sums) {
  const auto mean = [&](double value) { return sums.count == 0 ? Json() : Json(value); };
  object["mrr"] = mean(sums.MeanReciprocalRank());
  object["hits@1"] = mean(sums.HitsAt1());
  object["hits@3"] = mean(sums.HitsAt3());
  object["hits@10"] = mean(sums.HitsAt10());
  object["mean_rank"] = mean(sums.MeanRank());
}

Json SideObject(const SideSums& sums) {
  Json object = Json::object();
  AddMetrics(object, sums.filtered);
  AddMetrics(object["raw"] = Json::object(), sums.raw);
  if (sums.typed.count > 0) AddMetrics(object["typed"] = Json::object(), sums.typed);
  return object;
}

double MeanCandidates(const RankingReport& report) {
  return static_cast<double>(report.plausible_candidates) / static_cast<double>(report.Both().typed.count);
}

double PlausibleAnswers(const RankingReport& report) {
  return static_cast<double>(report.plausible_answers) / static_cast<double>(report.Both().typed.count);
}

// The figures of typed candidates, if there are any.
void AddTyped(Json& object, const HeldOutFlags& flags, const RankingReport& report) {
  if (!flags.types.typed) return;
  Json& typed = object["typed"] = Json::object();
  AddMetrics(typed, report.Both().typed);
  typed["candidates"] = MeanCandidates(report);
  typed["plausible_answers"] = PlausibleAnswers(report);
  typed["type_share"] = flags.types.share;
  if (!flags.types.types.empty()) typed["types_file"] = flags.types.types;
}

Json ReportObject(const HeldOutFlags& flags, const TrainedRun& run, const RankingReport& report, double seconds) {
  const SideSums both = report.Both();
  Json object = Json::object();
  AddMetrics(object, both.filtered);
  object["triples"] = report.triples;
  object["filtered"] = true;
  object["split"] = flags.split;
  object["candidates"] = report.candidates;
  object["all_candidates"] = report.all_candidates;
  if (!flags.candidates.empty()) object["candidates_file"] = flags.candidates;
  AddMetrics(object["raw"] = Json::object(), both.raw);
  AddTyped(object, flags, report);
  object["head"] = SideObject(report.head);
  object["tail"] = SideObject(report.tail);
  AddRunKeys(object, run, seconds);
  if (!flags.options.per_relation) return object;
  object["relations"] = Json::array();
  for (const RankingReport::Relation& relation : report.relations) {
    Json entry = Json::object();
    entry["relation"] = run.graph->RelationName(relation.relation);
    if (run.graph->labels() != nullptr) {
      const std::string_view label = run.graph->LabelOf(relation.relation);
      entry["label"] = label.empty() ? Json() : Json(label);
    }
    entry["triples"] = relation.triples;
    AddMetrics(entry, relation.Both().filtered);
    if (flags.types.typed) AddMetrics(entry["typed"] = Json::object(), relation.Both().typed);
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

// A side that was not ranked has no means.
std::string Row(std::string_view title, const RankSums& sums) {
  return sums.count == 0 ? "" : fmt::format("{:<22}{}", title, Columns(sums));
}

std::string CandidatesText(const HeldOutFlags& flags, const TrainedRun& run, const RankingReport& report) {
  if (!flags.candidates.empty()) {
    return fmt::format("those ends that {} names ranked among its {}", flags.candidates,
                       CountText(report.candidates, "node"));
  }
  if (report.all_candidates) return "each end ranked among all " + CountText(report.candidates, "node");
  return fmt::format("each end ranked among {} of {}: not comparable with ranks among all of them",
                     CountText(report.candidates, "random node"), run.graph->node_count());
}

std::string ReportTable(const HeldOutFlags& flags, const RunFlags& run_flags, const TrainedRun& run,
                        const RankingReport& report) {
  const SideSums both = report.Both();
  std::string text = fmt::format("{} of {} ({}), {}\n\n", CountText(report.triples, flags.split + " triple"),
                                 run_flags.run, DescribeRun(run), CandidatesText(flags, run, report));
  text += fmt::format("{:<22}{:>8}{:>8}{:>8}{:>9}{:>12}\n", "", "MRR", "Hits@1", "Hits@3", "Hits@10", "mean rank");
  text += Row("filtered", both.filtered);
  text += Row("  tails (h, r, ?)", report.tail.filtered);
  text += Row("  heads (?, r, t)", report.head.filtered);
  text += Row("raw", both.raw);
  text += Row("  tails (h, r, ?)", report.tail.raw);
  text += Row("  heads (?, r, t)", report.head.raw);
  if (!flags.types.typed) return text;
  text += Row("typed", both.typed);
  text += Row("  tails (h, r, ?)", report.tail.typed);
  text += Row("  heads (?, r, t)", report.head.typed);
  text += fmt::format(
      "\ntyped: filtered, and ranked among nodes of a plausible type, {:.1f} on average; {:.1f} % of the "
      "answers are among them\n",
      MeanCandidates(report), 100 * PlausibleAnswers(report));
  return text;
}

// A relation's name, and its label if it has one.
std::string RelationText(const Graph& graph, RelationId relation) {
  const std::string_view label = graph.LabelOf(relation);
  return fmt::format("{}{}", EscapeCell(graph.RelationName(relation), kMaxNameBytes),
                     label.empty() ? "" : fmt::format(" ({})", EscapeCell(label, kMaxNameBytes)));
}

std::string RelationTable(const TrainedRun& run, const RankingReport& report) {
  constexpr std::string_view kTitle = "relation (filtered)";
  std::size_t width = kTitle.size();
  for (const RankingReport::Relation& relation : report.relations) {
    width = std::max(width, RelationText(*run.graph, relation.relation).size());
  }
  std::string text = fmt::format("\n{:<{}}{:>10}{:>8}{:>8}{:>8}{:>9}{:>12}\n", kTitle, width, "triples", "MRR",
                                 "Hits@1", "Hits@3", "Hits@10", "mean rank");
  for (const RankingReport::Relation& relation : report.relations) {
    text += fmt::format("{:<{}}{:>10}{}", RelationText(*run.graph, relation.relation), width, relation.triples,
                        Columns(relation.Both().filtered));
  }
  return text;
}

// Ranks among the candidates that a file gives for each question.
absl::Status RunGivenCandidates(Program& program, const RunFlags& run_flags, const HeldOutFlags& flags, bool json) {
  if (flags.options.sample > 0 || flags.options.per_relation || flags.split_given) {
    return UsageError(
        fmt::format("--candidates: {} has a question in each line, which {} cannot select; expected a "
                    "list of names, or no {}",
                    flags.candidates,
                    flags.split_given          ? "--split"
                    : flags.options.sample > 0 ? "--sample"
                                               : "--per-relation",
                    flags.split_given          ? "--split"
                    : flags.options.sample > 0 ? "--sample"
                                               : "--per-relation"));
  }
  ASSIGN_OR_RETURN(TrainedRun run, OpenRun(program, run_flags));
  EvaluationClock clock(program, "ranking");
  const std::uint64_t least = LeastGivenCandidatesMemory(EmbeddedOf(run), ReadingThreads(program));
  ASSIGN_OR_RETURN(const ReadingMemory memory, ShareReadingMemory(program, "evaluate", run, least));
  ASSIGN_OR_RETURN(const GivenCandidatesReport report,
                   RankGivenCandidates(EmbeddedOf(run), flags.candidates, memory.bytes));
  RETURN_IF_ERROR(WarnIfCommitted(program, run_flags, run));
  program.reporter.EndProgress();
  const double took = clock.Seconds();
  WarnOfUnknownNames(program, flags.candidates, report.unknown_questions, *run.graph);
  if (report.unknown_candidates.lines > 0) {
    program.reporter.Warning(fmt::format("{}: left out {} that {} lacks, the first \"{}\"", flags.candidates,
                                         CountText(report.unknown_candidates.lines, "candidate"),
                                         run.graph->paths().folder().string(),
                                         Escape(report.unknown_candidates.first)));
  }
  const RankSums both = report.Both();
  if (json) {
    Json object = Json::object();
    AddMetrics(object, both);
    object["questions"] = both.count;
    object["candidates"] = report.candidates;
    object["filtered"] = false;
    object["candidates_file"] = flags.candidates;
    for (const auto& [side, sums] : {std::pair("head", &report.head), std::pair("tail", &report.tail)}) {
      AddMetrics(object[side] = Json::object(), *sums);
      object[side]["questions"] = sums->count;
    }
    AddRunKeys(object, run, took);
    PrintReport(object);
    return absl::OkStatus();
  }
  fmt::print("{} of {} ({}), each answer ranked among its own candidates of {}, {:.1f} on average\n\n",
             CountText(both.count, "question"), run_flags.run, DescribeRun(run), flags.candidates,
             static_cast<double>(report.candidates) / static_cast<double>(both.count));
  fmt::print("{:<22}{:>8}{:>8}{:>8}{:>9}{:>12}\n", "", "MRR", "Hits@1", "Hits@3", "Hits@10", "mean rank");
  fmt::print("{}{}{}", Row("given candidates", both), Row("  tails (h, r, ?)", report.tail),
             Row("  heads (?, r, t)", report.head));
  program.reporter.Info(fmt::format("took {:.1f} s", took));
  return absl::OkStatus();
}

// Ranks the nodes' parts at all ranks. Sums of whole numbers are exact, wherever they are made.
RankingShare ShareOfRanking(Ranks& ranks) {
  const auto gathered = [&ranks](std::span<const std::uint64_t> mine) {
    MessageWriter writer;
    writer.PutAll(mine);
    return ranks.Gather(writer.Take());
  };
  const auto combine = [&ranks, gathered](std::span<std::uint64_t> values,
                                          std::uint64_t (*both)(std::uint64_t, std::uint64_t)) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<Message> all, gathered(values));
    std::vector<std::uint64_t> its(values.size());
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
      RETURN_IF_ERROR(MessageReader(all[rank]).GetAll(std::span(its)));
      std::ranges::transform(values, its, values.begin(), both);
    }
    MessageWriter writer;
    writer.PutAll(std::span<const std::uint64_t>(values));
    ASSIGN_OR_RETURN(const Message told, ranks.Tell(writer.Take()));
    return MessageReader(told).GetAll(values);
  };
  return {.part = static_cast<std::uint64_t>(ranks.rank()),
          .parts = static_cast<std::uint64_t>(ranks.size()),
          .least = [combine](std::uint64_t value) -> absl::StatusOr<std::uint64_t> {
            RETURN_IF_ERROR(combine({&value, 1}, [](std::uint64_t a, std::uint64_t b) { return std::min(a, b); }));
            return value;
          },
          .add_up =
              [combine](std::span<std::uint64_t> counts) {
                return combine(counts, [](std::uint64_t a, std::uint64_t b) { return a + b; });
              }};
}

// The ranks may have opened the run before and after a commit.
absl::Status CheckSameCommit(Ranks& ranks, std::uint64_t generation) {
  MessageWriter writer;
  writer.Put(generation);
  ASSIGN_OR_RETURN(const std::vector<Message> all, ranks.Together(writer.Take()));
  for (const Message& message : all) {
    std::uint64_t its = 0;
    RETURN_IF_ERROR(MessageReader(message).Get(its));
    if (its != generation) return RuntimeError("a training committed while the ranks opened the run; stop it first");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunRanking(Program& program, const RunFlags& run_flags, const HeldOutFlags& flags, bool json) {
  if (!flags.candidates.empty()) {
    RETURN_IF_ERROR(CheckCandidatesExist(flags.candidates));
    ASSIGN_OR_RETURN(const bool questions, QuestionFile::Is(flags.candidates));
    if (questions && program.ranks != nullptr) {
      return UsageError(
          "--candidates with a question in each line is for one process; expected no launcher of several");
    }
    if (questions) return RunGivenCandidates(program, run_flags, flags, json);
  }
  ASSIGN_OR_RETURN(TrainedRun run, OpenRun(program, run_flags));
  if (program.ranks != nullptr) RETURN_IF_ERROR(CheckSameCommit(*program.ranks, run.generation));
  EvaluationClock clock(program, "ranking");
  RankingOptions options = flags.options;
  options.split = SplitOf(flags.split);
  if (!flags.candidates.empty()) {
    ASSIGN_OR_RETURN(options.candidate_nodes, ReadCandidates(program, "evaluate", run, flags.candidates));
  }
  ASSIGN_OR_RETURN(const std::optional<NodeLabels> types, ReadTypes(program, "evaluate", run, flags.types));
  if (flags.types.typed) options.types = TypeRuleOptionsOf(flags.types, types);
  const std::uint64_t least = LeastRankingMemory(*run.graph, run.model, options, ReadingThreads(program));
  ASSIGN_OR_RETURN(const ReadingMemory memory, ShareReadingMemory(program, "evaluate", run, least + TypeBytes(types)));
  options.memory_bytes = memory.bytes - TypeBytes(types);
  options.progress = [&](double share) { clock.Show(share); };
  if (program.ranks != nullptr) options.share = ShareOfRanking(*program.ranks);
  ASSIGN_OR_RETURN(const RankingReport report, RankTriples(EmbeddedOf(run), options));
  if (program.ranks != nullptr && !program.ranks->first()) return absl::OkStatus();  // the first one prints
  RETURN_IF_ERROR(WarnIfCommitted(program, run_flags, run));
  program.reporter.EndProgress();
  const double took = clock.Seconds();
  if (json) {
    PrintReport(ReportObject(flags, run, report, took));
    return absl::OkStatus();
  }
  fmt::print("{}", ReportTable(flags, run_flags, run, report));
  if (options.per_relation) fmt::print("{}", RelationTable(run, report));
  program.reporter.Info(
      fmt::format("took {:.1f} s, {:.0f} triples/s", took, static_cast<double>(report.triples) / took));
  return absl::OkStatus();
}

}  // namespace octavo
