#include "cells/edge_writer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/parallel.h"
#include "base/per_thread.h"
#include "base/status.h"
#include "cells/cell_edges.h"
#include "cells/cell_writer.h"
#include "cells/edge_merge.h"
#include "fmt/format.h"
#include "io/file.h"

namespace octavo {
namespace {

constexpr std::array<EdgeSplit, 3> kSplits = {EdgeSplit::kTrain, EdgeSplit::kValid, EdgeSplit::kTest};

// Bytes per edge in addition to the edge itself: its key and a copy while sorting, its encoded bytes, and the encoded
// bytes of an edge of the previous cells, which are being written; with several runs, a copy of both edges.
constexpr std::uint64_t kWorkBytesOfEdge = sizeof(KeyedEdge) + 2 * sizeof(EdgeRecord);
constexpr std::uint64_t kCopiedBytesOfEdge = kWorkBytesOfEdge + 2 * sizeof(EdgeRecord);
// Bytes per edge of the spilled cells that are in memory together: the edge, the rest while some are prepared.
constexpr std::uint64_t kGroupBytesOfEdge = 24;
// Bytes per edge of a piece of a cell that is too large for that: the edge, its key and a copy while sorting.
constexpr std::uint64_t kPieceBytesOfEdge = sizeof(EdgeRecord) + sizeof(KeyedEdge);
// The share of memory for the index of these cells.
constexpr std::uint64_t kIndexShare = 16;
// Keys of a sort whose memory a thread keeps for the next one, as far as the threads' take at most a share of memory.
constexpr std::uint64_t kKeptKeys = std::uint64_t{32} << 10;
constexpr std::uint64_t kShareOfKeys = 8;
// Edges that are prepared together. Threads wait for each other at the end of each such step, and a disk may be slow at
// times.
constexpr std::uint64_t kSmallEdges = std::uint64_t{256} << 10;
// Cells that are prepared together, so that a graph of many nearly empty cells takes no more memory than others.
constexpr std::uint32_t kMostCells = 4096;
// Bounds of the buffer of one extent: enough for a disk's full speed, and no larger than is useful.
constexpr std::uint64_t kMinMergeBuffer = std::uint64_t{32} << 10;
constexpr std::uint64_t kMaxMergeBuffer = std::uint64_t{2} << 20;
constexpr std::size_t kWriteBytes = std::size_t{1} << 20;

// One cell with all three splits.
struct PreparedCell {
  std::array<EncodedCell, 3> splits;
  std::array<std::uint64_t, 3> duplicates{};
  std::array<std::uint64_t, 3> also_in_train{};
  std::span<const EdgeRecord> train;  // the edges of train that are kept
};

// Sorts cells in memory that each thread keeps.
class Orderer {
 public:
  explicit Orderer(std::uint64_t work_bytes)
      : most_(std::min(kKeptKeys,
                       work_bytes / kShareOfKeys / sizeof(KeyedEdge) / static_cast<std::uint64_t>(MaxConcurrency()))) {}

  void Order(std::span<EdgeRecord> edges) {
    if (edges.size() > most_) return OrderCell(edges);
    OrderCell(edges, memory_.local());
  }

