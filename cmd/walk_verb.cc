// octavo walk: makes the graph of the pairs of nodes that meet on a graph's walks.

#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_size.h"
#include "base/count_text.h"
#include "base/duration.h"
#include "base/json_escape.h"
#include "base/status.h"
#include "cmd/flags.h"
#include "cmd/interrupt.h"
#include "cmd/large_blocks.h"
#include "cmd/limits.h"
#include "cmd/next_commands.h"
#include "cmd/option_file.h"
#include "cmd/presets.h"
#include "cmd/program.h"
#include "cmd/version_facts.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "walk/early_ends.h"
#include "walk/walk_graph.h"

namespace octavo {
namespace {

// The group of the options that a configuration file may contain.
constexpr std::string_view kWalkGroup = "The walks";

struct WalkFlags {
  WalkGraphOptions options;
  std::string graph;
  std::string output;
  std::string kind = "deepwalk";
  std::string pairs = "auto";
  std::string self_loops = "drop";
  std::string config;
  bool json = false;
  bool print_config = false;
  CLI::App* verb = nullptr;
  // Flags that only some kinds use.
  std::vector<CLI::Option*> windowed;
  std::vector<CLI::Option*> biased;
  std::vector<CLI::Option*> ppr;
};

ShownProgress ProgressOf(const WalkProgress& progress) {
  return {.phase = std::string(progress.stage),
          .share = progress.total > 0 ? static_cast<double>(progress.done) / static_cast<double>(progress.total) : -1,
          .done = static_cast<double>(progress.done),
          .unit = progress.unit};
}

void Report(const WalkFlags& flags, const WalkSummary& summary, Reporter& reporter) {
  const GraphDescription& graph = summary.graph;
  reporter.Info(fmt::format("{}, {}{}", CountText(summary.walks, "walk"), CountText(summary.pairs, "pair"),
                            flags.options.walk.pairs == PairDirection::kBoth ? ", each for both directions" : ""));
  reporter.Info(fmt::format("{}: {}, {} train, {} valid and {}", flags.output, CountText(graph.node_count, "node"),
                            graph.train_edges, graph.valid_edges, CountText(graph.test_edges, "test edge")));
  if (summary.streamed) reporter.Info("the neighbours exceed --memory: walks were taken step by step");
  if (summary.spilled_bytes > 0) {
    reporter.Info(fmt::format("{} went through temporary files", FormatByteSize(summary.spilled_bytes)));
  }
  reporter.Info(fmt::format("took {} ({:.1f} s walking, {:.1f} writing)",
                            DurationText(summary.walk_seconds + summary.write_seconds), summary.walk_seconds,
                            summary.write_seconds));
}

void PrintJson(const WalkFlags& flags, const WalkSummary& summary) {
  auto object = nlohmann::ordered_json::object();
  object["graph"] = flags.output;
  object["nodes"] = summary.graph.node_count;
  object["train_edges"] = summary.graph.train_edges;
  object["valid_edges"] = summary.graph.valid_edges;
  object["test_edges"] = summary.graph.test_edges;
  object["fingerprint"] = fmt::format("{:016x}", summary.graph.fingerprint);
  object["walk_seconds"] = summary.walk_seconds;
  object["write_seconds"] = summary.write_seconds;
  object["streamed"] = summary.streamed;
  object["spilled_bytes"] = summary.spilled_bytes;
  object["walk"] = nlohmann::ordered_json::parse(WalkJson(flags.options.walk, summary));
  fmt::print("{}\n", EscapeJsonControls(object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)));
}

// A flag that the kind does not use was meant for another one.
absl::Status RefuseUnread(const WalkFlags& flags, const std::vector<CLI::Option*>& options, bool read,
                          std::string_view reader) {
  for (const CLI::Option* option : options) {
    if (!read && option->count() > 0) {
      return UsageError(
          fmt::format("{}: is not for --kind {}; expected --kind {}", option->get_name(), flags.kind, reader));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadKind(WalkFlags& flags) {
  WalkOptions& walk = flags.options.walk;
  walk.kind = flags.kind == "deepwalk"   ? WalkKind::kDeepWalk
              : flags.kind == "node2vec" ? WalkKind::kNode2Vec
                                         : WalkKind::kPersonalPageRank;
  const bool both = flags.pairs == "both" || (flags.pairs == "auto" && walk.windowed());
  walk.pairs = both ? PairDirection::kBoth : PairDirection::kForward;
  walk.keep_self_loops = flags.self_loops == "keep";
  RETURN_IF_ERROR(RefuseUnread(flags, flags.windowed, walk.windowed(), "deepwalk or node2vec"));
  RETURN_IF_ERROR(RefuseUnread(flags, flags.biased, walk.kind == WalkKind::kNode2Vec, "node2vec"));
  return RefuseUnread(flags, flags.ppr, walk.kind == WalkKind::kPersonalPageRank, "ppr");
}

// As TOML for --config.
void PrintConfiguration(const WalkFlags& flags) {
  const auto has = [](const std::vector<CLI::Option*>& options, const CLI::Option* option) {
    return std::ranges::find(options, option) != options.end();
  };
  const WalkKind kind = flags.options.walk.kind;
  fmt::print("# octavo {}, octavo walk --print-config\n{}", kVersion,
             OptionFileText(*flags.verb, kWalkGroup, [&](const CLI::Option* option) {
               return (flags.options.walk.windowed() || !has(flags.windowed, option)) &&
                      (kind == WalkKind::kNode2Vec || !has(flags.biased, option)) &&
                      (kind == WalkKind::kPersonalPageRank || !has(flags.ppr, option));
             }));
}

absl::Status RunWalk(WalkFlags& flags, Program& program) {
  if (!flags.config.empty()) {
    ASSIGN_OR_RETURN(const std::filesystem::path preset, FindPreset(flags.config, "walk", "--config"));
    RETURN_IF_ERROR(ReadOptionFile(*flags.verb, kWalkGroup, preset));
  }
  RETURN_IF_ERROR(ReadKind(flags));
  if (flags.print_config) {
    PrintConfiguration(flags);
    return absl::OkStatus();
  }
  WalkGraphOptions& options = flags.options;
  options.graph = flags.graph;
  options.output = flags.output;
  options.stop = Interrupted;
  options.memory_bytes = MemoryLimit(program);
  ReturnLargeBlocks();
  CatchInterrupts();
  const absl::StatusOr<WalkSummary> summary =
      MakeWalkGraph(options, [&](const WalkProgress& progress) { program.reporter.Show(ProgressOf(progress)); });
  program.reporter.EndProgress();
  if (EndedByInterrupt(program, summary.status(), flags.output)) return absl::OkStatus();
  if (!summary.ok()) return summary.status();
  if (options.check_only) {
    program.reporter.Info(
        fmt::format("{}: would be made from {} nodes and {} edges of {}{}; --dry-run: nothing was written",
                    flags.output, summary->graph.node_count, summary->graph.train_edges, flags.graph,
                    summary->streamed ? ", step by step through temporary files" : ""));
    return absl::OkStatus();
  }
  Report(flags, *summary, program.reporter);
  const std::optional<std::string> ends = EarlyEnds(flags.options.walk, summary->walks, summary->pairs);
  if (ends) program.reporter.Warning(*ends);
  if (flags.json) PrintJson(flags, *summary);
  if (summary->graph.train_edges > 0) ReportNext(program.reporter, {NextOfWalk(flags.output)});
  return absl::OkStatus();
}

void AddWalkOptions(CLI::App& verb, WalkFlags& flags) {
  WalkOptions& walk = flags.options.walk;
  verb.add_option(
          "--kind", flags.kind,
          "deepwalk and node2vec pair nodes within a window of a walk, ppr pairs the first and last node of a walk")
      ->check(CLI::IsMember({"deepwalk", "node2vec", "ppr"}))
      ->capture_default_str();
  flags.windowed = {
      AddWholeNumber(verb, "--walks", walk.walks, 1, kMaxWalks, "Walks from each node"),
      AddWholeNumber(verb, "--length", walk.length, 2, kMaxLength, "Nodes per walk"),
      AddWholeNumber(verb, "--window", walk.window, 1, kMaxWindow, "Most steps between the nodes of a pair")};
  flags.biased = {AddRealNumber(verb, "--p", walk.p, kMinBias, kMaxBias,
                                "node2vec: a step back weighs 1/p, a step to a neighbour of the previous node 1"),
                  AddRealNumber(verb, "--q", walk.q, kMinBias, kMaxBias, "node2vec: any other step weighs 1/q")};
  flags.ppr = {AddWholeNumber(verb, "--samples", walk.samples, 1, kMaxWalks, "ppr: walks from each node"),
               AddRealNumber(verb, "--alpha", walk.alpha, 0, kMaxAlpha, "ppr: probability of continuing at each node")};
  verb.add_option(
          "--pairs", flags.pairs,
          "both: a pair counts in both directions; forward: from the earlier to the later node; auto: both, except "
          "forward for ppr")
      ->check(CLI::IsMember({"auto", "both", "forward"}))
      ->capture_default_str();
  verb.add_option("--self-loops", flags.self_loops, "Pairs of a node with itself: keep or drop")
      ->check(CLI::IsMember({"keep", "drop"}))
      ->capture_default_str();
  AddWholeNumber(verb, "--seed", walk.seed, 0, UINT64_MAX, "Seed of the walks");
  for (const char* flag : {"--kind", "--walks", "--length", "--window", "--p", "--q", "--samples", "--alpha", "--pairs",
                           "--self-loops", "--seed"}) {
    verb.get_option(flag)->group(std::string(kWalkGroup));
  }
}

}  // namespace

void AddWalkVerb(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<WalkFlags>();
  CLI::App& verb = *app.add_subcommand(
      "walk",
      "Make a graph of the pairs of nodes that are close to each other on random walks.\n"
      "Walks follow training edges, by weight. The pairs become the training edges of the new graph, weighted by\n"
      "how often each occurred; its nodes, valid and test edges are those of the graph.");
  flags->verb = &verb;
  CLI::Option* const graph =
      RefuseEmpty(verb.add_option("--graph", flags->graph, "Graph folder to walk on, without relations"));
  graph->required()->type_name("DIR");
  CLI::Option* const output = RefuseEmpty(verb.add_option("--output", flags->output, "Graph folder to make"));
  output->required()->type_name("DIR");
  RefuseEmpty(verb.add_option("--config", flags->config,
                              "TOML file with the options of the walks, or the name of an installed preset; flags "
                              "override it"))
      ->type_name("FILE");
  AddWalkOptions(verb, *flags);
  verb.add_flag("--overwrite", flags->options.overwrite, "Replace the folder if it exists");
  verb.add_flag("--dry-run", flags->options.check_only, "Check everything, but take no walks and write nothing");
  const auto print_config = [flags, graph, output](std::int64_t) {
    flags->print_config = true;
    graph->required(false);
    output->required(false);
  };
  verb.add_flag_function("--print-config", print_config,
                         "Print the options of the walks as TOML for --config and exit; needs no folder");
  verb.add_flag("--json", flags->json, "Print the summary as a JSON object on standard output");
  verb.callback([flags, &program] { program.run = [flags](Program& running) { return RunWalk(*flags, running); }; });
}

}  // namespace octavo
