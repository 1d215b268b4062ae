#include "import/edge_encoder.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/checked_math.h"
#include "base/mutex.h"
#include "base/parallel.h"
#include "base/per_thread.h"
#include "base/status.h"
#include "format/array_header.h"
#include "import/edge_spill.h"
#include "import/hash_slice.h"
#include "io/file.h"

namespace octavo {
namespace {

// Edges of one task: a few milliseconds of work.
constexpr std::uint64_t kPieceEdges = std::uint64_t{32} << 10;
// Peak memory per edge of a batch: encoded and in the order of the cells; if the hashes are read in slices, read and
// encoded.
constexpr std::uint64_t kResidentBytesOfEdge = 40;
constexpr std::uint64_t kSlicedBytesOfEdge = 52;
// Slices begin at whole words of the bits.
constexpr std::uint64_t kWordNodes = 64;
constexpr std::size_t kReadBytes = std::size_t{2} << 20;
// How many edges ahead a bucket, and then a hash, is prefetched: the time of one or two cache misses.
constexpr std::size_t kBucketAhead = 16;
constexpr std::size_t kHashAhead = 8;

// A part of a batch's edges; one task.
struct Piece {
  std::vector<SpilledEdge> edges;
  std::vector<EdgeRecord> records;   // of the same edges; kAbsent for ids not found yet
  std::vector<std::uint8_t> unseen;  // of the same edges: has a name that is in no training edge
};

// A range of the nodes: their hashes, and whether they are in a training edge.
struct NodeSlice {
  HashSlice hashes;
  std::vector<std::uint64_t> in_train;  // bits; empty if all are

  bool InTrain(std::uint32_t rank) const {
    const std::uint64_t place = rank - hashes.first_rank();
    return in_train.empty() || (in_train[place / kWordNodes] >> (place % kWordNodes) & 1) != 0;
  }
};

class Encoder {
 public:
  Encoder(const EncoderInput& input, const EncoderOptions& options, CellSpill& out)
      : input_(input), options_(options), out_(out) {
    const std::uint64_t array = input.node_count * HashSlice::kBytesOfHash;
    // At most half of the memory is for the hashes, the rest for a batch. A slice consists of whole words of the
    // in-training bits, or of all nodes if they fit.
    const std::uint64_t slice_bytes = std::min(array, options.memory_bytes / 2);
    slice_nodes_ = std::max(kWordNodes, slice_bytes / HashSlice::kBytesOfHash / kWordNodes * kWordNodes);
    if (slice_bytes == array) slice_nodes_ = RoundUp(input.node_count, kWordNodes);
    const std::uint64_t edge_bytes = slice_bytes == array ? kResidentBytesOfEdge : kSlicedBytesOfEdge;
    batch_edges_ = std::max<std::uint64_t>(1, (options.memory_bytes - slice_bytes) / edge_bytes);
  }

  absl::StatusOr<EncodedEdges> Run() {
    const std::uint64_t edges = input_.edges.size() / sizeof(SpilledEdge);
    ASSIGN_OR_RETURN(hash_file_, File::OpenRead(input_.hashes));
    if (slice_nodes_ >= input_.node_count) {
      ASSIGN_OR_RETURN(resident_, Load(0));
    }
    for (std::uint64_t done = 0; done < edges;) {
      const std::uint64_t batch = std::min(batch_edges_, edges - done);
      RETURN_IF_ERROR(EncodeBatch(done, batch));
      done += batch;
      if (options_.progress) options_.progress(done);
    }
    const MutexLock lock(mutex_);
    return encoded_;
  }

 private:
  absl::Status CheckStop() const {
    if (options_.stop && options_.stop()) return absl::CancelledError("interrupted");
    return absl::OkStatus();
  }

  absl::StatusOr<NodeSlice> Load(std::uint64_t first) const {
    const std::uint64_t count = std::min(slice_nodes_, input_.node_count - first);
    std::vector<std::uint64_t> hashes(count);
    // In pieces: otherwise the page cache would hold the bytes in addition to the slice.
    std::uint64_t offset = sizeof(ArrayHeader) + first * sizeof(std::uint64_t);
    for (auto rest = std::as_writable_bytes(std::span(hashes)); !rest.empty();) {
      const auto some = rest.first(std::min(rest.size(), kReadBytes));
      RETURN_IF_ERROR(hash_file_.ReadAt(offset, some));
      hash_file_.DropBehind(offset, some.size());
      offset += some.size();
      rest = rest.subspan(some.size());
    }
    NodeSlice slice{HashSlice(std::move(hashes), first), {}};
    if (input_.in_train != nullptr) {
      slice.in_train.resize((count + kWordNodes - 1) / kWordNodes);
      RETURN_IF_ERROR(input_.in_train->ReadOnce(first / kWordNodes * sizeof(std::uint64_t),
                                                std::as_writable_bytes(std::span(slice.in_train))));
    }
    return slice;
  }

