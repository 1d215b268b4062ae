#include "tables/contributions.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "base/parallel.h"
#include "base/status.h"
#include "hwy/contrib/sort/vqsort.h"

namespace octavo {
namespace {

// Rows handled by one task: enough work to outweigh handing it over.
constexpr std::size_t kRowsPerTask = 64;
// Rows lie anywhere in memory: those of a few nodes ahead are on their way while one is worked on.
constexpr std::size_t kRowsAhead = 4;
// Of a row with many gradients the first ones: more would push out what is needed sooner.
constexpr std::uint32_t kGradientsAhead = 8;

}  // namespace

// Puts place `at` of the order, which is of `node`, into the segments; `at` ascends.
void ContributionsByNode::AddToSegments(std::uint32_t at, NodeId node) {
  if (segments_.empty() || node != segments_.back().node) segments_.push_back({.node = node, .begin = at, .end = at});
  segments_.back().end = at + 1;
}

// Node and place in one word, which sorts an order of magnitude faster than both apart. That no two keys are the same
// matters here and in Arrivals: there is one result, and nothing behind the last key is written (walk/pair_counter.cc).
void ContributionsByNode::SortTogether(unsigned index_bits) {
  for (std::size_t i = 0; i < keys_.size(); ++i) keys_[i] = (Value(contributions_[i].node) << index_bits) | i;
  hwy::Sorter()(keys_.data(), keys_.size(), hwy::SortAscending());
  const std::uint64_t mask = (std::uint64_t{1} << index_bits) - 1;
  for (std::uint32_t i = 0; i < keys_.size(); ++i) {
    order_[i] = static_cast<std::uint32_t>(keys_[i] & mask);
    AddToSegments(i, static_cast<NodeId>(keys_[i] >> index_bits));
  }
}

void ContributionsByNode::SortApart() {
  std::iota(order_.begin(), order_.end(), 0U);
  std::stable_sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return contributions_[a].node < contributions_[b].node;
  });
  for (std::uint32_t i = 0; i < order_.size(); ++i) AddToSegments(i, contributions_[order_[i]].node);
}

void ContributionsByNode::Order(std::span<const Contribution> contributions) {
  contributions_ = contributions;
  order_.resize(contributions.size());
  keys_.resize(contributions.size());
  segments_.clear();
  std::uint64_t nodes = 0;  // the bits of them all
  for (const Contribution& contribution : contributions) nodes |= Value(contribution.node);
  const auto index_bits = static_cast<unsigned>(std::bit_width(contributions.size()));
  if (static_cast<unsigned>(std::bit_width(nodes)) + index_bits <= 64) {
    SortTogether(index_bits);
  } else {
    SortApart();
  }
}

absl::Status ContributionsByNode::CheckRows(const MmapManager& embeddings, const MmapManager& state) const {
  // Of those in one partition, which stand together, the first speaks for all.
  for (auto segment = segments_.begin(); segment != segments_.end();) {
    RETURN_IF_ERROR(embeddings.CheckRow(segment->node));
    RETURN_IF_ERROR(state.CheckRow(segment->node));
    const NodeId end = std::min(embeddings.EndOf(embeddings.PartitionOf(segment->node)),
                                state.EndOf(state.PartitionOf(segment->node)));
    segment = std::partition_point(segment, segments_.end(), [end](const Segment& other) { return other.node < end; });
  }
  return absl::OkStatus();
}

std::span<const std::uint64_t> ContributionsByNode::Arrivals(std::size_t first, std::size_t last) {
  const std::uint32_t begin = segments_[first].begin;
  const std::span<std::uint64_t> arrivals = std::span(keys_).subspan(begin, segments_[last - 1].end - begin);
  for (std::size_t i = first; i < last; ++i) {
    for (std::uint32_t at = segments_[i].begin; at < segments_[i].end; ++at) {
      arrivals[at - begin] = std::uint64_t{order_[at]} << 32 | (i - first);
    }
  }
  hwy::Sorter()(arrivals.data(), arrivals.size(), hwy::SortAscending());
  return arrivals;
}

// sum(i) is the sum of the gradients of segment i, until it is called again.
template <typename Sum>
void ContributionsByNode::UpdateEach(std::size_t first, std::size_t last, const Sum& sum, std::size_t dim,
                                     RowUpdate update, MmapManager& embeddings, MmapManager& state,
                                     const std::optional<RowRounding>& rounding) const {
  std::vector<float> wide = embeddings.WideRow();
  for (std::size_t i = first; i < last; ++i) {
    if (i + kRowsAhead < last) {
      embeddings.PrefetchRow(segments_[i + kRowsAhead].node);
      state.PrefetchRow(segments_[i + kRowsAhead].node);
    }
    const NodeId node = segments_[i].node;
    const float* const total = sum(i);
    const WriterStripeLock lock(embeddings.LockFor(node));
    embeddings.UpdateRow(node, rounding.value_or(RowRounding()), wide, [&](std::span<float> row) {
      update({total, dim}, row, state.MutableCompanionRow(node));
    });
  }
}

void ContributionsByNode::UpdateRows(std::size_t first, std::size_t last, std::size_t dim, RowUpdate update,
                                     MmapManager& embeddings, MmapManager& state,
                                     const std::optional<RowRounding>& rounding) const {
  std::vector<float> sum(dim);
  const auto sum_of = [&](std::size_t i) -> const float* {
    if (i + kRowsAhead < last) {
      const Segment& ahead = segments_[i + kRowsAhead];
      const std::uint32_t end = std::min(ahead.end, ahead.begin + kGradientsAhead);
      for (std::uint32_t at = ahead.begin; at < end; ++at) PrefetchFloats(gradient(at), dim);
    }
    const Segment& segment = segments_[i];
    const float* const only = gradient(segment.begin);
    if (segment.end - segment.begin == 1) return only;
    std::memcpy(sum.data(), only, dim * sizeof(float));
    for (std::uint32_t at = segment.begin + 1; at < segment.end; ++at) {
      const float* one = gradient(at);
      for (std::size_t d = 0; d < dim; ++d) sum[d] += one[d];
    }
    return sum.data();
  };
  UpdateEach(first, last, sum_of, dim, update, embeddings, state, rounding);
}

void ContributionsByNode::UpdateRowsBy(const float* sums, std::size_t stride, std::size_t first, std::size_t last,
                                       std::size_t dim, RowUpdate update, MmapManager& embeddings, MmapManager& state,
                                       const std::optional<RowRounding>& rounding) const {
  const auto sum_of = [&](std::size_t i) { return sums + (i - first) * stride; };
  UpdateEach(first, last, sum_of, dim, update, embeddings, state, rounding);
}

absl::Status ContributionsByNode::UpdateAllRows(std::size_t dim, RowUpdate update, MmapManager& embeddings,
                                                MmapManager& state, const std::optional<RowRounding>& rounding) const {
  RETURN_IF_ERROR(embeddings.CheckRounding(rounding));
  RETURN_IF_ERROR(CheckRows(embeddings, state));
  ParallelRanges(0, segments_.size(), kRowsPerTask, [&](std::size_t first, std::size_t last) {
    UpdateRows(first, last, dim, update, embeddings, state, rounding);
  });
  return absl::OkStatus();
}

}  // namespace octavo
