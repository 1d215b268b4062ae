#include "import/spilled_import.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "base/parallel.h"
#include "base/status.h"
#include "cells/extent_reduction.h"
#include "fmt/format.h"
#include "import/edge_spill.h"
#include "import/hash_slice.h"
#include "import/name_spill.h"

namespace octavo {
namespace {

// Names hashed by one task: a few milliseconds of work.
constexpr std::size_t kHashGrain = std::size_t{64} << 10;
// Words of the in-training bits that are written at a time.
constexpr std::size_t kBufferWords = std::size_t{16} << 10;

std::vector<std::uint64_t> HashesOf(const NameTable& names, NameHash hash, std::uint64_t seed) {
  std::vector<std::uint64_t> hashes(names.id_limit());
  ParallelRanges(0, hashes.size(), kHashGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const auto id = static_cast<std::uint32_t>(i);
      if (names.Contains(id)) hashes[i] = HashOf(names, id, hash, seed);
    }
  });
  return hashes;
}

// Appends bits one by one to a spill file, as 64-bit words.
class BitWriter {
 public:
  explicit BitWriter(SpillFile& file) : file_(file) {}
  absl::Status Append(bool bit) {
    if (count_ % 64 == 0) {
      if (words_.size() == kBufferWords) RETURN_IF_ERROR(Flush());
      words_.push_back(0);
    }
    words_.back() |= std::uint64_t{bit} << (count_++ % 64);
    return absl::OkStatus();
  }
  absl::Status Flush() {
    RETURN_IF_ERROR(file_.Append(std::as_bytes(std::span<const std::uint64_t>(words_))));
    words_.clear();
    return absl::OkStatus();
  }

 private:
  SpillFile& file_;
  std::vector<std::uint64_t> words_;
  std::uint64_t count_ = 0;
};

}  // namespace

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
  const std::uint64_t now = collected.nodes.bytes() + edges() * (sizeof(SpilledEdge) + sizeof(EdgeRecord));
  const double share = total_bytes > 0 && collected.bytes_read > 0
                           ? static_cast<double>(collected.bytes_read) / static_cast<double>(total_bytes)
                           : 1;
  use_.expected_bytes.store(static_cast<std::uint64_t>(static_cast<double>(names_->size() + now) / share),
                            std::memory_order_relaxed);
}

absl::Status SpilledImport::AddGeneration(CollectedEdges& collected, std::uint64_t total_bytes) {
  RETURN_IF_ERROR(CheckStop());
  // The marks must be complete before the names are spilled, because a name's record contains its marks.
  NameMarks marks(collected.nodes.id_limit());
  relation_marks_.GrowTo(collected.relations.id_limit());
  const AssignedSplits assigned =
      AssignSplits(collected.chunks, collected.nodes, collected.relations, options_.rules, marks, relation_marks_);
  assigned_.self_loops += assigned.self_loops;
  for (std::size_t i = 0; i < assigned.edges.size(); ++i) assigned_.edges[i] += assigned.edges[i];
  Expect(collected, total_bytes);
  {
    const std::vector<std::uint64_t> hashes = HashesOf(collected.nodes, options_.hash, options_.hash_seed);
    ASSIGN_OR_RETURN(const SpillExtent extent, SpillNames(collected.nodes, marks, hashes, *names_));
    name_extents_.push_back(extent);
    spilled_names_ += collected.nodes.size();
    RETURN_IF_ERROR(CheckStop());
    RETURN_IF_ERROR(SpillEdges(std::exchange(collected.chunks, {}), hashes, *edges_));
  }
  // Frees the memory. Relations stay in memory, and their ids stay valid.
  collected.held_edges = 0;
  collected.nodes.Clear();
  relation_bytes_ = collected.relations.bytes();
  return CheckIndex(/*partitions=*/1);
}

// Checks what must be in memory: the indexes of the cells, together with the last merge. The number of partitions is
// not known until the nodes are counted.
absl::Status SpilledImport::CheckIndex(std::uint32_t partitions) const {
  return CheckMergeMemory(Beside(options_.merge_bytes), edges(), partitions);
}

// Never less than half: Importer::Spill limits the memory of the relations.
std::uint64_t SpilledImport::Beside(std::uint64_t bytes) const { return bytes - std::min(bytes / 2, relation_bytes_); }

absl::StatusOr<std::optional<NodeArrays>> SpilledImport::WriteNodes(const GraphPaths& paths, const Progress& progress) {
  // The merged names arrive in id order, so one pass writes the node files and the in-training bits.
  RETURN_IF_ERROR(names_->FinishWriting());
  RETURN_IF_ERROR(edges_->FinishWriting());
  ASSIGN_OR_RETURN(in_train_, SpillFile::Create(options_.folder / kFileNames[2], use_));
  ASSIGN_OR_RETURN(const std::unique_ptr<NodeWriter> writer, NodeWriter::Create(paths, options_.hash_seed));
  BitWriter bits(*in_train_);
  const auto take = [&](const SpilledName& name) -> absl::Status {
    const bool in_train = (name.marks & NameMarks::kInTrain) != 0;
    if (!in_train) ++unseen_nodes_;
    if (!in_train && options_.rules.drop_unseen) return absl::OkStatus();
    if (writer->count() == HashSlice::kAbsent) {
      return RuntimeError(fmt::format("more than {} different names; expected fewer", writer->count()));
    }
    RETURN_IF_ERROR(bits.Append(in_train));
    return writer->Append(name.hash, name.text);
  };
  ASSIGN_OR_RETURN(const bool unique, MergeNameExtents(take, progress));
  if (!unique) return std::optional<NodeArrays>();
  RETURN_IF_ERROR(bits.Flush());
  RETURN_IF_ERROR(in_train_->FinishWriting());
  node_count_ = writer->count();
  ASSIGN_OR_RETURN(const NodeArrays arrays, writer->Finish());
  names_.reset();
  return std::optional<NodeArrays>(arrays);
}

absl::StatusOr<bool> SpilledImport::MergeNameExtents(const std::function<absl::Status(const SpilledName&)>& take,
                                                     const Progress& progress) {
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
  const auto merge = [&](std::span<const SpillExtent> some) {
    return MergeNamesToExtent(*names_, some, buffer_bytes, tick);
  };
  ASSIGN_OR_RETURN(const bool unique, ReduceExtents(name_extents_, limits, merge));
  if (!unique) return false;
  RETURN_IF_ERROR(names_->FinishWriting());
  return MergeNames(*names_, name_extents_, buffer_bytes, take, tick);
}

absl::Status SpilledImport::Encode(const GraphPaths& paths, const NameRanking& relations,
                                   const PartitionLayout& partitions, const Progress& progress) {
  // With drop_unseen only names in training edges got a row.
  const bool all_in_train = options_.rules.drop_unseen || unseen_nodes_ == 0;
  RETURN_IF_ERROR(CheckIndex(partitions.count));
  const EncoderInput input = {.edges = *edges_,
                              .hashes = paths.NodeHashes(),
                              .node_count = node_count_,
                              .in_train = all_in_train ? nullptr : in_train_.get(),
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
  in_train_.reset();
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