 private:
  const std::uint64_t most_;
  PerThread<std::vector<KeyedEdge>> memory_;
};

// The edges of a split in a run that is sorted by split.
std::span<EdgeRecord> PartOf(std::span<EdgeRecord> run, EdgeSplit split) {
  const auto first = std::ranges::lower_bound(run, split, {}, &EdgeRecord::split);
  const auto last = std::ranges::upper_bound(run, split, {}, &EdgeRecord::split);
  return run.subspan(static_cast<std::size_t>(first - run.begin()), static_cast<std::size_t>(last - first));
}

// The edges of a cell by split: in place if they are one run, otherwise copied to `copies`, which has room for them.
std::array<std::span<EdgeRecord>, 3> EdgesBySplit(CellEdges& edges, std::uint32_t cell, std::span<EdgeRecord> copies) {
  const std::vector<std::span<EdgeRecord>> runs = edges.Runs(cell);
  std::array<std::span<EdgeRecord>, 3> by_split;
  for (const EdgeSplit split : kSplits) {
    std::span<EdgeRecord>& mine = by_split[static_cast<std::size_t>(split)];
    std::size_t copied = 0;
    for (const std::span<EdgeRecord> run : runs) {
      const std::span<EdgeRecord> part = PartOf(run, split);
      if (runs.size() == 1) {
        mine = part;
        continue;
      }
      std::copy(part.begin(), part.end(), copies.begin() + static_cast<std::ptrdiff_t>(copied));
      copied += part.size();
    }
    if (runs.size() == 1) continue;
    mine = copies.first(copied);
    copies = copies.subspan(copied);
  }
  return by_split;
}

PreparedCell PrepareCell(CellEdges& edges, std::uint32_t cell, std::span<EdgeRecord> copies, const CellsHeader& layout,
                         bool merge, Orderer& orderer) {
  PreparedCell prepared;
  const auto by_split = EdgesBySplit(edges, cell, copies);
  for (const EdgeSplit split : kSplits) {
    const auto i = static_cast<std::size_t>(split);
    std::span<EdgeRecord> mine = by_split[i];
    if (mine.empty()) continue;
    orderer.Order(mine);
    mine = mine.first(HandleDuplicates(mine, merge, prepared.duplicates[i]));
    if (split == EdgeSplit::kTrain) {
      prepared.train = mine;
    } else {
      prepared.also_in_train[i] = CountShared(mine, prepared.train);
    }
    const std::uint32_t partitions = edges.partitions().count;
    prepared.splits[i] = EncodeCell(mine, cell / partitions, cell % partitions, layout);
  }
  return prepared;
}

// The three files and their counts.
class Output {
 public:
  static absl::StatusOr<std::unique_ptr<Output>> Create(const GraphPaths& paths, const CellsHeader& layout,
                                                        const EdgeWriterOptions& options) {
    auto output = std::unique_ptr<Output>(new Output(layout, options));
    for (const EdgeSplit split : kSplits) {
      ASSIGN_OR_RETURN(CellWriter writer, CellWriter::Create(paths.Cells(static_cast<Split>(split)), layout));
      output->writers_.push_back(std::move(writer));
    }
    output->stream_ = std::make_unique<CellStream>(output->writers_, layout, options.merge_duplicates, output->out_);
    return output;
  }

  // Appends a prepared cell.
  absl::Status Append(const PreparedCell& cell) {
    std::uint64_t edges = 0;
    for (std::size_t i = 0; i < kSplits.size(); ++i) {
      if (cell.splits[i].edges > 0) RETURN_IF_ERROR(writers_[i].Append(cell.splits[i]));
      out_.duplicates[i] += cell.duplicates[i];
      out_.also_in_train[i] += cell.also_in_train[i];
      edges += cell.splits[i].edges + (options_.merge_duplicates ? cell.duplicates[i] : 0);
    }
    for (const EdgeRecord& edge : cell.train) ++out_.relation_train_edges[edge.relation()];
    return Tick(edges);
  }

  absl::Status Merge(std::vector<std::unique_ptr<EdgeSource>> sources, const PartitionLayout& partitions) {
    const auto push = [this](std::uint32_t cell, const EdgeRecord& edge) { return stream_->Push(cell, edge); };
    RETURN_IF_ERROR(MergeEdges(std::move(sources), partitions, push, ticker()));
    return stream_->Finish();
  }

  // Merges `sources` into one extent at the end of `file`.
  absl::StatusOr<SpillExtent> MergeToExtent(std::vector<std::unique_ptr<EdgeSource>> sources,
                                            const PartitionLayout& partitions, SpillFile& file) {
    SpillWriter out(file, kWriteBytes);
    const auto append = [&](std::uint32_t, const EdgeRecord& edge) { return out.Append(AsBytes(edge)); };
    RETURN_IF_ERROR(MergeEdges(std::move(sources), partitions, append, ticker()));
    return out.Finish();
  }

  absl::StatusOr<WrittenEdges> Finish() {
    for (std::size_t i = 0; i < kSplits.size(); ++i) {
      ASSIGN_OR_RETURN(out_.headers[i], writers_[i].Finish());
    }
    return std::move(out_);
  }

 private:
  Output(const CellsHeader& layout, const EdgeWriterOptions& options) : options_(options) {
    out_.relation_train_edges.resize(layout.relation_count);
  }

  EdgeTick ticker() {
    return [this](std::uint64_t edges) { return Tick(edges); };
  }
  absl::Status Tick(std::uint64_t edges) {
    if (options_.stop && options_.stop()) return absl::CancelledError("interrupted");
    edges_ += edges;
    if (options_.progress) options_.progress(edges_);
    return absl::OkStatus();
  }

