// octavo export: writes a run's vectors for other programs.

#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/count_text.h"
#include "base/escape.h"
#include "base/status.h"
#include "cmd/flags.h"
#include "cmd/interrupt.h"
#include "cmd/opened_run.h"
#include "cmd/output_target.h"
#include "cmd/program.h"
#include "cmd/reading_memory.h"
#include "cmd/run_flags.h"
#include "export/output_file.h"
#include "export/selection.h"
#include "export/vector_formats.h"
#include "export/vector_table.h"
#include "export/vector_writer.h"
#include "fmt/format.h"
#include "io/compressed_output.h"
#include "io/resolved_path.h"

namespace octavo {
namespace {

constexpr std::uint64_t kMaxBlockBytes = 8 << 20;

struct ExportFlags {
  RunFlags run;
  std::string output;
  std::string format = "auto";
  std::string type = "float32";
  std::string table = "embeddings";
  std::string part = "all";
  std::string names;
  std::string metadata;
  std::string scales;
  SelectionOptions selection;
  std::string unknown = "error";
  bool escape_formulas = false;
  bool normalize = false;
};

// The parsed and checked flags.
struct Export {
  VectorFormat format = VectorFormat::kNpy;
  VectorElement element = VectorElement::kFloat32;
  // Files to write, by flag: --output and the files beside it.
  std::vector<std::pair<std::string, std::string>> targets;

