#include "cells/cell_sorter.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/checked_math.h"
#include "base/ids.h"
#include "base/parallel.h"
#include "io/checksum.h"
#include "io/file.h"

namespace octavo {
namespace {

// Graphs that have no partition of kLargeRows nodes get up to kUsualPartitions: fewer nodes than kLargeRows move less
// than a disk moves in one go, and 64 already allow a memory of a twentieth of the tables.
constexpr std::uint64_t kUsualPartitions = 64;
constexpr std::uint64_t kLargeRows = 65'536;
constexpr std::uint64_t kPageBytes = 4096;
// Cells larger than this are sorted by several threads.
constexpr std::size_t kParallelSortEdges = std::size_t{1} << 16;
// Edges of a bucket: the sort of so few is an insertion sort.
constexpr std::size_t kBucketEdges = 4;
// At most 4,096 buckets: edges are then written to so many places that the second-level cache holds.
constexpr int kMostBucketBits = 12;
// A large cell has 256 tasks.
constexpr int kTaskBits = 8;

std::tuple<std::uint32_t, std::uint32_t, std::uint32_t> Triple(const EdgeRecord& edge) {
  return {edge.head, edge.relation(), edge.tail};
}

// Gives the kernel advice about the whole pages of `bytes`.
void Advise(std::span<const std::byte> bytes, int advice) {
  const auto begin = RoundUp(reinterpret_cast<std::uintptr_t>(bytes.data()), kPageBytes);
  const auto end = reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size()) / kPageBytes * kPageBytes;
  // Only advice: if it fails, more memory is used.
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

}  // namespace

PartitionLayout PartitionLayoutFor(std::uint64_t node_count, std::uint64_t most) {
  const auto rows_of = [&](std::uint64_t partitions) { return (node_count + partitions - 1) / partitions; };
  const std::uint64_t chosen = std::max(rows_of(kMostPartitions), std::min(rows_of(kUsualPartitions), kLargeRows));
  PartitionLayout layout;
  layout.rows = RoundUp(most == 0 ? chosen : rows_of(most), kPartitionRowQuantum);
  layout.count = static_cast<std::uint32_t>((node_count + layout.rows - 1) / layout.rows);
  return layout;
}

// Two passes, so that a pass writes to only some hundred places: first edges go to the rows of cells, then, row by row,
// to the cells. Threads share no counters.
SortedEdges::SortedEdges(EdgeChunks& chunks, const PartitionLayout& partitions, bool free)
    : partitions_(partitions), begin_(std::size_t{cell_count()} * kSplits + 1) {
  const auto rows = static_cast<std::uint32_t>(partitions_.rows);
  // By chunk and row: first the number of edges, then where the next edge goes.
  std::vector<std::vector<std::uint64_t>> next(chunks.size(), std::vector<std::uint64_t>(partitions_.count));
  ParallelEach(0, chunks.size(), [&](std::size_t chunk) {
    for (const EdgeRecord& record : chunks[chunk]) {
      if (record.split() != EdgeSplit::kDropped) ++next[chunk][record.head / rows];
    }
  });
  std::uint64_t total = 0;
  std::vector<std::uint64_t> row_begin;
  for (std::size_t row = 0; row < partitions_.count; ++row) {
    row_begin.push_back(total);
    for (auto& of_run : next) total += std::exchange(of_run[row], total);
  }
  row_begin.push_back(total);
  begin_.back() = total;
  memory_ = std::make_unique_for_overwrite<std::byte[]>(total * sizeof(EdgeRecord));
  edges_ = reinterpret_cast<EdgeRecord*>(memory_.get());
  // The array is filled in many places at once: with huge pages all of it would be resident after the first few edges,
  // while the chunks that it replaces still exist.
  Advise(std::as_bytes(All()), free ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
  ParallelEach(0, chunks.size(), [&](std::size_t chunk) {
    for (const EdgeRecord& record : chunks[chunk]) {
      if (record.split() != EdgeSplit::kDropped) edges_[next[chunk][record.head / rows]++] = record;
    }
    if (free) chunks[chunk] = {};
  });
  ParallelEach(0, partitions_.count,
               [&](std::size_t row) { SortRow(static_cast<std::uint32_t>(row), row_begin[row], row_begin[row + 1]); });
}

// American flag sort (McIlroy, Bostic and McIlroy, Engineering Radix Sort, 1993): in place, moves each edge once.
void SortedEdges::SortRow(std::uint32_t row, std::uint64_t begin, std::uint64_t end) {
  const auto rows = static_cast<std::uint32_t>(partitions_.rows);
  const auto place_of = [&](const EdgeRecord& record) {
    return record.tail / rows * kSplits + static_cast<std::size_t>(record.split());
  };
  const std::size_t places = partitions_.count * kSplits;
  std::vector<std::uint64_t> ends(places);
  for (const EdgeRecord& record : std::span(edges_ + begin, edges_ + end)) ++ends[place_of(record)];
  std::vector<std::uint64_t> next(places);
  std::exclusive_scan(ends.begin(), ends.end(), next.begin(), begin);
  std::ranges::copy(next, begin_.begin() + static_cast<std::ptrdiff_t>(row * places));
  for (std::size_t place = 0; place < places; ++place) ends[place] += next[place];
  for (std::size_t place = 0; place < places; ++place) {
    while (next[place] < ends[place]) {
      EdgeRecord record = edges_[next[place]];
      for (std::size_t to = place_of(record); to != place; to = place_of(record)) {
        std::swap(record, edges_[next[to]++]);
      }
      edges_[next[place]++] = record;
    }
  }
}

std::span<EdgeRecord> SortedEdges::Edges(std::uint32_t cell, EdgeSplit split) {
  const std::size_t place = cell * kSplits + static_cast<std::size_t>(split);
  return {edges_ + begin_[place], begin_[place + 1] - begin_[place]};
}

void SortedEdges::Release(std::uint32_t first, std::uint32_t last) {
  const std::uint64_t begin = begin_[first * kSplits];
  Advise(std::as_bytes(All().subspan(begin, begin_[last * kSplits] - begin)), MADV_DONTNEED);
}

std::span<EdgeRecord> SortedEdges::Cell(std::uint32_t cell) {
  const std::size_t place = cell * kSplits;
  return {edges_ + begin_[place], begin_[place + kSplits] - begin_[place]};
}

// Hashes 64-bit ids, so that the order does not depend on how an import stores them temporarily.
std::uint64_t OrderKey(const EdgeRecord& edge) {
  const std::array<std::uint64_t, 3> triple = {edge.head, edge.relation(), edge.tail};
  return Checksum64(AsBytes(triple));
}

bool OrderedBefore(const KeyedEdge& a, const KeyedEdge& b) {
  if (a.key != b.key) return a.key < b.key;
  if (Triple(a.edge) != Triple(b.edge)) return Triple(a.edge) < Triple(b.edge);
  if (a.edge.split() != b.edge.split()) return a.edge.split() < b.edge.split();
  return a.edge.weight < b.edge.weight;
}

// A bucket sort: keys are hashes, evenly spread over 64 bits, so their leading bits divide the edges into buckets of
// nearly equal sizes.
void OrderCell(std::span<EdgeRecord> edges, std::vector<KeyedEdge>& memory) {
  const int bits = std::clamp(static_cast<int>(std::bit_width(edges.size() / kBucketEdges)), 1, kMostBucketBits);
  const auto bucket_of = [bits](std::uint64_t key) { return static_cast<std::size_t>(key >> (64 - bits)); };
  const std::size_t buckets = std::size_t{1} << bits;
  // Keys are computed twice, which takes less than the memory for them.
  std::vector<std::size_t> next(buckets + 1);
  for (const EdgeRecord& edge : edges) ++next[bucket_of(OrderKey(edge)) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  if (memory.size() < edges.size()) memory.resize(edges.size());
  const auto keyed = std::span(memory).first(edges.size());
  for (const EdgeRecord& edge : edges) {
    const std::uint64_t key = OrderKey(edge);
    keyed[next[bucket_of(key)]++] = {key, edge};
  }
  // next[b] is now the end of bucket b.
  const auto finish = [&](std::size_t bucket) {
    const std::size_t begin = bucket == 0 ? 0 : next[bucket - 1];
    const auto mine = keyed.subspan(begin, next[bucket] - begin);
    // A lambda, so that the sort can inline it.
    std::ranges::sort(mine, [](const KeyedEdge& a, const KeyedEdge& b) { return OrderedBefore(a, b); });
    for (std::size_t i = 0; i < mine.size(); ++i) edges[begin + i] = mine[i].edge;
  };
  if (edges.size() >= kParallelSortEdges) {
    ParallelRanges(0, buckets, buckets >> kTaskBits, [&](std::size_t first, std::size_t last) {
      for (std::size_t bucket = first; bucket < last; ++bucket) finish(bucket);
    });
  } else {
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) finish(bucket);
  }
}

void OrderCell(std::span<EdgeRecord> edges) {
  std::vector<KeyedEdge> memory;
  OrderCell(edges, memory);
}

std::size_t HandleDuplicates(std::span<EdgeRecord> edges, bool merge, std::uint64_t& duplicates) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < edges.size();) {
    double weight = 0;
    std::size_t end = i;
    for (; end < edges.size() && Triple(edges[end]) == Triple(edges[i]); ++end) weight += edges[end].weight;
    duplicates += end - i - 1;
    if (merge) {
      edges[kept] = edges[i];
      // Clamps a sum above the largest float, so that it stays finite.
      edges[kept++].weight =
          static_cast<float>(std::min(weight, static_cast<double>(std::numeric_limits<float>::max())));
    }
    i = end;
  }
  return merge ? kept : edges.size();
}

std::uint64_t CountShared(std::span<const EdgeRecord> edges, std::span<const EdgeRecord> train) {
  const auto place = [](const EdgeRecord& edge) { return std::make_pair(OrderKey(edge), Triple(edge)); };
  if (edges.empty() || train.empty()) return 0;
  std::uint64_t shared = 0;
  std::size_t at = 0;
  for (const EdgeRecord& edge : edges) {
    const auto wanted = place(edge);
    while (at < train.size() && place(train[at]) < wanted) ++at;
    if (at < train.size() && Triple(train[at]) == Triple(edge)) ++shared;
  }
  return shared;
}

}  // namespace octavo