  const EdgeWriterOptions& options_;
  std::vector<CellWriter> writers_;
  WrittenEdges out_;
  std::unique_ptr<CellStream> stream_;
  std::uint64_t edges_ = 0;  // handled so far, including copies
};

// Sources for the extents; their buffers share `buffer_bytes`.
std::vector<std::unique_ptr<EdgeSource>> SourcesOf(const SpillFile& file, std::span<const SpillExtent> extents,
                                                   std::uint64_t buffer_bytes) {
  const std::uint64_t each =
      std::clamp(buffer_bytes / std::max<std::uint64_t>(1, extents.size()), kMinMergeBuffer, kMaxMergeBuffer);
  std::vector<std::unique_ptr<EdgeSource>> sources;
  for (const SpillExtent& extent : extents) sources.push_back(SourceOf(file, extent, each));
  return sources;
}

// Writes a cell too large to be prepared as a whole: sorts it piece by piece, in place, and merges the pieces.
absl::Status WriteLargeCell(CellEdges& edges, std::uint32_t cell, std::uint64_t piece_edges, Output& output) {
  std::vector<std::unique_ptr<EdgeSource>> pieces;
  for (std::span<EdgeRecord> rest : edges.Runs(cell)) {
    while (!rest.empty()) {
      const auto piece = rest.first(std::min<std::uint64_t>(rest.size(), piece_edges));
      rest = rest.subspan(piece.size());
      OrderCell(piece);
      pieces.push_back(SourceOf(piece));
    }
  }
  return output.Merge(std::move(pieces), edges.partitions());
}

// Cells that are prepared together.
struct Step {
  std::uint32_t first = 0;
  std::vector<PreparedCell> cells;
  std::vector<EdgeRecord> copies;  // of their edges, if they have several runs
};

// Writes cells [begin, end), several at a time, a row or as many as have kSmallEdges edges: prepared in parallel while
// the previous ones are appended in order.
absl::Status WriteCells(CellEdges& edges, std::uint32_t begin, std::uint32_t end, const CellsHeader& layout,
                        const EdgeWriterOptions& options, std::uint64_t work_bytes, Output& output) {
  const bool copies = edges.most_runs() > 1;
  const std::uint64_t most_edges =
      std::max<std::uint64_t>(1, work_bytes / (copies ? kCopiedBytesOfEdge : kWorkBytesOfEdge));
  Orderer orderer(work_bytes);
  Step ready, next;
  const auto append = [&]() -> absl::Status {
    for (const PreparedCell& cell : ready.cells) RETURN_IF_ERROR(output.Append(cell));
    edges.Release(ready.first, ready.first + static_cast<std::uint32_t>(ready.cells.size()));
    ready.cells.clear();
    return absl::OkStatus();
  };
  for (std::uint32_t first = begin; first < end;) {
    std::uint32_t last = first;
    std::vector<std::uint64_t> places = {0};  // of each cell's edges in the copies
    const std::uint32_t most_last = first + std::min(end - first, kMostCells);
    while (last < most_last && (last - first < edges.partitions().count || places.back() < kSmallEdges) &&
           edges.Size(last) <= most_edges - places.back()) {
      places.push_back(places.back() + edges.Size(last++));
    }
    if (last == first) {
      RETURN_IF_ERROR(append());
      RETURN_IF_ERROR(WriteLargeCell(edges, first, most_edges, output));
      edges.Release(first, first + 1);
      ++first;
      continue;
    }
    next.first = first;
    next.cells.resize(last - first);
    if (copies && next.copies.size() < places.back()) next.copies.resize(places.back());
    absl::Status appended;
    ParallelBoth([&] { appended = append(); },
                 [&] {
                   ParallelEach(0, next.cells.size(), [&](std::size_t i) {
                     const auto room = std::span(next.copies).subspan(copies ? places[i] : 0);
                     next.cells[i] = PrepareCell(edges, first + static_cast<std::uint32_t>(i), room, layout,
                                                 options.merge_duplicates, orderer);
                   });
                 });
    RETURN_IF_ERROR(appended);
    std::swap(ready, next);
    first = last;
  }
  return append();
}

// Writes the next cell of `spill`, which is too large to be read as a whole: sorts pieces of it and merges them.
absl::Status WriteLargeSpilledCell(CellSpill& spill, std::uint64_t edges, std::uint64_t work_bytes, Output& output) {
  SpillFile& file = spill.file();
  const std::uint64_t buffers = work_bytes - std::min(work_bytes, IndexBytes(edges, spill.partitions().count));
  const std::uint64_t piece_edges = std::max<std::uint64_t>(1, buffers / kPieceBytesOfEdge);
  std::vector<SpillExtent> extents;
  while (true) {
    ASSIGN_OR_RETURN(std::vector<EdgeRecord> piece, spill.ReadPiece(piece_edges));
    if (piece.empty()) break;
    OrderCell(piece);
    extents.push_back({.begin = file.size(), .end = 0});
    RETURN_IF_ERROR(file.Append(std::as_bytes(std::span(piece))));
    extents.back().end = file.size();
  }
  const auto merge = [&](std::span<const SpillExtent> some) -> absl::StatusOr<std::optional<SpillExtent>> {
    ASSIGN_OR_RETURN(const SpillExtent extent,
                     output.MergeToExtent(SourcesOf(file, some, work_bytes), spill.partitions(), file));
    return std::optional<SpillExtent>(extent);
  };
  RETURN_IF_ERROR(ReduceExtents(extents, EdgeMergeLimits(work_bytes, edges, spill.partitions().count), merge).status());
  RETURN_IF_ERROR(file.FinishWriting());
  return output.Merge(SourcesOf(file, extents, buffers), spill.partitions());
}

}  // namespace

absl::StatusOr<WrittenEdges> WriteEdges(const GraphPaths& paths, SortedEdges& edges, const CellsHeader& layout,
                                        const EdgeWriterOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Output> output, Output::Create(paths, layout, options));
  RETURN_IF_ERROR(WriteCells(edges, 0, edges.cell_count(), layout, options, options.work_bytes, *output));
  return output->Finish();
}

