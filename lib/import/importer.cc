#include "import/importer.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "base/byte_size.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/stopwatch.h"
#include "cells/cell_sorter.h"
#include "cells/edge_writer.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "graph/graph.h"
#include "import/edge_collector.h"
#include "import/edge_selection.h"
#include "import/import_files.h"
#include "import/import_report.h"
#include "import/label_import.h"
#include "import/name_ranking.h"
#include "import/name_writer.h"
#include "import/spilled_import.h"
#include "import/split_rule.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "parse/name_list.h"

namespace octavo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kCheckedLabels = 1000;  // lines of a file of labels that are read before the edges
constexpr std::uint64_t kShareOfLabels = 4;     // of the memory, one part for labels

// One import, step by step.
class Importer {
 public:
  Importer(const ImportOptions& options, const std::function<void(const ImportProgress&)>& progress)
      : options_(options), progress_(progress) {}

  absl::StatusOr<ImportSummary> Run(std::optional<AtomicFolder>* unnamed) {
    if (!options_.base.empty()) {
      ASSIGN_OR_RETURN(base_, Graph::Open(options_.base));
      if (options_.memory_bytes > 0) base_->DropBehind();
    }
    ASSIGN_OR_RETURN(files_, FilesOf(options_, base_.get()));
    RETURN_IF_ERROR(CheckOptions(options_, files_));
    total_bytes_ = TotalBytes(files_);
    RETURN_IF_ERROR(Prepare());
    // Files that may be removed: those of a graph, and the spill files, which a kill can leave in a partial folder.
    std::vector<std::string> names = GraphPaths::FileNames();
    for (const std::string_view name : SpilledImport::kFileNames) names.emplace_back(name);
    for (const std::string_view name : LabelImport::kFileNames) names.emplace_back(name);
    ASSIGN_OR_RETURN(AtomicFolder folder, AtomicFolder::Create(options_.graph, options_.overwrite, std::move(names)));
    if (options_.check_only) {
      RETURN_IF_ERROR(TellFormats());
      return ImportSummary();
    }
    RETURN_IF_ERROR(folder.UnderFinalName(MakeWithAnySeed(GraphPaths(folder.path()))));
    if (Stopped()) return absl::CancelledError("interrupted");
    if (unnamed == nullptr) {
      RETURN_IF_ERROR(folder.Commit());
    } else {
      unnamed->emplace(std::move(folder));
    }
    summary_.write_seconds = Lap();
    summary_.spilled_bytes = spill_use_.written_bytes.load(std::memory_order_relaxed);
    return std::move(summary_);
  }

 private:
  InputLimits Limits() const {
    return {.window_bytes = plan_.window_bytes, .max_cached_bytes = plan_.max_cached_input_bytes};
  }

  // Reports the format of the files that can be read twice.
  absl::Status TellFormats() const {
    for (const InputFile& file : files_) {
      std::error_code error;
      if (file.base != nullptr || file.path == "-" || !std::filesystem::is_regular_file(file.path, error)) continue;
      ASSIGN_OR_RETURN(const std::optional<FileFormat> format, PeekFormat(file.path, collect_.layout, Limits()));
      if (format && options_.opened) options_.opened(file.path, *format);
    }
    return absl::OkStatus();
  }

  bool Stopped() const { return options_.stop && options_.stop(); }

  // Seconds since the previous call.
  double Lap() { return SecondsSince(std::exchange(lap_, Clock::now())); }

  void Tell(ImportProgress progress) const {
    progress.seconds = SecondsSince(lap_);
    progress_(progress);
  }
  // Returns a function that reports how much of a stage is done; empty if there is no listener.
  SpilledImport::Progress Stage(std::string_view stage, std::string_view unit) const {
    if (!progress_) return nullptr;
    return [this, stage, unit](std::uint64_t done, std::uint64_t total) {
      Tell({.stage = stage, .unit = unit, .done = done, .total = total});
    };
  }

