// octavo import: makes a graph folder from edge lists and triples.

#include <CLI/App.hpp>
#include <memory>
#include <optional>
#include <string>

#include "base/json_escape.h"
#include "base/status.h"
#include "cells/cell_sorter.h"
#include "cmd/flags.h"
#include "cmd/importing.h"
#include "cmd/next_commands.h"
#include "cmd/program.h"
#include "fmt/format.h"
#include "import/import_report.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

struct ImportVerbFlags {
  ImportFlags import;
  std::string base;
  bool json = false;
};

void PrintJson(const ImportFlags& flags, const ImportSummary& summary) {
  auto object = nlohmann::ordered_json::object();
  object["graph"] = flags.graph;
  object["nodes"] = summary.graph.node_count;
  object["relations"] = summary.graph.relation_count;
  object["train_edges"] = summary.graph.train_edges;
  object["valid_edges"] = summary.graph.valid_edges;
  object["test_edges"] = summary.graph.test_edges;
  object["partitions"] = summary.graph.partition_count;
  object["fingerprint"] = fmt::format("{:016x}", summary.graph.fingerprint);
  object["seconds"] = summary.seconds();
  object["read_seconds"] = summary.read_seconds;
  object["rank_seconds"] = summary.rank_seconds;
  object["encode_seconds"] = summary.encode_seconds;
  object["write_seconds"] = summary.write_seconds;
  object["spilled"] = summary.spilled_bytes > 0;
  object["spilled_bytes"] = summary.spilled_bytes;
  object["bytes_read"] = summary.bytes_read;
  object.update(nlohmann::ordered_json::parse(ImportJson(flags.options, summary)));
  fmt::print("{}\n", EscapeJsonControls(object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)));
}

absl::Status RunImportVerb(ImportVerbFlags& flags, Program& program) {
  flags.import.options.base = flags.base;
  ASSIGN_OR_RETURN(const std::optional<ImportSummary> summary, RunImport(flags.import, program));
  if (summary && flags.json) PrintJson(flags.import, *summary);
  if (summary && summary->graph.train_edges > 0) ReportNext(program.reporter, {NextOfGraph(flags.import.graph)});
  return absl::OkStatus();
}

}  // namespace

void AddImportVerb(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<ImportVerbFlags>();
  ImportOptions& options = flags->import.options;
  CLI::App& verb = *app.add_subcommand("import", "Make a graph folder from edge lists");
  RefuseEmpty(verb.add_option("INPUT", options.inputs,
                              "Files with the training edges, plain, .gz or .zst; patterns such as 'part-*.nt.gz' "
                              "are expanded in order; - for standard input"))
      ->required()
      ->type_name("FILE");
  RefuseEmpty(verb.add_option("--graph", flags->import.graph, "Folder to make"))->required()->type_name("DIR");
  RefuseEmpty(
      verb.add_option("--base", flags->base,
                      "Graph folder whose edges, in their splits, are included in the new graph; --undirected and "
                      "--duplicates then default to those of its import"))
      ->type_name("DIR");
  verb.add_option("--split", options.split,
                  "Fractions of train, valid and test edges, such as 0.9,0.05,0.05, drawn by hash")
      ->type_name("F,F,F");
  AddWholeNumber(verb, "--seed", options.seed, 0, UINT64_MAX, "Seed of --split");
  AddImportFlags(verb, flags->import);
  AddWholeNumber(verb, "--partitions", options.partitions, 1, kMostPartitions,
                 "Cut the nodes into at most this many partitions of a multiple of 1024 nodes; by default 64, and more "
                 "in a graph of more than 4194304 nodes. More allow a smaller --memory of a training")
      ->default_str("");
  verb.add_flag("--overwrite", options.overwrite, "Replace the folder if it exists");
  verb.add_flag("--dry-run", options.check_only,
                "Check files and flags and report how files will be read, but write nothing");
  verb.add_flag("--json", flags->json, "Print the summary as a JSON object on standard output");
  verb.callback(
      [flags, &program] { program.run = [flags](Program& running) { return RunImportVerb(*flags, running); }; });
}

}  // namespace octavo
