#include "cells/edge_merge.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace octavo {
namespace {

// Edges between two calls of the tick: a few milliseconds of work.
constexpr std::uint64_t kTickEdges = std::uint64_t{64} << 10;

class SpanSource : public EdgeSource {
 public:
  explicit SpanSource(std::span<const EdgeRecord> edges) : edges_(edges) {}
  absl::StatusOr<std::span<const EdgeRecord>> Next() override { return std::exchange(edges_, {}); }

 private:
  std::span<const EdgeRecord> edges_;
};

class SpillSource : public EdgeSource {
 public:
  SpillSource(const SpillFile& file, SpillExtent extent, std::size_t buffer_bytes)
      : file_(file),
        next_(extent.begin),
        end_(extent.end),
        buffer_(std::max<std::size_t>(1, buffer_bytes / sizeof(EdgeRecord))) {}

  absl::StatusOr<std::span<const EdgeRecord>> Next() override {
    const std::size_t edges = std::min<std::size_t>(buffer_.size(), (end_ - next_) / sizeof(EdgeRecord));
    const auto some = std::span(buffer_).first(edges);
    if (edges > 0) RETURN_IF_ERROR(file_.ReadOnce(next_, std::as_writable_bytes(some)));
    next_ += some.size_bytes();
    return std::span<const EdgeRecord>(some);
  }

 private:
  const SpillFile& file_;
  std::uint64_t next_;
  std::uint64_t end_;
  std::vector<EdgeRecord> buffer_;
};

// The next edge of one source, with its position in the order.
struct Head {
  std::uint32_t cell = 0;
  KeyedEdge edge{};
  std::span<const EdgeRecord> rest;
  EdgeSource* source = nullptr;
};

bool Before(const Head& a, const Head& b) {
  if (a.cell != b.cell) return a.cell < b.cell;
  return OrderedBefore(a.edge, b.edge);
}

// A binary heap of heads with the first one on top. The next edge of the top's source replaces the top.
class Merge {
 public:
  explicit Merge(const PartitionLayout& partitions)
      : rows_(static_cast<std::uint32_t>(partitions.rows)), count_(partitions.count) {}

  absl::Status Add(EdgeSource& source) {
    Head head;
    head.source = &source;
    ASSIGN_OR_RETURN(const bool any, Advance(head));
    if (!any) return absl::OkStatus();
    heads_.push_back(head);
    for (std::size_t i = heads_.size() - 1; i > 0 && Before(heads_[i], heads_[(i - 1) / 2]); i = (i - 1) / 2) {
      std::swap(heads_[i], heads_[(i - 1) / 2]);
    }
    return absl::OkStatus();
  }
  bool empty() const { return heads_.empty(); }
  const Head& top() const { return heads_.front(); }
  absl::Status Pop() {
    ASSIGN_OR_RETURN(const bool more, Advance(heads_.front()));
    if (!more) {
      heads_.front() = heads_.back();
      heads_.pop_back();
    }
    SiftDown();
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<bool> Advance(Head& head) const {
    if (head.rest.empty()) {
      ASSIGN_OR_RETURN(head.rest, head.source->Next());
      if (head.rest.empty()) return false;
    }
    const EdgeRecord& edge = head.rest.front();
    head.edge = {OrderKey(edge), edge};
    head.cell = edge.head / rows_ * count_ + edge.tail / rows_;
    head.rest = head.rest.subspan(1);
    return true;
  }

  void SiftDown() {
    std::size_t at = 0;
    while (true) {
      std::size_t first = at;
      for (std::size_t child = 2 * at + 1; child < std::min(2 * at + 3, heads_.size()); ++child) {
        if (Before(heads_[child], heads_[first])) first = child;
      }
      if (first == at) return;
      std::swap(heads_[at], heads_[first]);
      at = first;
    }
  }

  const std::uint32_t rows_;
  const std::uint32_t count_;
  std::vector<Head> heads_;
};

}  // namespace

std::unique_ptr<EdgeSource> SourceOf(std::span<const EdgeRecord> edges) { return std::make_unique<SpanSource>(edges); }
std::unique_ptr<EdgeSource> SourceOf(const SpillFile& file, SpillExtent extent, std::size_t buffer_bytes) {
  return std::make_unique<SpillSource>(file, extent, buffer_bytes);
}

absl::Status MergeEdges(std::vector<std::unique_ptr<EdgeSource>> sources, const PartitionLayout& partitions,
                        const EdgeSink& out, const EdgeTick& tick) {
  Merge merge(partitions);
  for (const auto& source : sources) RETURN_IF_ERROR(merge.Add(*source));
  std::uint64_t pushed = 0;
  while (!merge.empty()) {
    RETURN_IF_ERROR(out(merge.top().cell, merge.top().edge.edge));
    RETURN_IF_ERROR(merge.Pop());
    if (++pushed == kTickEdges && tick) RETURN_IF_ERROR(tick(std::exchange(pushed, 0)));
  }
  return tick ? tick(pushed) : absl::OkStatus();
}

}  // namespace octavo
