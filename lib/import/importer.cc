#include "import/importer.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "import/cell_sorter.h"
#include "import/edge_collector.h"
#include "import/edge_selection.h"
#include "import/edge_writer.h"
#include "import/import_report.h"
#include "import/name_ranking.h"
#include "import/name_writer.h"
#include "import/split_rule.h"
#include "io/atomic_file.h"
#include "io/checksum.h"
#include "io/file.h"

namespace octavo {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::vector<InputFile> FilesOf(const ImportOptions& options) {
  std::vector<InputFile> files;
  for (const std::string& path : options.inputs) files.push_back({path, Part::kTrain});
  if (!options.valid.empty()) files.push_back({options.valid, Part::kValid});
  if (!options.test.empty()) files.push_back({options.test, Part::kTest});
  return files;
}

// Finds wrong options before any work is done.
absl::Status CheckOptions(const ImportOptions& options, const std::vector<InputFile>& files) {
  if (options.inputs.empty()) return UsageError("no input; expected at least one edge list, or - for standard input");
  if (!options.split.empty() && (!options.valid.empty() || !options.test.empty())) {
    return UsageError("--split and --valid or --test; expected one way to split or the other");
  }
  if (std::ranges::count(files, std::string("-"), &InputFile::path) > 1) {
    return UsageError("- stands for standard input more than once; expected it at most once");
  }
  for (const InputFile& file : files) {
    std::error_code error;
    if (file.path != "-" && !std::filesystem::exists(file.path, error)) {
      return UsageError(fmt::format("{}: no such file", file.path));
    }
  }
  return absl::OkStatus();
}

// The size of all inputs together, 0 if one of them is no regular file.
std::uint64_t TotalBytes(const std::vector<InputFile>& files) {
  std::uint64_t total = 0;
  for (const InputFile& file : files) {
    std::error_code error;
    if (file.path == "-" || !std::filesystem::is_regular_file(file.path, error)) return 0;
    total += std::filesystem::file_size(file.path, error);
  }
  return total;
}

// One import, step by step.
class Importer {
 public:
  Importer(const ImportOptions& options, const std::function<void(const ImportProgress&)>& progress)
      : options_(options), progress_(progress), files_(FilesOf(options)) {}

  absl::StatusOr<ImportSummary> Run() {
    RETURN_IF_ERROR(CheckOptions(options_, files_));
    CollectOptions collect = {.layout = {.format = options_.format, .columns = {}},
                              .max_bad_lines = options_.max_bad_lines,
                              .stop = options_.stop,
                              .progress = nullptr};
    if (!options_.columns.empty()) {
      ASSIGN_OR_RETURN(collect.layout.columns, ParseColumns(options_.columns));
    }
    if (!options_.split.empty()) {
      ASSIGN_OR_RETURN(rules_.split, SplitRule::Parse(options_.split, options_.seed));
    }
    rules_.drop_self_loops = options_.drop_self_loops;
    rules_.drop_unseen = options_.drop_unseen;
    ASSIGN_OR_RETURN(AtomicFolder folder, AtomicFolder::Create(options_.graph, options_.overwrite));
    const Clock::time_point start = Clock::now();
    RETURN_IF_ERROR(Read(collect));
    summary_.read_seconds = SecondsSince(start);
    const Clock::time_point read = Clock::now();
    RETURN_IF_ERROR(Write(GraphPaths(folder.path())));
    if (Stopped()) return absl::CancelledError("interrupted");
    RETURN_IF_ERROR(folder.Commit());
    summary_.write_seconds = SecondsSince(read);
    return std::move(summary_);
  }

 private:
  bool Stopped() const { return options_.stop && options_.stop(); }

  absl::Status Read(CollectOptions& collect) {
    if (progress_) {
      collect.progress = [this, total = TotalBytes(files_)](std::uint64_t edges, std::uint64_t bytes) {
        progress_({.stage = "reading", .edges = edges, .bytes = bytes, .total_bytes = total});
      };
    }
    RETURN_IF_ERROR(CollectEdges(files_, collect, collected_));
    summary_.columns = collected_.columns;
    summary_.formats = collected_.formats;
    summary_.bytes_read = collected_.bytes_read;
    summary_.lines = collected_.lines;
    summary_.comment_lines = collected_.comment_lines;
    summary_.blank_lines = collected_.blank_lines;
    summary_.bad_lines = collected_.bad_lines;
    summary_.bad_line_messages = collected_.bad_line_messages;
    for (const std::uint64_t edges : collected_.file_edges) summary_.input_edges += edges;
    return CheckNotEmpty();
  }

