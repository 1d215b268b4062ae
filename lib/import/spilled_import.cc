#include "import/spilled_import.h"

#include <cstddef>
#include <span>
#include <utility>

#include "base/parallel.h"
#include "base/status.h"
#include "fmt/format.h"
#include "import/edge_spill.h"
#include "import/hash_slice.h"
#include "import/name_spill.h"
#include "io/checksum.h"

namespace octavo {
namespace {

// Names hashed or merged between two looks at the stop flag.
constexpr std::uint64_t kNamesOfTick = std::uint64_t{64} << 10;
// Words of the bits of nodes in training edges that are written at a time.
constexpr std::size_t kBufferWords = std::size_t{16} << 10;

std::vector<std::uint64_t> HashesOf(const NameTable& names, NameHash hash, std::uint64_t seed) {
  std::vector<std::uint64_t> hashes(names.id_limit());
  ParallelRanges(0, hashes.size(), kNamesOfTick, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const auto id = static_cast<std::uint32_t>(i);
      if (!names.Contains(id)) continue;
      hashes[i] = hash == HashName && seed == 0 ? names.Hash(id) : hash(names.Text(id), seed);
    }
  });
  return hashes;
}

// Bits, appended one by one to a spill file as 64-bit words.
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
  NameMarks marks(collected.nodes.id_limit());
  relation_marks_.GrowTo(collected.relations.id_limit());
  const AssignedParts parts =
      AssignParts(collected.runs, collected.nodes, collected.relations, options_.rules, marks, relation_marks_);
  parts_.self_loops += parts.self_loops;
  for (std::size_t i = 0; i < parts.edges.size(); ++i) parts_.edges[i] += parts.edges[i];
  Expect(collected, total_bytes);
  {
    const std::vector<std::uint64_t> hashes = HashesOf(collected.nodes, options_.hash, options_.hash_seed);
    ASSIGN_OR_RETURN(const SpillExtent run, SpillNames(collected.nodes, marks, hashes, *names_));
    name_runs_.push_back(run);
    spilled_names_ += collected.nodes.size();
    RETURN_IF_ERROR(CheckStop());
    RETURN_IF_ERROR(SpillEdges(std::exchange(collected.runs, {}), hashes, *edges_));
  }
  collected.run_edges = 0;
  collected.nodes.Clear();
  if (name_runs_.size() * kMinNameBuffer > options_.merge_bytes / 4 * 3) {
    return RuntimeError(fmt::format(
        "the names came in {} sorted runs, and --memory has no room to merge more; expected a larger --memory",
        name_runs_.size()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<NodeArrays>> SpilledImport::WriteNodes(const GraphPaths& paths, const Progress& progress) {
  RETURN_IF_ERROR(names_->FinishWriting());
  RETURN_IF_ERROR(edges_->FinishWriting());
  ASSIGN_OR_RETURN(in_train_, SpillFile::Create(options_.folder / kFileNames[2], use_));
  ASSIGN_OR_RETURN(const std::unique_ptr<NodeWriter> writer, NodeWriter::Create(paths, options_.hash_seed));
  BitWriter bits(*in_train_);
  std::uint64_t names = 0;
  const auto take = [&](const SpilledName& name) -> absl::Status {
    if (++names % kNamesOfTick == 0) {
      RETURN_IF_ERROR(CheckStop());
      if (progress) progress(names, spilled_names_);
    }
    const bool in_train = (name.marks & NameMarks::kInTrain) != 0;
    if (!in_train) ++unseen_nodes_;
    if (!in_train && options_.rules.drop_unseen) return absl::OkStatus();
    if (writer->count() == HashSlice::kAbsent) {
      return RuntimeError(fmt::format("more than {} different names; expected fewer", writer->count()));
    }
    RETURN_IF_ERROR(bits.Append(in_train));
    return writer->Append(name.hash, name.text);
  };
  // The writer's own buffers are small beside a quarter.
  ASSIGN_OR_RETURN(const bool unique, MergeNames(*names_, name_runs_, options_.merge_bytes / 4 * 3, take));
  if (!unique) return std::optional<NodeArrays>();
  RETURN_IF_ERROR(bits.Flush());
  RETURN_IF_ERROR(in_train_->FinishWriting());
  node_count_ = writer->count();
  ASSIGN_OR_RETURN(const NodeArrays arrays, writer->Finish());
  names_.reset();
  return std::optional<NodeArrays>(arrays);
}

absl::Status SpilledImport::Encode(const GraphPaths& paths, const NameRanking& relations,
                                   const PartitionLayout& partitions, const Progress& progress) {
  const bool all_in_train = options_.rules.drop_unseen || unseen_nodes_ == 0;
  const EncoderInput input = {.edges = *edges_,
                              .hashes = paths.NodeHashes(),
                              .node_count = node_count_,
                              .in_train = all_in_train ? nullptr : in_train_.get(),
                              .relation_marks = relation_marks_,
                              .relations = relations,
                              .drop_unseen = options_.rules.drop_unseen,
                              .partitions = partitions};
  EncoderOptions encode = {.memory_bytes = options_.encode_bytes,
                           .max_runs = MaxMergedRuns(options_.merge_bytes, edges()),
                           .stop = options_.stop};
  if (progress) encode.progress = [&](std::uint64_t done) { progress(done, edges()); };
  ASSIGN_OR_RETURN(runs_, SpillFile::Create(options_.folder / kFileNames[3], use_));
  ASSIGN_OR_RETURN(encoded_, EncodeEdges(input, encode, *runs_));
  RETURN_IF_ERROR(runs_->FinishWriting());
  edges_.reset();
  in_train_.reset();
  return absl::OkStatus();
}

absl::StatusOr<WrittenEdges> SpilledImport::WriteCells(const GraphPaths& paths, const CellsHeader& layout,
                                                       bool merge_duplicates, const Progress& progress) {
  EdgeWriterOptions write = {.merge_duplicates = merge_duplicates,
                             .work_bytes = options_.merge_bytes,
                             .stop = options_.stop,
                             .progress = nullptr};
  if (progress) write.progress = [&](std::uint64_t done) { progress(done, edges()); };
  return WriteRuns(paths, *runs_, encoded_.runs, layout, write);
}

}  // namespace octavo