  // Checks the values of the options and the memory.
  absl::Status Prepare() {
    if (options_.memory_plan) {
      plan_ = *options_.memory_plan;
    } else {
      ASSIGN_OR_RETURN(plan_, PlanMemory(options_.memory_bytes, static_cast<std::size_t>(MaxConcurrency())));
    }
    spill_use_.stop = options_.stop;
    if (!options_.label_choice.predicate.empty()) {
      label_bytes_ = std::min(plan_.collected_bytes / kShareOfLabels, LabelSorter::kMostHeldBytes);
      plan_.collected_bytes -= plan_.collected_bytes == UINT64_MAX ? 0 : label_bytes_;
    }
    RETURN_IF_ERROR(ReadNames(options_.node_names, node_names_));
    RETURN_IF_ERROR(ReadNames(options_.relation_names, relation_names_));
    if (!options_.labels.empty()) {
      RETURN_IF_ERROR(LabelImport::CheckFile(options_.labels, kCheckedLabels, options_.stop, Limits()));
    }
    collect_ = {
        .layout = {.format = options_.format,
                   .separator = options_.separator,
                   .columns = {},
                   .skip_lines = options_.skip_lines,
                   .keep_literals = options_.keep_literals,
                   .labels = options_.label_choice.predicate.empty() ? nullptr : &options_.label_choice,
                   .splits_directions = !options_.split.empty() && !options_.undirected,
                   .node_names = options_.node_names.empty() ? nullptr : &node_names_,
                   .relation_names = options_.relation_names.empty() ? nullptr : &relation_names_},
        .max_bad_lines = options_.max_bad_lines,
        .undirected = options_.undirected,
        .workers = plan_.workers,
        .max_bytes = plan_.collected_bytes,
        .limits = Limits(),
        .stop = options_.stop,
        .label = [this](std::string_view name, std::string_view label) { return labels_->AddTriple(name, label); },
        .opened = nullptr,
        .progress = nullptr};
    if (options_.opened) {
      collect_.opened = [this](const InputFile& file, const FileFormat& format) { options_.opened(file.path, format); };
    }
    if (!options_.columns.empty()) {
      const absl::StatusOr<std::optional<ColumnChoice>> choice = ParseColumnChoice(options_.columns);
      if (!choice.ok()) return WithFirstLine(choice.status(), files_, collect_.layout, Limits());
      if (*choice) {
        collect_.layout.choice = **choice;
      } else {
        ASSIGN_OR_RETURN(collect_.layout.columns, ParseColumns(options_.columns));
      }
    }
    if (!options_.split.empty()) {
      ASSIGN_OR_RETURN(rules_.split, SplitRule::Parse(options_.split, options_.seed));
    }
    rules_.undirected = options_.undirected;
    rules_.drop_self_loops = options_.drop_self_loops;
    rules_.drop_unseen = options_.drop_unseen;
    if (progress_) {
      collect_.progress = [this](std::uint64_t edges, std::uint64_t bytes) {
        Tell({.stage = "reading", .unit = "edges", .done = edges, .bytes = bytes, .total_bytes = total_bytes_});
      };
    }
    return absl::OkStatus();
  }

