#include "import/spilled_import.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "base/parallel.h"
#include "base/status.h"
#include "cells/extent_reduction.h"
#include "import/edge_spill.h"
#include "import/name_spill.h"

namespace octavo {
absl::StatusOr<std::unique_ptr<SpilledImport>> SpilledImport::Create(SpilledImportOptions options, SpillUse& use) {
  auto import = std::unique_ptr<SpilledImport>(new SpilledImport(std::move(options), use));
  const std::filesystem::path& folder = import->options_.folder;
  ASSIGN_OR_RETURN(import->names_, SpillFile::Create(folder / kFileNames[0], use));
  ASSIGN_OR_RETURN(import->edges_, SpillFile::Create(folder / kFileNames[1], use));
  return import;
}

absl::Status SpilledImport::CheckStop() const {
  if (options_.stop && options_.stop()) return absl::CancelledError("interrupted");
  return absl::OkStatus();
}

// Estimates the final size of the temporary files from the share of the input read so far.
void SpilledImport::Expect(const CollectedEdges& collected, std::uint64_t total_bytes) {
  const std::uint64_t now =
      collected.nodes.bytes() + IdMap::BytesOf(collected.nodes.size()) + edges() * 2 * sizeof(EdgeRecord);
  const double share = total_bytes > 0 && collected.bytes_read > 0
                           ? static_cast<double>(collected.bytes_read) / static_cast<double>(total_bytes)
                           : 1;
  use_.expected_bytes.store(static_cast<std::uint64_t>(static_cast<double>(names_->size() + now) / share),
                            std::memory_order_relaxed);
}

absl::Status SpilledImport::AddPortion(CollectedEdges& collected, std::uint64_t total_bytes) {
  RETURN_IF_ERROR(CheckStop());
  // The marks must be complete before the names are spilled, because a name's record contains its marks.
  NameMarks marks(collected.nodes.id_limit());
  relation_marks_.GrowTo(collected.relations.id_limit());
  const AssignedSplits assigned =
      AssignSplits(collected.chunks, collected.nodes, collected.relations, options_.rules, marks, relation_marks_);
  assigned_.self_loops += assigned.self_loops;
  for (std::size_t i = 0; i < assigned.edges.size(); ++i) assigned_.edges[i] += assigned.edges[i];
  Expect(collected, total_bytes);
  const std::optional<NameRanking> ranking =
      RankNodesWithSeed(collected.nodes, marks, /*only_train=*/false, options_.hash, options_.hash_seed);
  if (ranking) {
    RETURN_IF_ERROR(Spill(collected, marks, *ranking));
  } else {
    collides_ = true;  // nothing that is spilled from now on is of use
    for (std::vector<EdgeRecord>& chunk : collected.chunks) chunk.clear();
  }
  // Relations stay in memory, and their ids stay valid.
  Reuse(collected);
  relation_bytes_ = collected.relations.bytes();
  return CheckIndex(/*partitions=*/1);
}

// One thread writes the names, the others the edges.
absl::Status SpilledImport::Spill(CollectedEdges& collected, const NameMarks& marks, const NameRanking& ranking) {
  const std::uint64_t begin = edges_->size();
  absl::StatusOr<SpillExtent> names;
  absl::Status edges;
  ParallelBoth([&] { names = SpillNames(collected.nodes, marks, ranking, *names_); },
               [&] { edges = SpillEdges(collected.chunks, ranking.rank, *edges_); });
  RETURN_IF_ERROR(names.status());
  RETURN_IF_ERROR(edges);
  name_extents_.push_back(*names);
  portions_.push_back({.begin = begin, .end = edges_->size()});
  spilled_names_ += ranking.by_rank.size();
  most_id_bytes_ = std::max(most_id_bytes_, IdMap::BytesOf(ranking.by_rank.size()));
  return absl::OkStatus();
}

// Checks what must be in memory: the indexes of the cells, together with the last merge. The number of partitions is
// not known until the nodes are counted.
absl::Status SpilledImport::CheckIndex(std::uint32_t partitions) const {
  return CheckMergeMemory(Beside(options_.merge_bytes), edges(), partitions);
}

// Never less than half: Importer::Spill limits the memory of the relations.
std::uint64_t SpilledImport::Beside(std::uint64_t bytes) const { return bytes - std::min(bytes / 2, relation_bytes_); }

absl::StatusOr<std::optional<NodeArrays>> SpilledImport::WriteNodes(const GraphPaths& paths, const Progress& progress) {
  if (collides_) return std::optional<NodeArrays>();
  // The merged names arrive in id order, so one pass writes the node files and the ids of the edges' names.
  RETURN_IF_ERROR(names_->FinishWriting());
  RETURN_IF_ERROR(edges_->FinishWriting());
  ASSIGN_OR_RETURN(ids_, SpillFile::Create(options_.folder / kFileNames[2], use_));
  ASSIGN_OR_RETURN(const std::unique_ptr<NodeWriter> writer, NodeWriter::Create(paths, options_.hash_seed));
  const auto take = [&](const SpilledName& name) -> absl::StatusOr<std::uint32_t> {
    const bool in_train = (name.marks & NameMarks::kInTrain) != 0;
    if (!in_train) ++unseen_nodes_;
    if (!in_train && options_.rules.drop_unseen) return kNoId;
    const std::uint64_t id = writer->count();
    if (id == kNoId) return TooManyNames();
    RETURN_IF_ERROR(writer->Append(name.hash, name.text));
    return static_cast<std::uint32_t>(id);
  };
  ASSIGN_OR_RETURN(const bool unique, MergeNameExtents(take, progress));
  if (!unique) return std::optional<NodeArrays>();
  RETURN_IF_ERROR(ids_->FinishWriting());
  ASSIGN_OR_RETURN(const NodeArrays arrays, writer->Finish());
  names_.reset();
  return std::optional<NodeArrays>(arrays);
}

absl::StatusOr<bool> SpilledImport::MergeNameExtents(const NameVisit& take, const Progress& progress) {
  // A quarter is more than enough for the output buffers.
  const std::uint64_t buffer_bytes = Beside(options_.merge_bytes) / 4 * 3;
  const MergeLimits limits = NameMergeLimits(buffer_bytes);
  const auto all = static_cast<double>(BytesToMerge(name_extents_, limits));
  // Counts the bytes of all passes: names are read several times if there are too many extents for one merge.
  std::uint64_t done = 0;
  const auto tick = [&](std::uint64_t bytes) -> absl::Status {
    RETURN_IF_ERROR(CheckStop());
    done += bytes;
    const double share = all > 0 ? static_cast<double>(done) / all : 1;
    if (progress) progress(static_cast<std::uint64_t>(static_cast<double>(spilled_names_) * share), spilled_names_);
    return absl::OkStatus();
  };
  // Extents are merged in the order in which they were made, so their maps are noted in this order.
  std::size_t extents = name_extents_.size();
  const auto note = [&](std::vector<StoredIdMap> maps, std::size_t into) {
    for (StoredIdMap& map : maps) maps_.push_back({std::move(map), into});
  };
  const auto merge = [&](std::span<const SpillExtent> some) -> absl::StatusOr<std::optional<SpillExtent>> {
    ASSIGN_OR_RETURN(std::optional<MergedNames> merged, MergeNamesToExtent(*names_, some, *ids_, buffer_bytes, tick));
    if (!merged) return std::optional<SpillExtent>();
    note(std::move(merged->maps), extents++);
    return std::optional(merged->extent);
  };
  ASSIGN_OR_RETURN(const bool unique, ReduceExtents(name_extents_, limits, merge));
  if (!unique) return false;
  RETURN_IF_ERROR(names_->FinishWriting());
  ASSIGN_OR_RETURN(auto maps, MergeNames(*names_, name_extents_, *ids_, buffer_bytes, take, tick));
  if (!maps) return false;
  note(*std::move(maps), kGraph);
  return true;
}

absl::StatusOr<IdMap> SpilledImport::IdsOf(std::size_t portion) const {
  ASSIGN_OR_RETURN(IdMap ids, IdMap::Read(*ids_, maps_[portion].map));
  for (std::size_t i = maps_[portion].into; i != kGraph; i = maps_[i].into) {
    RETURN_IF_ERROR(ids.Then(*ids_, maps_[i].map));
  }
  return ids;
}

absl::Status SpilledImport::Encode(const NameRanking& relations, const PartitionLayout& partitions,
                                   const Progress& progress) {
  RETURN_IF_ERROR(CheckIndex(partitions.count));
  const EncoderInput input = {.edges = *edges_,
                              .portions = portions_,
                              .ids = [this](std::size_t portion) { return IdsOf(portion); },
                              .most_id_bytes = most_id_bytes_,
                              .relation_marks = relation_marks_,
                              .relations = relations,
                              .drop_unseen = options_.rules.drop_unseen};
  EncoderOptions encode = {.memory_bytes = Beside(options_.encode_bytes), .stop = options_.stop};
  if (progress) encode.progress = [&](std::uint64_t done) { progress(done, edges()); };
  ASSIGN_OR_RETURN(std::unique_ptr<SpillFile> file, SpillFile::Create(options_.folder / kFileNames[3], use_));
  cells_.emplace(std::move(file), partitions, options_.stop);
  ASSIGN_OR_RETURN(encoded_, EncodeEdges(input, encode, *cells_));
  RETURN_IF_ERROR(cells_->FinishWriting());
  edges_.reset();
  ids_.reset();
  return absl::OkStatus();
}

absl::StatusOr<WrittenEdges> SpilledImport::WriteCells(const GraphPaths& paths, const CellsHeader& layout,
                                                       bool merge_duplicates, const Progress& progress) {
  EdgeWriterOptions write = {.merge_duplicates = merge_duplicates,
                             .work_bytes = Beside(options_.merge_bytes),
                             .stop = options_.stop,
                             .progress = nullptr};
  if (progress) write.progress = [&](std::uint64_t done) { progress(done, edges()); };
  return WriteSpilled(paths, *cells_, layout, write);
}

}  // namespace octavo
