#include "cmd/importing.h"

#include <CLI/App.hpp>
#include <algorithm>
#include <memory>
#include <utility>

#include "base/byte_size.h"
#include "base/count_text.h"
#include "base/escape.h"
#include "base/status.h"
#include "cells/cell_sorter.h"
#include "cmd/flags.h"
#include "cmd/interrupt.h"
#include "cmd/large_blocks.h"
#include "cmd/limits.h"
#include "fmt/format.h"
#include "graph/graph.h"
#include "parse/column_choice.h"

namespace octavo {
namespace {

// The share of the stage that is done, from 0 to 1; -1 if unknown.
double DoneShare(const ImportProgress& progress) {
  if (progress.total > 0) return static_cast<double>(progress.done) / static_cast<double>(progress.total);
  if (progress.total_bytes > 0) return static_cast<double>(progress.bytes) / static_cast<double>(progress.total_bytes);
  return -1;
}

ShownProgress ProgressOf(const ImportProgress& progress) {
  return {.phase = std::string(progress.stage),
          .share = DoneShare(progress),
          .done = static_cast<double>(progress.done),
          .unit = progress.unit,
          .detail = progress.bytes > 0 ? FormatByteSize(progress.bytes) + " read" : std::string()};
}

// Whether the extension of a text file clearly contradicts its first lines.
bool SurelyLooksLikeAnother(const FileFormat& format) {
  return format.reason == FileFormat::Reason::kExtension && format.looks_like &&
         (IsTriples(*format.looks_like) || *format.looks_like == InputFormat::kMatrixMarket ||
          *format.looks_like == InputFormat::kNpy);
}

std::string BySplit(const std::array<std::uint64_t, 3>& counts) {
  return fmt::format("{} train, {} valid, {} test", counts[0], counts[1], counts[2]);
}

std::uint64_t Sum(const std::array<std::uint64_t, 3>& counts) { return counts[0] + counts[1] + counts[2]; }

// A column of nodes or weights that was read as relations makes nearly as many of them as there are nodes.
void WarnOfManyRelations(const ImportFlags& flags, const ImportSummary& summary, Reporter& reporter) {
  constexpr std::uint64_t kLeastRelations = 20;
  constexpr std::uint64_t kNodesOfOne = 3;
  const GraphDescription& graph = summary.graph;
  if (graph.relation_count < kLeastRelations || graph.relation_count * kNodesOfOne < graph.node_count) return;
  reporter.Warning(fmt::format(
      "{} for {}: is the {} column the relation? --columns names the columns in their order, such as head,tail,weight",
      CountText(graph.relation_count, "relation"), CountText(graph.node_count, "node"),
      flags.options.columns.empty() ? "second" : "named"));
}

void ReportLabels(const ImportFlags& flags, const ImportSummary& summary, Reporter& reporter) {
  const ImportedLabels& labels = summary.labels;
  const LabelChoice& choice = flags.options.label_choice;
  if (!summary.graph.HasLabels() && flags.options.labels.empty() && choice.predicate.empty()) return;
  std::string text =
      fmt::format("labels: {} and {}", CountText(labels.nodes, "node"), CountText(labels.relations, "relation"));
  if (labels.repeated > 0)
    text += fmt::format("; left out {} for names that have one already", CountText(labels.repeated, "label"));
  if (labels.unknown > 0) {
    text += fmt::format("; {} that the graph lacks, such as \"{}\"", CountText(labels.unknown, "name"),
                        Escape(labels.first_unknown, 60));
  }
  if (!summary.graph.HasLabels()) {
    reporter.Warning(text +
                     (summary.label_lines > 0 && !choice.language.empty()
                          ? fmt::format("; {} of that predicate, none in the language {}",
                                        CountText(summary.label_lines, "triple"), Escape(choice.language))
                      : summary.label_lines == 0 && !choice.predicate.empty()
                          ? fmt::format("; no triple has the predicate {} with a literal; expected its whole IRI, "
                                        "such as http://www.w3.org/2000/01/rdf-schema#label",
                                        Escape(choice.predicate))
                          : std::string()));
  } else {
    reporter.Info(text);
  }
}

// Reports the result; unusual counts only if they are not zero.
void Report(const ImportFlags& flags, const ImportSummary& summary, Reporter& reporter) {
  for (const std::string& message : summary.bad_line_messages) reporter.Warning(message);
  if (summary.bad_lines > 0) {
    reporter.Warning(fmt::format("{} skipped (--max-bad-lines {})", CountText(summary.bad_lines, "malformed line"),
                                 flags.options.max_bad_lines));
  }
  std::string formats;
  for (const InputFormat format : summary.formats) {
    if (formats.find(InputFormatName(format)) != std::string::npos) continue;
    formats += fmt::format("{}{}", formats.empty() ? "" : "+", InputFormatName(format));
  }
  reporter.Info(fmt::format("read {} ({}, {} blank), {}, columns {}", CountText(summary.lines, "line"),
                            CountText(summary.comment_lines, "comment"), summary.blank_lines, formats,
                            ColumnsText(summary.columns)));
  if (summary.literals > 0) {
    const std::string dropped = fmt::format("dropped (--literals keep keeps them{})",
                                            flags.options.label_choice.predicate.empty()
                                                ? "; --label-predicate IRI reads those of one predicate as labels"
                                                : "");
    reporter.Info(fmt::format("literals: {}; {}", CountText(summary.literals, "triple"),
                              flags.options.keep_literals ? "kept" : dropped));
  }
  ReportLabels(flags, summary, reporter);
  if (Sum(summary.duplicates) > 0) {
    reporter.Info(fmt::format("duplicates: {}; {}", BySplit(summary.duplicates),
                              !flags.options.merge_duplicates ? "kept"
                              : summary.graph.has_weights     ? "merged, weights added"
                                                              : "merged"));
  }
  if (summary.self_loops > 0) {
    reporter.Info(
        fmt::format("self-loops: {}; {}", summary.self_loops, flags.options.drop_self_loops ? "dropped" : "kept"));
  }
  if (Sum(summary.unseen_edges) > 0) {
    reporter.Info(fmt::format("not in any training edge: {} and {}, of {} valid and {}; {}",
                              CountText(summary.unseen_nodes, "node"), CountText(summary.unseen_relations, "relation"),
                              summary.unseen_edges[1], CountText(summary.unseen_edges[2], "test edge"),
                              flags.options.drop_unseen ? "dropped" : "kept (--unseen drop drops them)"));
  }
  if (Sum(summary.also_in_train) > 0) {
    reporter.Warning(fmt::format("{} valid and {} are also in train; kept", summary.also_in_train[1],
                                 CountText(summary.also_in_train[2], "test edge")));
  }
  if (!flags.options.base.empty()) {
    reporter.Info(
        fmt::format("added to the {} of {}", CountText(summary.base_edges, "edge"), flags.options.base.string()));
  }
  const GraphDescription& graph = summary.graph;
  reporter.Info(fmt::format("{}: {}, {}, {} train, {} valid and {}", flags.graph, CountText(graph.node_count, "node"),
                            CountText(graph.relation_count, "relation"), graph.train_edges, graph.valid_edges,
                            CountText(graph.test_edges, "test edge")));
  if (summary.zero_weights > 0) {
    reporter.Info(
        fmt::format("weight 0: {}; dropped, because they are no edges", CountText(summary.zero_weights, "line")));
  }
  WarnOfManyRelations(flags, summary, reporter);
  if (graph.valid_edges + graph.test_edges == 0) {
    reporter.Info(fmt::format("no edges are held out for evaluation; use --valid{}",
                              flags.options.base.empty() ? ", --test or --split 0.9,0.05,0.05" : " or --test"));
  }
  if (summary.spilled_bytes > 0) {
    reporter.Info(fmt::format("names and edges exceed --memory: {} went through temporary files",
                              FormatByteSize(summary.spilled_bytes)));
  }
  const double seconds = summary.seconds();
  reporter.Info(
      fmt::format("took {:.1f} s ({:.1f} reading, {:.1f} ranking, {:.1f} encoding, {:.1f} writing), {:.2f} "
                  "million edges/s",
                  seconds, summary.read_seconds, summary.rank_seconds, summary.encode_seconds, summary.write_seconds,
                  static_cast<double>(summary.input_edges) / 1e6 / std::max(seconds, 1e-9)));
}

// An IRI may be given as N-Triples has it, <IRI>.
void TakeOffBrackets(std::string& iri) {
  if (iri.size() > 2 && iri.starts_with('<') && iri.ends_with('>')) iri = iri.substr(1, iri.size() - 2);
}

// Sets the format, and the separator of csv.
absl::Status TakeSeparator(const std::string& separator, ImportOptions& options) {
  if (separator.empty()) return absl::OkStatus();
  const bool tab = separator == "tab" || separator == "\t" || separator == "\\t";
  const InputFormat format = tab                                        ? InputFormat::kTsv
                             : separator == "blank" || separator == " " ? InputFormat::kBlank
                                                                        : InputFormat::kCsv;
  if (format == InputFormat::kCsv) {
    const unsigned char c = static_cast<unsigned char>(separator[0]);
    if (separator.size() != 1 || c <= ' ' || c >= 0x7F || c == '"') {
      return UsageError(
          fmt::format("--separator: found \"{}\"; expected one ASCII character that is not a quote, tab or "
                      "blank",
                      Escape(separator)));
    }
    options.separator = separator[0];
  }
  if (options.format && *options.format != format) {
    return UsageError(fmt::format("--separator {}: found --format {}; expected {}, or no --format", Escape(separator),
                                  InputFormatName(*options.format), InputFormatName(format)));
  }
  options.format = format;
  return absl::OkStatus();
}

// Lines are turned into edges the same way as those of the base were.
absl::Status TakeOverChoices(ImportFlags& flags, Reporter& reporter) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> base, Graph::Open(flags.options.base));
  const auto take = [&](std::string_view choice) {
    reporter.Info(fmt::format("{} was imported with {}; the same applies to the added edges",
                              flags.options.base.string(), choice));
  };
  if (base->description().undirected && !flags.directed && !flags.options.undirected) {
    flags.options.undirected = true;
    take("--undirected");
  }
  if (base->description().keeps_duplicates && flags.duplicates_option->count() == 0) {
    flags.duplicates = "keep";
    take("--duplicates keep");
  }
  // A graph that was not cut the usual way was cut for a reason, such as the lanes of its runs.
  const GraphDescription& description = base->description();
  if (flags.options.partitions == 0 && description.partition_rows != PartitionLayoutFor(description.node_count).rows) {
    flags.options.partitions = std::min(description.partition_count, kMostPartitions);
    reporter.Info(fmt::format("{} has {}; the new graph is cut into as many", flags.options.base.string(),
                              CountText(description.partition_count, "partition")));
  }
  return absl::OkStatus();
}

}  // namespace