  absl::Status CheckNotEmpty() const {
    for (const Part part : {Part::kTrain, Part::kValid, Part::kTest}) {
      std::uint64_t edges = 0;
      std::string_view first;
      for (std::size_t file = 0; file < files_.size(); ++file) {
        if (files_[file].part != part) continue;
        if (first.empty()) first = files_[file].path;
        edges += collected_.file_edges[file];
      }
      if (!first.empty() && edges == 0) {
        return InputError(fmt::format("{}: found no edge, expected at least one line of {}",
                                      first == "-" ? "<stdin>" : first,
                                      options_.columns.empty() ? "head,tail or head,relation,tail" : options_.columns));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Write(const GraphPaths& paths) {
    const Selection selection = SelectEdges(collected_.runs, collected_.nodes, collected_.relations, rules_);
    summary_.self_loops = selection.self_loops;
    summary_.unseen_nodes = selection.unseen_nodes;
    summary_.unseen_relations = selection.unseen_relations;
    summary_.unseen_edges = selection.unseen_edges;
    if (selection.kept_edges[0] == 0) {
      return InputError(fmt::format("{}: no training edge is left of {}, {} of them self-loops; expected at least one",
                                    options_.inputs[0], summary_.input_edges, summary_.self_loops));
    }
    ASSIGN_OR_RETURN(const NameRanking nodes, RankNodes(collected_.nodes, selection.nodes, HashName));
    const NameRanking relations = RankRelations(collected_.relations, selection.relations);
    summary_.hash_seed = nodes.seed;
    Describe(nodes, relations);
    ASSIGN_OR_RETURN(const NodeArrays arrays, WriteNodes(paths, collected_.nodes, nodes));
    ASSIGN_OR_RETURN(const WrittenEdges written, WriteCells(paths, nodes, relations));
    ASSIGN_OR_RETURN(const std::string relation_text,
                     WriteRelations(paths, collected_.relations, relations, written.relation_train_edges));
    summary_.duplicates = written.duplicates;
    summary_.also_in_train = written.also_in_train;
    GraphDescription& graph = summary_.graph;
    graph.train_edges = written.headers[0].edge_count;
    graph.valid_edges = written.headers[1].edge_count;
    graph.test_edges = written.headers[2].edge_count;
    graph.fingerprint = GraphFingerprint(written.headers, arrays.hashes, arrays.offsets, relation_text);
    return WriteDescription(paths);
  }

  void Describe(const NameRanking& nodes, const NameRanking& relations) {
    GraphDescription& graph = summary_.graph;
    const PartitionLayout partitions = PartitionLayoutFor(nodes.by_rank.size());
    graph.node_count = nodes.by_rank.size();
    graph.relation_count = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(relations.by_rank.size()));
    graph.partition_rows = partitions.rows;
    graph.partition_count = partitions.count;
    graph.has_relations = collected_.columns.relation >= 0;
    graph.has_weights = collected_.columns.weight >= 0;
  }

  absl::StatusOr<WrittenEdges> WriteCells(const GraphPaths& paths, const NameRanking& nodes,
                                          const NameRanking& relations) {
    const GraphDescription& graph = summary_.graph;
    CellsHeader layout;
    layout.has_relations = graph.relation_count > 1 ? 1 : 0;
    layout.has_weights = graph.has_weights ? 1 : 0;
    layout.partition_count = graph.partition_count;
    layout.partition_rows = graph.partition_rows;
    layout.node_count = graph.node_count;
    layout.relation_count = graph.relation_count;
    SortedEdges edges(std::move(collected_.runs), nodes, relations, {graph.partition_rows, graph.partition_count});
    EdgeWriterOptions write = {
        .merge_duplicates = options_.merge_duplicates, .stop = options_.stop, .progress = nullptr};
    if (progress_) {
      write.progress = [this](std::uint64_t done) {
        progress_({.stage = "writing", .edges = done, .total_edges = summary_.input_edges});
      };
    }
    return WriteEdges(paths, edges, layout, write);
  }

  absl::Status WriteDescription(const GraphPaths& paths) const {
    const std::string text = EncodeGraphDescription(summary_.graph, ImportJson(options_, summary_));
    ASSIGN_OR_RETURN(File file, File::Create(paths.Description()));
    RETURN_IF_ERROR(file.WriteAt(0, std::as_bytes(std::span<const char>(text))));
    return file.Close();
  }

  const ImportOptions& options_;
  const std::function<void(const ImportProgress&)>& progress_;
  const std::vector<InputFile> files_;
  SelectionRules rules_;
  CollectedEdges collected_;
  ImportSummary summary_;
};

}  // namespace

absl::StatusOr<ImportSummary> Import(const ImportOptions& options,
                                     const std::function<void(const ImportProgress&)>& progress) {
  return Importer(options, progress).Run();
}

}  // namespace octavo