  // Reads a batch, looks up its hashes in every slice of the nodes, decides which edges are kept, and spills them.
  absl::Status EncodeBatch(std::uint64_t first, std::uint64_t count) {
    EdgeChunks chunks((count + kPieceEdges - 1) / kPieceEdges);
    if (resident_) {
      // Piece by piece in the cache of a thread; its memory is used again.
      PerThread<Piece> pieces;
      const auto encode = [&](std::size_t i, std::uint64_t begin, std::uint64_t edges) -> absl::Status {
        Piece& piece = pieces.local();
        RETURN_IF_ERROR(Read(begin, edges, piece));
        Resolve(*resident_, piece);
        chunks[i] = Judge(piece);
        return absl::OkStatus();
      };
      RETURN_IF_ERROR(EachPiece(first, count, encode));
    } else {
      std::vector<Piece> pieces(chunks.size());
      const auto read = [&](std::size_t i, std::uint64_t begin, std::uint64_t edges) {
        return Read(begin, edges, pieces[i]);
      };
      RETURN_IF_ERROR(EachPiece(first, count, read));
      for (std::uint64_t node = 0; node < input_.node_count; node += slice_nodes_) {
        RETURN_IF_ERROR(CheckStop());
        ASSIGN_OR_RETURN(const NodeSlice slice, Load(node));
        ParallelEach(0, pieces.size(), [&](std::size_t i) { Resolve(slice, pieces[i]); });
      }
      ParallelEach(0, pieces.size(), [&](std::size_t i) {
        Piece piece = std::exchange(pieces[i], {});
        chunks[i] = Judge(piece);
      });
    }
    RETURN_IF_ERROR(CheckStop());
    return out_.Append(std::move(chunks));
  }

  // Calls work(i, first edge, edges) for each piece of a batch in parallel; returns the first error.
  template <typename Work>
  static absl::Status EachPiece(std::uint64_t first, std::uint64_t count, const Work& work) {
    Mutex mutex;
    absl::Status status;  // the first error; under mutex
    ParallelEach(0, (count + kPieceEdges - 1) / kPieceEdges, [&](std::size_t i) {
      const std::uint64_t begin = i * kPieceEdges;
      absl::Status done = work(i, first + begin, std::min(kPieceEdges, count - begin));
      const MutexLock lock(mutex);
      if (status.ok()) status = std::move(done);
    });
    return status;
  }

  absl::Status Read(std::uint64_t first, std::uint64_t count, Piece& piece) const {
    piece.edges.resize(count);
    RETURN_IF_ERROR(input_.edges.ReadOnce(first * sizeof(SpilledEdge), std::as_writable_bytes(std::span(piece.edges))));
    piece.records.resize(count);
    piece.unseen.assign(count, 0);
    for (std::size_t k = 0; k < count; ++k) {
      piece.records[k] = {HashSlice::kAbsent, HashSlice::kAbsent, piece.edges[k].relation_and_split,
                          piece.edges[k].weight};
    }
    return absl::OkStatus();
  }

  // Sets the ids of nodes in `slice`.
  static void Resolve(const NodeSlice& slice, Piece& piece) {
    const HashSlice& hashes = slice.hashes;
    const std::size_t count = piece.edges.size();
    const auto resolve = [&](std::uint64_t hash, std::uint32_t& id, std::size_t k) {
      if (!hashes.Covers(hash)) return;
      const std::uint32_t rank = hashes.Find(hash);
      if (rank == HashSlice::kAbsent) return;
      // A hash is in at most one slice, so an id is set at most once.
      id = rank;
      if (piece.records[k].split() != EdgeSplit::kTrain && !slice.InTrain(rank)) piece.unseen[k] = 1;
    };
    for (std::size_t k = 0; k < count; ++k) {
      const SpilledEdge& bucket = piece.edges[std::min(k + kBucketAhead, count - 1)];
      hashes.PrefetchBucket(bucket.head);
      hashes.PrefetchBucket(bucket.tail);
      const SpilledEdge& hash = piece.edges[std::min(k + kHashAhead, count - 1)];
      hashes.PrefetchHash(hash.head);
      hashes.PrefetchHash(hash.tail);
      resolve(piece.edges[k].head, piece.records[k].head, k);
      resolve(piece.edges[k].tail, piece.records[k].tail, k);
    }
  }

  // Decides which edges of a piece are kept, counts them and sets their relations. Takes the records. Any thread.
  std::vector<EdgeRecord> Judge(Piece& piece) {
    std::array<std::uint64_t, 3> unseen{};
    std::array<std::uint64_t, 3> kept{};
    for (std::size_t k = 0; k < piece.records.size(); ++k) {
      EdgeRecord& record = piece.records[k];
      const auto split = static_cast<std::size_t>(record.split());
      // Training edges have only seen names by definition.
      if (record.split() != EdgeSplit::kTrain && (piece.unseen[k] != 0 || IsUnseen(record))) {
        ++unseen[split];
        if (input_.drop_unseen) {
          record.set_split(EdgeSplit::kDropped);
          continue;
        }
      }
      ++kept[split];
      if (!input_.relations.rank.empty()) record.set_relation(input_.relations.rank[record.relation()]);
    }
    const MutexLock lock(mutex_);
    for (std::size_t split = 0; split < kept.size(); ++split) {
      encoded_.unseen[split] += unseen[split];
      encoded_.kept[split] += kept[split];
    }
    return std::exchange(piece.records, {});
  }

  // Whether a name of the edge has no row, or its relation is in no training edge.
  bool IsUnseen(const EdgeRecord& record) const {
    return record.head == HashSlice::kAbsent || record.tail == HashSlice::kAbsent ||
           (input_.relation_marks.size() > 0 && !input_.relation_marks.InTrain(record.relation()));
  }

  const EncoderInput& input_;
  const EncoderOptions& options_;
  CellSpill& out_;
  std::uint64_t slice_nodes_ = 0;
  std::uint64_t batch_edges_ = 0;
  File hash_file_;
  std::optional<NodeSlice> resident_;  // the only slice, if one is enough
  Mutex mutex_;
  EncodedEdges encoded_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<EncodedEdges> EncodeEdges(const EncoderInput& input, const EncoderOptions& options, CellSpill& out) {
  return Encoder(input, options, out).Run();
}

}  // namespace octavo