void AddImportFlags(CLI::App& app, ImportFlags& flags) {
  RefuseEmpty(app.add_option("--valid", flags.options.valid, "Files with the validation edges"))->type_name("FILE");
  RefuseEmpty(app.add_option("--test", flags.options.test, "Files with the test edges"))->type_name("FILE");
  app.add_option("--columns", flags.options.columns,
                 "Columns in their order, out of head,relation,tail,weight, - to skip one; or by number or title: 1,3, "
                 "source,target,weight, head=1,tail=name; by default 2 are head,tail, 3 head,relation,tail, 4 "
                 "head,relation,tail,weight")
      ->type_name("LIST");
  app.add_option("--format", flags.format, "Format of the files; auto: by extension and first lines")
      ->check(CLI::IsMember({"auto", "tsv", "csv", "blank", "ntriples", "nquads", "mtx", "npy"}))
      ->capture_default_str();
  app.add_option("--separator", flags.separator,
                 "Separator of the columns: one character such as ';', or tab or blank; by default detected. With a "
                 "character other than a comma, weights may have a decimal comma")
      ->type_name("CHAR");
  AddWholeNumber(app, "--skip-lines", flags.options.skip_lines, 0, UINT64_MAX,
                 "Skip this many lines at the head of each file, e.g. column titles");
  app.add_option("--literals", flags.literals, "Triples whose object is a literal: drop or keep")
      ->check(CLI::IsMember({"drop", "keep"}))
      ->capture_default_str();
  RefuseEmpty(app.add_option("--node-names", flags.options.node_names,
                             "Node names for NumPy arrays, one per line from index 0; by default numbers"))
      ->type_name("FILE");
  RefuseEmpty(app.add_option("--relation-names", flags.options.relation_names, "Relation names for NumPy arrays"))
      ->type_name("FILE");
  RefuseEmpty(app.add_option("--labels", flags.options.labels,
                             "Labels for people: lines of a node's or relation's name and its label, tab-separated, or "
                             "comma-separated if it ends in .csv; the first of a name counts"))
      ->type_name("FILE");
  RefuseEmpty(app.add_option("--label-predicate", flags.options.label_choice.predicate,
                             "Predicate whose literals are labels, not edges: the IRI, usually that of rdfs:label"))
      ->type_name("IRI");
  RefuseEmpty(
      app.add_option("--label-language", flags.options.label_choice.language,
                     "Language tag of those literals, such as en; those without a tag count, too; by default any"))
      ->type_name("TAG");
  AddWholeNumber(app, "--max-bad-lines", flags.options.max_bad_lines, 0, UINT64_MAX,
                 "Skip up to this many malformed lines");
  flags.undirected_option =
      app.add_flag("--undirected", flags.options.undirected,
                   "Use each line for both directions, in training and held-out edges; --split keeps them together");
  app.add_flag("--directed", flags.directed,
               "Use each line for one direction, even if --base was imported with --undirected")
      ->excludes(flags.undirected_option);
  flags.duplicates_option =
      app.add_option("--duplicates", flags.duplicates, "Copies of an edge: merge into one, weights added, or keep")
          ->check(CLI::IsMember({"merge", "keep"}))
          ->capture_default_str();
  app.add_option("--self-loops", flags.self_loops, "Edges from a node to itself: keep or drop")
      ->check(CLI::IsMember({"keep", "drop"}))
      ->capture_default_str();
  app.add_option("--unseen", flags.unseen, "Valid and test edges with a name that is in no training edge: keep or drop")
      ->check(CLI::IsMember({"keep", "drop"}))
      ->capture_default_str();
}

