// octavo export: a run's vectors for other programs.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/status.h"
#include "cmd/flags.h"
#include "cmd/program.h"
#include "cmd/reading_memory.h"
#include "cmd/run_flags.h"
#include "export/output_file.h"
#include "export/vector_formats.h"
#include "export/vector_table.h"
#include "export/vector_writer.h"
#include "fmt/format.h"
#include "format/paths.h"

namespace octavo {
namespace {

constexpr std::uint64_t kMaxBlockBytes = 8 << 20;

struct ExportFlags {
  RunFlags run;
  std::string output;
  std::string format = "npy";
  std::string table = "embeddings";
  std::string part = "all";
  std::string names;
  bool normalize = false;
};

// Returns the path with links followed as far as it is there. Also of "x" and "./x", of which there is nothing yet.
std::filesystem::path Canonical(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
}

// Refuses to write over a file that the run or the graph consists of.
absl::Status CheckTarget(const std::string& flag, const std::string& path, const ExportFlags& flags,
                         const Graph& graph) {
  const GraphPaths& paths = graph.paths();
  std::vector<std::filesystem::path> own = RunPaths(flags.run.run).All();
  for (const std::string& name : GraphPaths::FileNames()) own.push_back(paths.folder() / name);
  const std::filesystem::path target = Canonical(path);
  for (const std::filesystem::path& file : own) {
    if (Canonical(file) != target) continue;
    return UsageError(fmt::format("{} {}: is a file of the run or its graph; choose another name", flag, path));
  }
  return absl::OkStatus();
}

absl::Status CheckTargets(const ExportFlags& flags, const Graph& graph) {
  RETURN_IF_ERROR(CheckTarget("--output", flags.output, flags, graph));
  if (flags.names.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckTarget("--names", flags.names, flags, graph));
  if (Canonical(flags.names) != Canonical(flags.output)) return absl::OkStatus();
  return UsageError(fmt::format("--names {}: --output goes there too; choose another name", flags.names));
}

// The block of rows, its pages in the cache, the text made of it in strings that grow by doubling, and two windows of
// the output are at most this many blocks.
constexpr std::uint64_t kBlocksHeld = 32;
constexpr std::uint64_t kLeastBlockBytes = 128 << 10;

// Writes the names to a file that waits for its Commit, or none where none are asked for.
absl::StatusOr<std::optional<OutputFile>> WriteNamesFile(const ExportFlags& flags, const VectorTable& table,
                                                         const ReadingMemory& memory) {
  if (flags.names.empty()) return std::optional<OutputFile>();
  ASSIGN_OR_RETURN(OutputFile names, OutputFile::Open(flags.names));
  if (memory.drops_behind) names.WriteBehind(kMaxBlockBytes / 8);
  RETURN_IF_ERROR(WriteNames(table, names));
  return std::optional<OutputFile>(std::move(names));
}

// Vectors and names appear when both are whole.
absl::Status WriteTable(Program& program, const ExportFlags& flags, VectorFormat format, const VectorTable& table,
                        const ReadingMemory& memory) {
  ASSIGN_OR_RETURN(std::optional<OutputFile> names, WriteNamesFile(flags, table, memory));
  ASSIGN_OR_RETURN(OutputFile output, OutputFile::Open(flags.output));
  const std::uint64_t block_bytes = std::min(kMaxBlockBytes, memory.bytes / kBlocksHeld);
  // A number is 4 bytes or up to 16 characters.
  const bool text = format == VectorFormat::kWord2Vec || format == VectorFormat::kTsv;
  const std::uint64_t output_bytes = table.rows * table.columns * (text ? 16 : sizeof(float));
  if (memory.drops_behind || output_bytes > memory.bytes / 2) output.WriteBehind(4 * block_bytes);
  WriteOptions options;
  options.format = format;
  options.normalize = flags.normalize;
  options.block_bytes = block_bytes;
  options.progress = [&](std::uint64_t rows) {
    program.reporter.Show({.phase = "writing",
                           .share = static_cast<double>(rows) / static_cast<double>(table.rows),
                           .done = static_cast<double>(rows),
                           .unit = "rows"});
  };
  ASSIGN_OR_RETURN(const WriteReport report, WriteVectors(table, options, output));
  RETURN_IF_ERROR(output.Commit());
  if (names) RETURN_IF_ERROR(names->Commit());
  program.reporter.EndProgress();
  if (report.names_changed > 0) {
    program.reporter.Warning(fmt::format(
        "{} of {} names cannot stand in the {} format as they are: {} became _; names that are now equal are one to a "
        "reader",
        report.names_changed, table.rows, flags.format,
        format == VectorFormat::kTsv ? "tabs and line ends" : "blanks (and bytes that are not UTF-8 U+FFFD)"));
  }
  program.reporter.Info(fmt::format("{}: {} vectors of {} numbers, {}", output.name(), table.rows, table.columns,
                                    FormatByteSize(output.bytes_written())));
  return absl::OkStatus();
}

absl::Status RunExport(Program& program, const ExportFlags& flags) {
  ASSIGN_OR_RETURN(const VectorFormat format, ParseVectorFormat(flags.format));
  ASSIGN_OR_RETURN(TrainedRun run, OpenRun(flags.run));
  RETURN_IF_ERROR(CheckTargets(flags, *run.graph));
  const bool relations = flags.table == "relations";
  if (relations && run.model.RelationWidth() == 0) {
    return UsageError(fmt::format("--table relations: the {} model has no relation parameters; expected embeddings",
                                  ModelName(run.model.kind)));
  }
  if (flags.part != "all" && (relations || run.model.kind != ModelKind::kSourceContext)) {
    return UsageError(
        fmt::format("--part {}: found {} of the {} model; expected embeddings of source-context, whose "
                    "rows are [source | context]",
                    flags.part, flags.table, ModelName(run.model.kind)));
  }
  const std::uint64_t row_bytes = (relations ? run.model.RelationWidth() : run.model.dim) * sizeof(float);
  ASSIGN_OR_RETURN(const ReadingMemory memory,
                   ShareReadingMemory(program, "export", run, kBlocksHeld * std::max(kLeastBlockBytes, row_bytes)));
  VectorTable table = relations ? RelationVectors(*run.graph, run.relations, run.model.RelationWidth())
                                : NodeVectors(*run.graph, run.embeddings);
  const std::size_t half = run.model.dim / 2;
  if (flags.part == "source") table = ColumnsOf(std::move(table), 0, half);
  if (flags.part == "context") table = ColumnsOf(std::move(table), half, run.model.dim);
  RETURN_IF_ERROR(WriteTable(program, flags, format, table, memory));
  return WarnIfCommitted(program, flags.run, run);
}

}  // namespace

void AddExportVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand("export", "Write a run's vectors in a format that other programs read");
  const auto flags = std::make_shared<ExportFlags>();
  AddRunFlags(*verb, flags->run);
  RefuseEmpty(verb->add_option("--output", flags->output, "File to write; - for standard output"))
      ->required()
      ->type_name("FILE");
  verb->add_option("--format", flags->format, "npy, word2vec, word2vec-binary or tsv")
      ->check(CLI::IsMember({"npy", "word2vec", "word2vec-binary", "tsv"}))
      ->type_name("NAME")
      ->capture_default_str();
  verb->add_option("--table", flags->table, "embeddings (of the nodes) or relations")
      ->check(CLI::IsMember({"embeddings", "relations"}))
      ->type_name("NAME")
      ->capture_default_str();
  verb->add_option("--part", flags->part, "Half of the rows of source-context: source or context; all: both")
      ->check(CLI::IsMember({"source", "context", "all"}))
      ->type_name("NAME")
      ->capture_default_str();
  RefuseEmpty(verb->add_option("--names", flags->names, "Write the names of the rows besides, one a line"))
      ->type_name("FILE");
  verb->add_flag("--normalize", flags->normalize, "Divide each vector by its Euclidean norm");
  verb->footer(
      "Rows are in id order: row i is line i + 1 of the graph's nodes.names. The file appears when it is whole.\n"
      "In word2vec formats blanks in names become _, in tsv tabs and line ends do; a warning counts them.");
  verb->final_callback([&program, flags] { program.run = [flags](Program& p) { return RunExport(p, *flags); }; });
}

}  // namespace octavo
