#include "serve/vector_clusters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/parallel.h"
#include "base/status.h"
#include "evaluate/row_stream.h"

namespace octavo {
namespace {

constexpr std::uint64_t kSample = 2048;
constexpr int kRounds = 12;  // centres of a sample hardly move after that
constexpr std::uint64_t kBlockBytes = std::uint64_t{256} << 10;
constexpr std::size_t kTile = 256;

void MakeUnit(std::span<float> row) {
  double squares = 0;
  for (const float x : row) squares += static_cast<double>(x) * static_cast<double>(x);
  if (squares == 0) return;
  const auto scale = static_cast<float>(1 / std::sqrt(squares));
  for (float& x : row) x *= scale;
}

float Product(std::span<const float> a, std::span<const float> b) {
  return std::transform_reduce(a.begin(), a.end(), b.begin(), 0.0F);
}

// Rows of unit length [count, dim].
struct Rows {
  std::size_t dim = 0;
  std::vector<float> values;

  std::size_t count() const { return values.size() / dim; }
  std::span<float> Row(std::size_t i) { return std::span(values).subspan(i * dim, dim); }
  std::span<const float> Row(std::size_t i) const { return std::span(values).subspan(i * dim, dim); }
};

std::size_t Nearest(const Rows& centers, std::span<const float> row) {
  std::size_t best = 0;
  float most = -2;
  for (std::size_t i = 0; i < centers.count(); ++i) {
    const float cosine = Product(centers.Row(i), row);
    if (cosine > most) {
      most = cosine;
      best = i;
    }
  }
  return best;
}

absl::StatusOr<Rows> ReadSample(const EmbeddedGraph& embedded, std::span<const std::uint64_t> nodes) {
  const std::uint64_t all = nodes.empty() ? embedded.graph.node_count() : nodes.size();
  Rows sample{embedded.model.dim, {}};
  const std::uint64_t count = std::min(all, kSample);
  sample.values.resize(count * sample.dim);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = i * all / count;
    const std::uint64_t node = nodes.empty() ? at : nodes[at];
    RETURN_IF_ERROR(embedded.embeddings.ReadRows(node, sample.Row(i)));
    RETURN_IF_ERROR(CheckFinite(embedded, node, sample.Row(i)));
    embedded.embeddings.Forget(node, 1);
    MakeUnit(sample.Row(i));
  }
  return sample;
}

// The first centre is the first row; each other one is the row that is farthest from those before, among a few evenly
// spaced ones, so that it depends on nothing but the rows.
Rows FirstCenters(const Rows& sample) {
  Rows centers{sample.dim, {}};
  std::vector<float> nearest(sample.count(), -2);
  std::size_t next = 0;
  while (centers.count() < std::min<std::size_t>(kClusters, sample.count())) {
    centers.values.insert(centers.values.end(), sample.Row(next).begin(), sample.Row(next).end());
    for (std::size_t i = 0; i < sample.count(); ++i) {
      nearest[i] = std::max(nearest[i], Product(sample.Row(next), sample.Row(i)));
    }
    next = static_cast<std::size_t>(std::ranges::min_element(nearest) - nearest.begin());
  }
  return centers;
}

Rows Centers(const Rows& sample) {
  Rows centers = FirstCenters(sample);
  std::vector<std::uint32_t> of(sample.count());
  std::vector<std::uint64_t> members(centers.count());
  for (int round = 0; round < kRounds; ++round) {
    ParallelEach(0, sample.count(),
                 [&](std::size_t i) { of[i] = static_cast<std::uint32_t>(Nearest(centers, sample.Row(i))); });
    Rows sums{sample.dim, std::vector<float>(centers.values.size())};
    std::ranges::fill(members, 0);
    for (std::size_t i = 0; i < sample.count(); ++i) {
      ++members[of[i]];
      const std::span<float> sum = sums.Row(of[i]);
      std::transform(sum.begin(), sum.end(), sample.Row(i).begin(), sum.begin(), std::plus<>());
    }
    for (std::size_t i = 0; i < centers.count(); ++i) {
      if (members[i] == 0) continue;
      MakeUnit(sums.Row(i));
      std::ranges::copy(sums.Row(i), centers.Row(i).begin());
    }
  }
  std::vector<std::size_t> order(centers.count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return members[i]; });
  Rows sorted{sample.dim, {}};
  for (const std::size_t i : order) {
    sorted.values.insert(sorted.values.end(), centers.Row(i).begin(), centers.Row(i).end());
  }
  return sorted;
}

}  // namespace

std::uint64_t ClusterBytes(const EmbeddedGraph& embedded) {
  return (kSample + 4 * kClusters) * embedded.model.dim * sizeof(float) + 3 * kBlockBytes;
}

absl::StatusOr<std::vector<std::uint8_t>> ClusterVectors(const EmbeddedGraph& embedded,
                                                         std::span<const std::uint64_t> nodes,
                                                         const std::function<bool()>& stop) {
  ASSIGN_OR_RETURN(const Rows sample, ReadSample(embedded, nodes));
  const std::uint64_t all = embedded.graph.node_count();
  std::vector<std::uint8_t> clusters(nodes.empty() ? all : nodes.size());
  if (clusters.empty()) return clusters;
  const Rows centers = Centers(sample);
  std::uint64_t done = 0;  // of `nodes`
  const auto assign = [&](const RowBlock& block) -> absl::Status {
    if (stop && stop()) return absl::CancelledError("stopped");
    const std::uint64_t rows = block.values.size() / block.columns;
    const std::uint64_t last = block.first + rows;
    const std::uint64_t begin = nodes.empty() ? block.first : done;
    std::uint64_t end = nodes.empty() ? last : done;
    while (!nodes.empty() && end < nodes.size() && nodes[end] < last) ++end;
    ParallelRanges(begin, end, kTile, [&](std::size_t first, std::size_t stop_at) {
      for (std::size_t i = first; i < stop_at; ++i) {
        clusters[i] = static_cast<std::uint8_t>(Nearest(centers, block.Row(nodes.empty() ? i : nodes[i])));
      }
    });
    done = end;
    return absl::OkStatus();
  };
  const std::uint64_t block_rows = std::max<std::uint64_t>(1, kBlockBytes / (embedded.model.dim * sizeof(float)));
  RETURN_IF_ERROR(StreamRows(embedded.embeddings, 0, all, block_rows, assign));
  return clusters;
}

}  // namespace octavo