// Each cell of each split has a block that is not full; those of at most 4,096 cells are negligible.
std::uint64_t IndexBytes(std::uint64_t edges, std::uint32_t partitions) {
  const std::uint64_t cells = std::uint64_t{partitions} * partitions;
  const std::uint64_t last_blocks = cells > kMostCells ? std::min(kSplits.size() * cells, edges) : 0;
  return (edges / kMaxBlockEdges + last_blocks) * sizeof(BlockRecord);
}

MergeLimits EdgeMergeLimits(std::uint64_t work_bytes, std::uint64_t edges, std::uint32_t partitions) {
  return {.most = (work_bytes - std::min(work_bytes, IndexBytes(edges, partitions))) / kMinMergeBuffer,
          .fan_in = work_bytes / kMinMergeBuffer};
}

absl::Status CheckMergeMemory(std::uint64_t work_bytes, std::uint64_t edges, std::uint32_t partitions) {
  if (EdgeMergeLimits(work_bytes, edges, partitions).most >= 2) return absl::OkStatus();
  return UsageError(fmt::format(
      "the merge of {} edges needs {} for their index and its buffers, and --memory leaves {}; expected a "
      "larger --memory",
      edges, FormatByteSize(IndexBytes(edges, partitions) + 2 * kMinMergeBuffer), FormatByteSize(work_bytes)));
}

absl::StatusOr<WrittenEdges> WriteSpilled(const GraphPaths& paths, CellSpill& spill, const CellsHeader& layout,
                                          const EdgeWriterOptions& options) {
  const std::uint64_t edges = spill.edges();
  const std::uint64_t room =
      options.work_bytes - std::min(options.work_bytes, IndexBytes(edges, layout.partition_count));
  const std::uint64_t most_edges = std::max<std::uint64_t>(1, room / kGroupBytesOfEdge);
  const std::uint64_t most_cells =
      std::max<std::uint64_t>(1, room / kIndexShare / std::max<std::uint64_t>(1, spill.IndexBytesOfCell()));
  EdgeWriterOptions write = options;
  // Merges of large cells count edges more than once.
  if (options.progress) {
    write.progress = [&](std::uint64_t done) { options.progress(std::min(done, edges)); };
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Output> output, Output::Create(paths, layout, write));
  const std::span<const std::uint64_t> cell_edges = spill.cell_edges();
  for (std::uint32_t first = 0; first < cell_edges.size();) {
    if (options.stop && options.stop()) return absl::CancelledError("interrupted");
    std::uint32_t last = first;
    std::uint64_t held = 0;
    while (last < cell_edges.size() && last - first < most_cells && cell_edges[last] <= most_edges - held) {
      held += cell_edges[last++];
    }
    if (last == first) {
      RETURN_IF_ERROR(WriteLargeSpilledCell(spill, cell_edges[first++], options.work_bytes, *output));
      continue;
    }
    ASSIGN_OR_RETURN(CellGroup group, spill.ReadCells(last));
    const std::uint64_t group_bytes = held * sizeof(EdgeRecord) + (last - first) * spill.IndexBytesOfCell();
    RETURN_IF_ERROR(WriteCells(group, first, last, layout, write, room - std::min(room, group_bytes), *output));
    first = last;
  }
  return output->Finish();
}

}  // namespace octavo