  // Reads the names for indexes and reduces the memory for edges accordingly. The names may take at most half of it.
  absl::Status ReadNames(const std::string& path, NameList& names) {
    if (path.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(names, NameList::Read(path, plan_.collected_bytes / 2, options_.stop));
    plan_.collected_bytes -= plan_.collected_bytes == UINT64_MAX ? 0 : names.bytes();
    return absl::OkStatus();
  }

  // Makes the graph with the first hash seed without a collision. Only spilled names can fail here: RankNodes tries the
  // seeds itself.
  absl::Status MakeWithAnySeed(const GraphPaths& paths) {
    ASSIGN_OR_RETURN(bool made, Make(paths));
    while (!made) {
      RETURN_IF_ERROR(TakeNextSeed());
      ASSIGN_OR_RETURN(made, Make(paths));
    }
    return absl::OkStatus();
  }

  // Reads the input and writes all files. Returns false if the hashes of spilled names collide with this seed.
  absl::StatusOr<bool> Make(const GraphPaths& paths) {
    summary_ = {};
    collected_.emplace();
    if (HasLabels()) labels_.emplace(paths.folder(), options_.node_hash, hash_seed_, LabelBytes(), spill_use_);
    lap_ = Clock::now();
    RETURN_IF_ERROR(Read(paths));
    summary_.read_seconds += Lap();
    if (spilled_ != nullptr) {
      ASSIGN_OR_RETURN(const bool made, WriteSpilled(paths));
      if (!made) return false;
    } else {
      RETURN_IF_ERROR(WriteHeld(paths));
    }
    RETURN_IF_ERROR(WriteLabels(paths));
    RETURN_IF_ERROR(WriteDescription(paths));
    return true;
  }

  bool HasLabels() const {
    return !options_.labels.empty() || !options_.label_choice.predicate.empty() ||
           (base_ != nullptr && base_->labels() != nullptr);
  }
  // What labels may take while the input is read, or afterwards if none come from triples.
  std::uint64_t LabelBytes() const { return label_bytes_ > 0 ? label_bytes_ : plan_.merge_bytes / kShareOfLabels; }

  // Writes the labels, after nodes and relations, whose memory is free by now except for the names of relations.
  absl::Status WriteLabels(const GraphPaths& paths) {
    if (!labels_) return absl::OkStatus();
    if (const auto tell = Stage("labelling", "nodes")) tell(0, summary_.graph.node_count);
    if (!options_.labels.empty()) RETURN_IF_ERROR(labels_->AddFile(options_.labels, options_.stop, Limits()));
    if (base_ != nullptr) RETURN_IF_ERROR(labels_->AddBase(*base_));
    const std::uint64_t relation_bytes = std::min(2 * collected_->relations.bytes(), plan_.merge_bytes / 2);
    ASSIGN_OR_RETURN(summary_.labels, labels_->Write(paths, summary_.hash_seed, plan_.merge_bytes - relation_bytes,
                                                     options_.memory_bytes > 0, summary_.graph));
    labels_.reset();
    return absl::OkStatus();
  }

  // With another seed the spilled data is useless, so the input must be readable a second time.
  absl::Status TakeNextSeed() {
    if (total_bytes_ == 0) {
      return RuntimeError(
          fmt::format("two names have the same hash with seed {}, and the input cannot be read again; expected files, "
                      "or a --memory "
                      "that holds the import",
                      hash_seed_));
    }
    if (++hash_seed_ == kMaxHashSeeds) return NoHashSeedError();
    spilled_.reset();
    return absl::OkStatus();
  }

  // Reads the input to its end. Data beyond the memory is spilled; once anything is spilled, so is the rest.
  absl::Status Read(const GraphPaths& paths) {
    EdgeCollector collector(files_, collect_, *collected_);
    while (!collector.at_end()) {
      RETURN_IF_ERROR(collector.Collect());
      if (collector.at_end() && spilled_ == nullptr) break;
      RETURN_IF_ERROR(Spill(paths));
    }
    if (spilled_ != nullptr) Free(*collected_);
    summary_.columns = collected_->columns;
    summary_.formats = collected_->formats;
    summary_.bytes_read = collected_->bytes_read;
    summary_.lines = collected_->lines;
    summary_.comment_lines = collected_->comment_lines;
    summary_.blank_lines = collected_->blank_lines;
    summary_.literals = collected_->literals;
    summary_.label_lines = collected_->label_lines;
    summary_.zero_weights = collected_->zero_weights;
    summary_.bad_lines = collected_->bad_lines;
    summary_.bad_line_messages = collected_->bad_line_messages;
    for (std::size_t file = 0; file < files_.size(); ++file) {
      (files_[file].base == nullptr ? summary_.input_edges : summary_.base_edges) += collected_->file_edges[file];
    }
    RETURN_IF_ERROR(CheckNotEmpty());
    return CheckColumns();
  }

  // Writes the names and edges in memory to temporary files.
  absl::Status Spill(const GraphPaths& paths) {
    if (spilled_ == nullptr) {
      ASSIGN_OR_RETURN(spilled_, SpilledImport::Create({.folder = paths.folder(),
                                                        .rules = rules_,
                                                        .hash = options_.node_hash,
                                                        .hash_seed = hash_seed_,
                                                        .encode_bytes = plan_.encode_bytes,
                                                        .merge_bytes = plan_.merge_bytes,
                                                        .stop = options_.stop},
                                                       spill_use_));
    }
    RETURN_IF_ERROR(spilled_->AddPortion(*collected_, total_bytes_));
    if (collected_->relations.bytes() <= plan_.collected_bytes / 2) return absl::OkStatus();
    return UsageError(
        fmt::format("the names of {} relations take {}, half of what --memory leaves; expected a larger "
                    "--memory; is the relation column the right one?",
                    collected_->relations.size(), FormatByteSize(collected_->relations.bytes())));
  }

  absl::Status CheckNotEmpty() const {
    for (const EdgeSplit split : {EdgeSplit::kTrain, EdgeSplit::kValid, EdgeSplit::kTest}) {
      std::uint64_t edges = 0;
      std::string_view first;
      for (std::size_t file = 0; file < files_.size(); ++file) {
        if (files_[file].split != split || files_[file].base != nullptr) continue;
        if (first.empty()) first = files_[file].path;
        edges += collected_->file_edges[file];
      }
      if (!first.empty() && edges == 0) {
        const bool dropped = summary_.literals > 0 && !options_.keep_literals;
        return InputError(fmt::format("{}: found no edge, expected at least one line of {}{}",
                                      first == "-" ? "<stdin>" : first,
                                      options_.columns.empty() ? "head,tail or head,relation,tail" : options_.columns,
                                      dropped ? "; --literals keep takes triples with literals, too" : ""));
      }
    }
    return absl::OkStatus();
  }

  // The edges of a graph either all have relations or none has.
  absl::Status CheckColumns() const {
    if (base_ == nullptr) return absl::OkStatus();
    const bool has_relations = base_->description().has_relations;
    if (has_relations == (collected_->columns.relation >= 0)) return absl::OkStatus();
    return InputError(fmt::format("{}: columns {}; expected {} relation, as the edges of {} have {}",
                                  options_.inputs[0], ColumnsText(collected_->columns), has_relations ? "a" : "no",
                                  options_.base.string(), has_relations ? "one" : "none"));
  }

  absl::Status CheckTrainEdges(std::uint64_t edges) const {
    if (edges > 0) return absl::OkStatus();
    return InputError(fmt::format("{}: no training edge is left of {}, {} of them self-loops; expected at least one",
                                  options_.inputs[0], summary_.input_edges + summary_.base_edges, summary_.self_loops));
  }

  // The remaining steps of an import whose names and edges are all in memory.
  absl::Status WriteHeld(const GraphPaths& paths) {
    if (const auto tell = Stage("ranking", "names")) tell(0, collected_->nodes.size());
    const EdgeSelection selection = SelectEdges(collected_->chunks, collected_->nodes, collected_->relations, rules_);
    summary_.self_loops = selection.self_loops;
    summary_.unseen_nodes = selection.unseen_nodes;
    summary_.unseen_relations = selection.unseen_relations;
    summary_.unseen_edges = selection.unseen_edges;
    RETURN_IF_ERROR(CheckTrainEdges(selection.kept_edges[0]));
    if (Stopped()) return absl::CancelledError("interrupted");
    ASSIGN_OR_RETURN(NameRanking nodes,
                     RankNodes(collected_->nodes, selection.nodes, rules_.drop_unseen, options_.node_hash));
    const NameRanking relations = RankRelations(collected_->relations, selection.relations, rules_.drop_unseen);
    summary_.hash_seed = nodes.seed;
    Describe(nodes.by_rank.size(), relations);
    summary_.rank_seconds = Lap();
    if (Stopped()) return absl::CancelledError("interrupted");
    if (const auto tell = Stage("encoding", "edges")) tell(0, collected_->held_edges);
    // The sorted edges coexist with names and unsorted edges only if memory has room for all.
    const bool beside = BytesOf(*collected_) + collected_->held_edges * sizeof(EdgeRecord) <= plan_.merge_bytes;
    std::optional<SortedEdges> edges;
    const auto sort = [&] { edges.emplace(std::move(collected_->chunks), partitions()); };
    absl::StatusOr<NodeArrays> arrays;
    // The node files need the names, the edges only the ranks: both proceed at once, and the names' memory is freed
    // early.
    ParallelBoth(
        [&] {
          arrays = WriteNodes(paths, collected_->nodes, nodes);
          collected_->nodes.Clear();
        },
        [&] {
          EncodeIds(collected_->chunks, nodes, relations);
          if (beside && !Stopped()) sort();
        });
    RETURN_IF_ERROR(arrays.status());
    nodes = {};
    if (!edges && !Stopped()) sort();
    if (Stopped() || !edges) return absl::CancelledError("interrupted");
    summary_.encode_seconds = Lap();
    const std::uint64_t held_bytes = edges->All().size_bytes() + collected_->relations.bytes();
    EdgeWriterOptions write = {.merge_duplicates = options_.merge_duplicates,
                               .work_bytes = plan_.merge_bytes - std::min(plan_.merge_bytes, held_bytes),
                               .stop = options_.stop,
                               .progress = nullptr};
    if (const auto tell = Stage("writing", "edges")) {
      write.progress = [tell, total = edges->All().size()](std::uint64_t done) { tell(done, total); };
    }
    ASSIGN_OR_RETURN(const WrittenEdges written, WriteEdges(paths, *edges, Layout(), write));
    return Finish(paths, relations, *arrays, written);
  }

  // The remaining steps of an import through temporary files; returns false if hashes collide.
  absl::StatusOr<bool> WriteSpilled(const GraphPaths& paths) {
    summary_.self_loops = spilled_->assigned().self_loops;
    RETURN_IF_ERROR(CheckTrainEdges(spilled_->assigned().edges[0]));
    summary_.unseen_relations = spilled_->relation_marks().CountUnseen();
    ASSIGN_OR_RETURN(const std::optional<NodeArrays> arrays, spilled_->WriteNodes(paths, Stage("ranking", "names")));
    if (!arrays) return false;
    summary_.unseen_nodes = spilled_->unseen_nodes();
    const NameRanking relations = RankRelations(collected_->relations, spilled_->relation_marks(), rules_.drop_unseen);
    summary_.hash_seed = hash_seed_;
    Describe(arrays->hashes.count, relations);
    summary_.rank_seconds = Lap();
    RETURN_IF_ERROR(spilled_->Encode(relations, partitions(), Stage("encoding", "edges")));
    summary_.unseen_edges = spilled_->unseen_edges();
    summary_.encode_seconds = Lap();
    ASSIGN_OR_RETURN(const WrittenEdges written,
                     spilled_->WriteCells(paths, Layout(), options_.merge_duplicates, Stage("writing", "edges")));
    RETURN_IF_ERROR(Finish(paths, relations, *arrays, written));
    return true;
  }

  void Describe(std::uint64_t node_count, const NameRanking& relations) {
    GraphDescription& graph = summary_.graph;
    const PartitionLayout layout = PartitionLayoutFor(node_count, options_.partitions);
    graph.node_count = node_count;
    graph.relation_count = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(relations.by_rank.size()));
    graph.partition_rows = layout.rows;
    graph.partition_count = layout.count;
    graph.has_relations = collected_->columns.relation >= 0;
    graph.undirected = options_.undirected;
    graph.keeps_duplicates = !options_.merge_duplicates;
    // An edge without a weight has weight 1.
    graph.has_weights = collected_->columns.weight >= 0 || (base_ != nullptr && base_->description().has_weights);
  }
  PartitionLayout partitions() const { return {summary_.graph.partition_rows, summary_.graph.partition_count}; }