  // Empty if the flag was not given.
  std::string PathOf(std::string_view flag) const {
    for (const auto& [name, path] : targets) {
      if (name == flag) return path;
    }
    return "";
  }
};

// The file for the names of projector: that of the vectors with .metadata.tsv for its ending, without compression.
std::string MetadataBeside(const std::string& output) {
  std::filesystem::path path = output;
  if (CompressionOfExtension(output) != Compression::kNone) path.replace_extension();
  return path.replace_extension(".metadata.tsv").string();
}

absl::StatusOr<Export> ParseFlags(const ExportFlags& flags) {
  Export work;
  if (flags.format == "auto") {
    const absl::StatusOr<VectorFormat> format = FormatOfEnding(flags.output);
    if (!format.ok()) return UsageError(fmt::format("--output {}: {}", flags.output, MessageOf(format.status())));
    work.format = *format;
  } else {
    ASSIGN_OR_RETURN(work.format, ParseVectorFormat(flags.format));
  }
  ASSIGN_OR_RETURN(work.element, ParseVectorElement(flags.type));
  const bool projector = work.format == VectorFormat::kProjector;
  const bool int8 = work.element == VectorElement::kInt8;
  if (work.element != VectorElement::kFloat32 && work.format != VectorFormat::kNpy) {
    return UsageError(
        fmt::format("--type {}: found --format {}; expected npy, the only format with types other than float32",
                    flags.type, VectorFormatName(work.format)));
  }
  if (int8 == flags.scales.empty()) {
    return UsageError(fmt::format("--scales: found {} with --type {}; expected a file for int8, and only for int8",
                                  int8 ? "none" : "one", flags.type));
  }
  if (!flags.metadata.empty() && !projector) {
    return UsageError(fmt::format("--metadata: found --format {}; expected projector", VectorFormatName(work.format)));
  }
  if (flags.unknown == "skip" && flags.selection.list.empty()) {
    return UsageError("--unknown skip: found no --select; expected a list of names with it");
  }
  const bool sheet = work.format == VectorFormat::kTsv || work.format == VectorFormat::kCsv || projector;
  if (flags.escape_formulas && !sheet) {
    return UsageError(
        fmt::format("--escape-formulas: found --format {}; expected tsv, csv or projector, which spreadsheets open",
                    VectorFormatName(work.format)));
  }
  std::string metadata = flags.metadata;
  if (projector && metadata.empty()) {
    if (flags.output == "-")
      return UsageError("--output -: expected --metadata FILE, as standard output has no folder");
    metadata = MetadataBeside(flags.output);
  }
  work.targets = {{"--output", flags.output}};
  if (!flags.names.empty()) work.targets.emplace_back("--names", flags.names);
  if (!metadata.empty()) work.targets.emplace_back("--metadata", metadata);
  if (!flags.scales.empty()) work.targets.emplace_back("--scales", flags.scales);
  return work;
}

absl::Status CheckTargets(const Export& work, const ExportFlags& flags, const Graph& graph) {
  std::map<std::filesystem::path, std::string> taken;  // by path: the flag that writes there
  if (!flags.selection.list.empty() && flags.selection.list != "-") {
    ASSIGN_OR_RETURN(std::filesystem::path list, ResolvedPath(flags.selection.list));
    taken.emplace(std::move(list), "--select");
  }
  for (const auto& [flag, target] : work.targets) {
    RETURN_IF_ERROR(CheckTarget(flag, target, flags.run, graph));
    ASSIGN_OR_RETURN(std::filesystem::path resolved, ResolvedPath(target));
    const auto [other, is_new] = taken.emplace(std::move(resolved), flag);
    if (is_new) continue;
    return UsageError(fmt::format("{} {}: {} {} the same file; choose another name", flag, target, other->second,
                                  other->second == "--select" ? "reads" : "writes to"));
  }
  return absl::OkStatus();
}

// Memory in blocks, at most: the block of rows, its pages in the cache, its text in strings that grow by doubling, and
// two windows of the output.
constexpr std::uint64_t kBlocksHeld = 32;
constexpr std::uint64_t kLeastBlockBytes = 128 << 10;

// Memory that does not depend on the size of the blocks.
std::uint64_t FixedBytes(const Export& work, const ExportFlags& flags) {
  constexpr std::uint64_t kHdf5Bytes = 16 << 20;  // of the library and its dependencies: 8 MiB, measured
  std::uint64_t bytes = work.format == VectorFormat::kHdf5 ? kHdf5Bytes : 0;
  for (const auto& [flag, path] : work.targets) {
    if (CompressionOfExtension(path) != Compression::kNone) bytes += OutputFile::kCompressionBytes;
  }
  if (!flags.selection.list.empty() || !flags.selection.match.empty()) bytes += RowSelection::kBytes;
  return bytes;
}

// Reduces `table` to the selected rows, and `memory` by what the selection takes.
absl::StatusOr<VectorTable> Select(Program& program, const ExportFlags& flags, VectorTable table,
                                   ReadingMemory& memory) {
  if (flags.selection.list.empty() && flags.selection.match.empty()) return table;
  SelectionOptions options = flags.selection;
  options.skip_unknown = flags.unknown == "skip";
  options.max_bytes = memory.bytes / 2;
  ASSIGN_OR_RETURN(RowSelection selection, SelectRows(table, options));
  memory.bytes -= selection.rows.size() * RowSelection::kRowBytes;
  if (selection.unknown > 0) {
    program.reporter.Warning(fmt::format("{}: left out {} that the graph lacks, the first \"{}\"", options.list,
                                         CountText(selection.unknown, "name"), Escape(selection.first_unknown)));
  }
  return SelectedRows(std::move(table), std::move(selection));
}

// Opens the file of a flag for later Commit; empty if the flag was not given.
absl::StatusOr<std::optional<OutputFile>> OpenTarget(const Export& work, std::string_view flag) {
  const std::string path = work.PathOf(flag);
  if (path.empty()) return std::optional<OutputFile>();
  ASSIGN_OR_RETURN(OutputFile file, OutputFile::Open(path, CompressionOfExtension(path)));
  return std::optional<OutputFile>(std::move(file));
}

// Writes the names to separate files and returns how many had to be changed.
absl::StatusOr<std::uint64_t> WriteNameFiles(const Export& work, const VectorTable& table, const ReadingMemory& memory,
                                             bool escape_formulas, std::optional<OutputFile>& names,
                                             std::optional<OutputFile>& metadata) {
  const auto write = [&](NamesForm form, std::optional<OutputFile>& file) -> absl::StatusOr<std::uint64_t> {
    if (!file) return 0;
    if (memory.drops_behind) file->WriteBehind(kMaxBlockBytes / 8);
    return WriteNames(table, form, escape_formulas, *file);
  };
  const NamesForm form = work.format == VectorFormat::kHdf5 ? NamesForm::kJsonList : NamesForm::kLines;
  ASSIGN_OR_RETURN(const std::uint64_t in_names, write(form, names));
  ASSIGN_OR_RETURN(const std::uint64_t in_metadata, write(NamesForm::kMetadata, metadata));
  return in_names + in_metadata;
}

void WarnOfChanges(Program& program, const Export& work, const VectorTable& table, const WriteReport& report) {
  if (report.names_changed > 0) {
    std::string_view changes = "bytes that are not UTF-8 became U+FFFD";
    if (work.format == VectorFormat::kTsv || work.format == VectorFormat::kProjector) {
      changes = "tabs and line ends became _";
    } else if (HoldsNames(work.format) && work.format != VectorFormat::kJsonLines) {
      changes = "blanks (and bytes that are not UTF-8 U+FFFD) became _";
    }
    program.reporter.Warning(
        fmt::format("{} of {} cannot be written unchanged in the {} format: {}; readers cannot distinguish names that "
                    "are now equal",
                    report.names_changed, CountText(table.rows, "name"), VectorFormatName(work.format), changes));
  }
  if (report.values_overflowed > 0) {
    program.reporter.Warning(fmt::format("larger than float16's maximum of 65504 and now infinite: {}",
                                         CountText(report.values_overflowed, "value")));
  }
}

// All files appear at once, when all are complete.
absl::Status WriteTable(Program& program, const ExportFlags& flags, const Export& work, const Graph& graph,
                        const VectorTable& table, const ReadingMemory& memory) {
  ASSIGN_OR_RETURN(std::optional<OutputFile> names, OpenTarget(work, "--names"));
  ASSIGN_OR_RETURN(std::optional<OutputFile> metadata, OpenTarget(work, "--metadata"));
  ASSIGN_OR_RETURN(std::optional<OutputFile> scales, OpenTarget(work, "--scales"));
  ASSIGN_OR_RETURN(const std::uint64_t names_changed,
                   WriteNameFiles(work, table, memory, flags.escape_formulas, names, metadata));
  ASSIGN_OR_RETURN(OutputFile output, OutputFile::Open(flags.output, CompressionOfExtension(flags.output)));
  const std::uint64_t block_bytes = std::min(kMaxBlockBytes, memory.bytes / kBlocksHeld);
  // A number takes up to 4 bytes, or 16 characters.
  const std::uint64_t output_bytes = table.rows * table.columns * (IsText(work.format) ? 16 : sizeof(float));
  if (memory.drops_behind || output_bytes > memory.bytes / 2) output.WriteBehind(4 * block_bytes);
  WriteOptions options;
  options.format = work.format;
  options.element = work.element;
  options.scales = scales ? &*scales : nullptr;
  options.escape_formulas = flags.escape_formulas;
  options.normalize = flags.normalize;
  options.block_bytes = block_bytes;
  options.progress = [&](std::uint64_t rows) {
    program.reporter.Show({.phase = "writing",
                           .share = static_cast<double>(rows) / static_cast<double>(table.rows),
                           .done = static_cast<double>(rows),
                           .unit = "rows"});
  };
  ASSIGN_OR_RETURN(WriteReport report, WriteVectors(table, options, output));
  report.names_changed += names_changed;
  RETURN_IF_ERROR(graph.TextStatus());
  // Files needed to read the vectors are committed before them.
  std::vector<OutputFile*> files;
  for (std::optional<OutputFile>* beside : {&names, &metadata, &scales}) {
    if (*beside) files.push_back(&**beside);
  }
  const std::size_t files_beside = files.size();
  files.push_back(&output);
  RETURN_IF_ERROR(OutputFile::CommitAll(files));
  program.reporter.EndProgress();
  WarnOfChanges(program, work, table, report);
  program.reporter.Info(fmt::format("{}: {}, {} of {}, {}{}", output.name(), VectorFormatName(work.format),
                                    CountText(table.rows, "vector"), CountText(table.columns, "number"),
                                    FormatByteSize(output.bytes_written()), ReplacedText(output)));
  for (const OutputFile* file : std::span(files).first(files_beside)) {
    program.reporter.Info(
        fmt::format("{}: {}{}", file->name(), FormatByteSize(file->bytes_written()), ReplacedText(*file)));
  }
  return absl::OkStatus();
}

absl::Status RunExport(Program& program, const ExportFlags& flags) {
  ASSIGN_OR_RETURN(const Export work, ParseFlags(flags));
  const EndOnInterrupt end(program, flags.output == "-" ? "the export" : flags.output);
  ASSIGN_OR_RETURN(TrainedRun run, OpenRun(program, flags.run));
  RETURN_IF_ERROR(CheckTargets(work, flags, *run.graph));
  const bool relations = flags.table == "relations";
  if (relations && run.model.RelationWidth() == 0) {
    return UsageError(fmt::format("--table relations: the {} model has no relation parameters; expected embeddings",
                                  ModelName(run.model.kind)));
  }
  ASSIGN_OR_RETURN(const RowPart part, ParsePart(flags.part, flags.table, run));
  const std::uint64_t row_bytes = (relations ? run.model.RelationWidth() : run.model.dim) * sizeof(float);
  const std::uint64_t fixed_bytes = FixedBytes(work, flags);
  ASSIGN_OR_RETURN(
      ReadingMemory memory,
      ShareReadingMemory(program, "export", run, fixed_bytes + kBlocksHeld * std::max(kLeastBlockBytes, row_bytes)));
  memory.bytes -= fixed_bytes;
  VectorTable table = relations ? RelationVectors(*run.graph, run.relations, run.model.RelationWidth())
                                : NodeVectors(*run.graph, run.embeddings);
  if (part != RowPart::kAll) {
    const ColumnRange columns = ColumnsOf(part, run.model);
    table = ColumnsOf(std::move(table), columns.first, columns.end);
  }
  ASSIGN_OR_RETURN(table, Select(program, flags, std::move(table), memory));
  RETURN_IF_ERROR(WriteTable(program, flags, work, *run.graph, table, memory));
  return WarnIfCommitted(program, flags.run, run);
}

}  // namespace

void AddExportVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand("export", "Write a run's vectors in a format for other programs");
  const auto flags = std::make_shared<ExportFlags>();
  AddRunFlags(*verb, flags->run);
  RefuseEmpty(verb->add_option("--output", flags->output,
                               "File to write, compressed if it ends in .gz or .zst; - for standard output"))
      ->required()
      ->type_name("FILE");
  std::vector<std::string> formats = VectorFormatNames();
  formats.insert(formats.begin(), "auto");
  verb->add_option("--format", flags->format,
                   "Format of the output; auto: by its ending: .npy, .tsv, .csv, .jsonl, .h5, .safetensors, .txt "
                   "(word2vec), .bin (word2vec-binary); npy if it has none")
      ->check(CLI::IsMember(std::move(formats)))
      ->type_name("NAME")
      ->capture_default_str();
  verb->add_option("--type", flags->type, "Numbers of npy: float32, float16, or int8 with one scale per row")
      ->check(CLI::IsMember({"float32", "float16", "int8"}))
      ->type_name("NAME")
      ->capture_default_str();
  RefuseEmpty(verb->add_option("--scales", flags->scales, "File for the scales of int8, npy: vector = row * scale"))
      ->type_name("FILE");
  verb->add_option("--table", flags->table, "embeddings (of the nodes) or relations")
      ->check(CLI::IsMember({"embeddings", "relations"}))
      ->type_name("NAME")
      ->capture_default_str();
  AddPartFlag(*verb, flags->part, "Half of the rows of source-context: source or context; all: both");
  RefuseEmpty(
      verb->add_option("--select", flags->selection.list,
                       "Export only the rows with these names, one per line, in this order; - for standard input"))
      ->type_name("FILE");
  RefuseEmpty(verb->add_option("--match", flags->selection.match,
                               "Export only rows whose names match this regular expression (RE2) anywhere"))
      ->type_name("REGEX");
  verb->add_option("--unknown", flags->unknown, "Names of --select that the graph lacks: error or skip")
      ->check(CLI::IsMember({"error", "skip"}))
      ->type_name("NAME")
      ->capture_default_str();
  RefuseEmpty(
      verb->add_option("--names", flags->names, "Also write the names of the rows, one per line; for hdf5 a JSON list"))
      ->type_name("FILE");
  RefuseEmpty(
      verb->add_option("--metadata", flags->metadata,
                       "File for the names of projector; default: that of the output with the ending .metadata.tsv"))
      ->type_name("FILE");
  verb->add_flag("--escape-formulas", flags->escape_formulas,
                 "Write an apostrophe before names that begin with = + - @, which a spreadsheet would run as formulas "
                 "(tsv, csv, projector)");
  verb->add_flag("--normalize", flags->normalize, "Divide each vector by its Euclidean norm");
  verb->footer(
      "Rows are in id order: row i is line i + 1 of the graph's nodes.names; with --select they are in the order of "
      "its\n"
      "lines. Existing files are replaced, all at once, when all are complete. In word2vec formats blanks in names\n"
      "become _, in tsv and projector tabs and line ends do; bytes that are not UTF-8 become U+FFFD in word2vec, "
      "jsonl\n"
      "and hdf5, and are kept in tsv and projector. A warning counts the names that had to change.");
  verb->final_callback([&program, flags] { program.run = [flags](Program& p) { return RunExport(p, *flags); }; });
}

}  // namespace octavo
