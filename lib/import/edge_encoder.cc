#include "import/edge_encoder.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "base/parallel.h"
#include "base/status.h"

namespace octavo {
namespace {

// Edges of one task: a few milliseconds of work.
constexpr std::uint64_t kPieceEdges = std::uint64_t{32} << 10;
// Peak memory per edge of a batch: encoded and in the order of the cells.
constexpr std::uint64_t kBytesOfEdge = 40;

class Encoder {
 public:
  Encoder(const EncoderInput& input, const EncoderOptions& options, CellSpill& out)
      : input_(input),
        options_(options),
        out_(out),
        // A portion took 84 bytes and more for each name, of which its map takes 4.
        batch_edges_(std::max<std::uint64_t>(
            1, (options.memory_bytes - std::min(options.memory_bytes / 2, input.most_id_bytes)) / kBytesOfEdge)) {}

  absl::StatusOr<EncodedEdges> Run() {
    for (std::size_t i = 0; i < input_.portions.size(); ++i) RETURN_IF_ERROR(EncodePortion(i));
    RETURN_IF_ERROR(EndBatch());
    const MutexLock lock(mutex_);
    return encoded_;
  }

 private:
  // Several portions can be in a batch, and several batches in a portion.
  absl::Status EncodePortion(std::size_t number) {
    const SpillExtent portion = input_.portions[number];
    if (portion.begin == portion.end) return absl::OkStatus();
    ASSIGN_OR_RETURN(const IdMap ids, input_.ids(number));
    for (std::uint64_t at = portion.begin; at < portion.end;) {
      const std::uint64_t edges = std::min(batch_edges_ - held_, (portion.end - at) / sizeof(EdgeRecord));
      RETURN_IF_ERROR(Encode(ids, at, edges));
      at += edges * sizeof(EdgeRecord);
      held_ += edges;
      if (held_ == batch_edges_) RETURN_IF_ERROR(EndBatch());
    }
    return absl::OkStatus();
  }

  // Adds the edges at byte `begin` to the batch.
  absl::Status Encode(const IdMap& ids, std::uint64_t begin, std::uint64_t edges) {
    const std::size_t before = used_;
    used_ += (edges + kPieceEdges - 1) / kPieceEdges;
    if (chunks_.size() < used_) chunks_.resize(used_);
    Mutex mutex;
    absl::Status status;  // the first error; under mutex
    ParallelEach(before, used_, [&](std::size_t i) {
      const std::uint64_t first = (i - before) * kPieceEdges;
      absl::Status done =
          EncodePiece(ids, begin + first * sizeof(EdgeRecord), std::min(kPieceEdges, edges - first), chunks_[i]);
      const MutexLock lock(mutex);
      if (status.ok()) status = std::move(done);
    });
    return status;
  }

  absl::Status EndBatch() {
    if (options_.stop && options_.stop()) return absl::CancelledError("interrupted");
    for (std::size_t i = used_; i < chunks_.size(); ++i) chunks_[i].clear();
    used_ = 0;
    RETURN_IF_ERROR(out_.Append(chunks_));
    done_ += std::exchange(held_, 0);
    if (options_.progress) options_.progress(done_);
    return absl::OkStatus();
  }

  // Reads some edges and sets their final ids; decides which are kept and counts them. Any thread.
  absl::Status EncodePiece(const IdMap& ids, std::uint64_t begin, std::uint64_t edges, std::vector<EdgeRecord>& piece) {
    piece.resize(edges);
    RETURN_IF_ERROR(input_.edges.ReadOnce(begin, std::as_writable_bytes(std::span(piece))));
    std::array<std::uint64_t, 3> unseen{};
    std::array<std::uint64_t, 3> kept{};
    for (EdgeRecord& record : piece) {
      const auto split = static_cast<std::size_t>(record.split());
      // Training edges have only seen names by definition.
      const bool is_unseen = record.split() != EdgeSplit::kTrain && IsUnseen(ids, record);
      record.head = ids.Id(record.head);
      record.tail = ids.Id(record.tail);
      if (!input_.relations.rank.empty()) record.set_relation(input_.relations.rank[record.relation()]);
      if (is_unseen) {
        ++unseen[split];
        if (input_.drop_unseen) {
          record.set_split(EdgeSplit::kDropped);
          continue;
        }
      }
      ++kept[split];
    }
    const MutexLock lock(mutex_);
    for (std::size_t split = 0; split < kept.size(); ++split) {
      encoded_.unseen[split] += unseen[split];
      encoded_.kept[split] += kept[split];
    }
    return absl::OkStatus();
  }

  // Whether a name of an edge that is not encoded yet, or its relation, is in no training edge.
  bool IsUnseen(const IdMap& ids, const EdgeRecord& record) const {
    return !ids.InTrain(record.head) || !ids.InTrain(record.tail) ||
           (input_.relation_marks.size() > 0 && !input_.relation_marks.InTrain(record.relation()));
  }

  const EncoderInput& input_;
  const EncoderOptions& options_;
  CellSpill& out_;
  const std::uint64_t batch_edges_;
  EdgeChunks chunks_;  // the batch: the first used_; their memory is used again, as fresh pages take time
  std::size_t used_ = 0;
  std::uint64_t held_ = 0;  // read for the batch
  std::uint64_t done_ = 0;  // in earlier batches
  Mutex mutex_;
  EncodedEdges encoded_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<EncodedEdges> EncodeEdges(const EncoderInput& input, const EncoderOptions& options, CellSpill& out) {
  return Encoder(input, options, out).Run();
}

}  // namespace octavo