absl::StatusOr<std::optional<ImportSummary>> RunImport(ImportFlags& flags, Program& program,
                                                       std::optional<AtomicFolder>* unnamed) {
  ImportOptions& options = flags.options;
  options.graph = flags.graph;
  options.format = ParseInputFormat(flags.format);  // none for auto
  RETURN_IF_ERROR(TakeSeparator(flags.separator, options));
  options.keep_literals = flags.literals == "keep";
  if (!options.base.empty()) RETURN_IF_ERROR(TakeOverChoices(flags, program.reporter));
  TakeOffBrackets(options.label_choice.predicate);
  options.merge_duplicates = flags.duplicates == "merge";
  options.drop_self_loops = flags.self_loops == "drop";
  options.drop_unseen = flags.unseen == "drop";
  options.stop = Interrupted;
  options.opened = [&, last = std::optional<FileFormat>()](const std::string& path, const FileFormat& format) mutable {
    const std::string name = path == "-" ? "<stdin>" : path;
    const std::string text = fmt::format("reading {} as {}", name, FileFormatText(format));
    if (SurelyLooksLikeAnother(format)) {
      program.reporter.Warning(text);
    } else if (last == format) {
      program.reporter.Detail(text);  // a graph has many parts
    } else {
      program.reporter.Info(text);
    }
    if (format.numeric_tails > 0 && !(last && last->numeric_tails > 0)) {
      program.reporter.Warning(
          fmt::format("{}: the third column has numbers only and is read as tail; if they are weights: --columns "
                      "head,tail,weight{}; if they are none: --columns head,tail,-{}",
                      name, format.numeric_tails > 3 ? ",-" : "", format.numeric_tails > 3 ? ",-" : ""));
    }
    if (format.timed_weights && !(last && last->timed_weights)) {
      program.reporter.Warning(fmt::format(
          "{}: the fourth column has whole numbers as large as times in seconds and is read as weight; if they are "
          "times: --columns head,relation,tail,-",
          name));
    }
    if (format.titles && !(last && last->titles == format.titles)) {
      const std::optional<std::string> columns =
          ColumnsOfTitles(format.titles->text, format.format, format.separator, format.numeric_tails > 0);
      program.reporter.Warning(fmt::format(
          "{}:{}: \"{}\" looks like column titles but is read as an edge; --skip-lines {} skips "
          "it, and as many lines of every other file{}",
          name, format.titles->line, Escape(format.titles->text), format.titles->line,
          columns ? fmt::format("; --columns {} reads the columns of these titles", ShellWord(*columns)) : ""));
    }
    if (format.blank_names && !(last && last->blank_names)) {
      const bool literal =
          std::string_view(",;|:").find(format.separator) != std::string_view::npos;  // in sed's expressions
      program.reporter.Warning(fmt::format(
          "{0}: names begin with a blank, because one follows each \"{1}\"; remove the blanks{2}", name,
          format.separator,
          literal ? fmt::format(" (sed 's/{0} */{0}/g' does, if no name contains \"{0} \")", format.separator) : ""));
    }
    last = format;
  };
  options.memory_bytes = MemoryLimit(program);
  ReturnLargeBlocks();
  CatchInterrupts();
  absl::StatusOr<ImportSummary> summary = Import(
      options, [&](const ImportProgress& progress) { program.reporter.Show(ProgressOf(progress)); }, unnamed);
  program.reporter.EndProgress();
  if (EndedByInterrupt(program, summary.status(), flags.graph)) return std::nullopt;
  if (!summary.ok()) return summary.status();
  if (options.check_only) {
    program.reporter.Info(fmt::format("{}: would be made from {}; --dry-run: nothing was written", flags.graph,
                                      CountText(options.inputs.size(), "file")));
    return std::nullopt;
  }
  Report(flags, *summary, program.reporter);
  return *std::move(summary);
}

}  // namespace octavo