  CellsHeader Layout() const {
    const GraphDescription& graph = summary_.graph;
    CellsHeader layout;
    layout.has_relations = graph.relation_count > 1 ? 1 : 0;
    layout.has_weights = graph.has_weights ? 1 : 0;
    layout.partition_count = graph.partition_count;
    layout.partition_rows = graph.partition_rows;
    layout.node_count = graph.node_count;
    layout.relation_count = graph.relation_count;
    return layout;
  }

  // Writes the relations and describes the graph.
  absl::Status Finish(const GraphPaths& paths, const NameRanking& relations, const NodeArrays& arrays,
                      const WrittenEdges& written) {
    ASSIGN_OR_RETURN(const std::string relation_text,
                     WriteRelations(paths, collected_->relations, relations, written.relation_train_edges));
    summary_.duplicates = written.duplicates;
    summary_.also_in_train = written.also_in_train;
    GraphDescription& graph = summary_.graph;
    graph.train_edges = written.headers[0].edge_count;
    graph.valid_edges = written.headers[1].edge_count;
    graph.test_edges = written.headers[2].edge_count;
    graph.fingerprint = GraphFingerprint(written.headers, arrays.hashes, arrays.offsets, relation_text);
    return absl::OkStatus();
  }

  absl::Status WriteDescription(const GraphPaths& paths) {
    const std::string text = EncodeGraphDescription(summary_.graph, ImportJson(options_, summary_));
    ASSIGN_OR_RETURN(File file, File::Create(paths.Description()));
    RETURN_IF_ERROR(file.WriteAt(0, std::as_bytes(std::span<const char>(text))));
    return file.Close();
  }

  const ImportOptions& options_;
  const std::function<void(const ImportProgress&)>& progress_;
  std::unique_ptr<Graph> base_;  // null: none
  std::vector<InputFile> files_;
  std::uint64_t total_bytes_ = 0;
  MemoryPlan plan_;
  NameList node_names_;  // both empty if none were given
  NameList relation_names_;
  CollectOptions collect_;
  SelectionRules rules_;
  SpillUse spill_use_;
  std::optional<CollectedEdges> collected_;
  std::optional<LabelImport> labels_;       // empty: none
  std::uint64_t label_bytes_ = 0;           // for the labels of triples while the input is read
  std::unique_ptr<SpilledImport> spilled_;  // null while everything is in memory
  std::uint64_t hash_seed_ = 0;             // of the spilled names
  Clock::time_point lap_;
  ImportSummary summary_;
};

}  // namespace

absl::StatusOr<ImportSummary> Import(const ImportOptions& options,
                                     const std::function<void(const ImportProgress&)>& progress,
                                     std::optional<AtomicFolder>* unnamed) {
  return Importer(options, progress).Run(unnamed);
}

}  // namespace octavo
