#include "report/node_survey.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/status.h"
#include "evaluate/row_stream.h"
#include "format/cells.h"

namespace octavo {
namespace {

constexpr std::size_t kDegreeRanges = 1 + 2 * 64;
// Norms from 2^-24 to 2^24; those beyond count in the first or last range.
constexpr int kNormOctaves = 24;
constexpr std::size_t kNormRanges = 2 * kNormOctaves * DegreeNorms::kNormSteps;

constexpr std::uint64_t kMostBlockBytes = std::uint64_t{8} << 20;  // rows of a block; larger ones are not read faster
constexpr std::uint64_t kEdgeBytes = 2 * kMaxBlockEdges * sizeof(Edge);  // a block, stored and decoded
constexpr std::uint64_t kReaderBytes = 2 << 20;  // page cache for blocks of edges that are read in order
constexpr std::uint64_t kBlocksAhead = 64;
constexpr std::uint64_t kFixedBytes = kDegreeRanges * kNormRanges * sizeof(std::uint64_t) + kEdgeBytes + kReaderBytes;

double NormAt(std::size_t range) {
  return std::exp2(static_cast<double>(range) / DegreeNorms::kNormSteps - kNormOctaves);
}

// Keeps the best `size` of the nodes added.
class TopNodes {
 public:
  TopNodes(std::uint64_t size, std::span<const std::uint64_t> first) : size_(size), first_(first) {}

  void Add(const SurveyedNode& node) {
    if (size_ == 0) return;
    const Entry entry = {std::binary_search(first_.begin(), first_.end(), node.node), node};
    if (heap_.size() == size_) {
      if (!Before(entry, heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end(), Before);
      heap_.pop_back();
    }
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), Before);
  }

  std::vector<SurveyedNode> Take() {
    std::sort_heap(heap_.begin(), heap_.end(), Before);
    std::vector<SurveyedNode> nodes;
    nodes.reserve(heap_.size());
    for (const Entry& entry : heap_) nodes.push_back(entry.node);
    return nodes;
  }

 private:
  struct Entry {
    bool first = false;
    SurveyedNode node;
  };
  static bool Before(const Entry& a, const Entry& b) {
    return std::tuple(!a.first, std::numeric_limits<std::uint64_t>::max() - a.node.degree, a.node.node) <
           std::tuple(!b.first, std::numeric_limits<std::uint64_t>::max() - b.node.degree, b.node.node);
  }

  std::uint64_t size_;
  std::span<const std::uint64_t> first_;
  std::vector<Entry> heap_;  // the front is the next to be replaced
};
constexpr std::uint64_t kTopBytes = 64;  // per node, in the heap and in the result, including growth

// Counts the ends of training edges at nodes [begin, begin + degrees.size()), which are whole partitions.
absl::Status CountDegrees(const CellReader& train, std::uint64_t begin, std::span<std::uint32_t> degrees) {
  std::fill(degrees.begin(), degrees.end(), 0);
  const std::uint64_t rows = train.header().partition_rows;
  const auto inside = [&](std::uint64_t partition) {
    return partition * rows >= begin && partition * rows < begin + degrees.size();
  };
  std::vector<Edge> edges;
  std::vector<std::byte> scratch;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < train.block_count(); ++i) {
    const BlockRecord& block = train.block(i);
    const bool heads = inside(block.head_partition);
    const bool tails = inside(block.tail_partition);
    if (heads || tails) {
      edges.resize(block.edges);
      RETURN_IF_ERROR(train.ReadBlock(i, edges, scratch));
      for (const Edge& edge : edges) {
        if (heads) ++degrees[Value(edge.head) - begin];
        if (tails) ++degrees[Value(edge.tail) - begin];
      }
    }
    if (i + 1 - kept < kBlocksAhead && i + 1 < train.block_count()) continue;
    train.Forget(kept, i + 1);
    kept = i + 1;
  }
  return absl::OkStatus();
}

double NormOf(std::span<const float> row) {
  double sum = 0;
  for (const float value : row) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

}  // namespace

std::size_t DegreeNorms::DegreeRange(std::uint64_t degree) {
  if (degree < 2) return static_cast<std::size_t>(degree);
  const auto octave = static_cast<std::size_t>(std::bit_width(degree)) - 1;
  return 2 * octave + ((degree >> (octave - 1)) & 1);
}

std::uint64_t DegreeNorms::LeastDegree(std::size_t range) {
  if (range < 2) return range;
  return (std::uint64_t{2} | (range % 2)) << (range / 2 - 1);
}

DegreeNorms::DegreeNorms() : counts_(kDegreeRanges * kNormRanges) {}

void DegreeNorms::Add(std::uint64_t degree, double norm) {
  if (norm <= 0) {
    ++zeros_;
    return;
  }
  const double range = std::floor((std::log2(norm) + kNormOctaves) * kNormSteps);
  const auto place = static_cast<std::size_t>(std::clamp(range, 0.0, static_cast<double>(kNormRanges - 1)));
  ++counts_[DegreeRange(degree) * kNormRanges + place];
}

std::vector<DegreeNorms::Cell> DegreeNorms::Cells(std::size_t most) const {
  std::size_t low = kNormRanges;
  std::size_t high = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    low = std::min(low, i % kNormRanges);
    high = std::max(high, i % kNormRanges + 1);
  }
  std::vector<Cell> cells;
  if (low >= high) return cells;
  const std::size_t together = (high - low + most - 1) / most;
  for (std::size_t degrees = 0; degrees < kDegreeRanges; ++degrees) {
    for (std::size_t from = low; from < high; from += together) {
      std::uint64_t nodes = 0;
      for (std::size_t i = from; i < std::min(high, from + together); ++i) nodes += counts_[degrees * kNormRanges + i];
      if (nodes > 0) cells.push_back({degrees, NormAt(from), NormAt(from + together), nodes});
    }
  }
  return cells;
}

std::uint64_t LeastSurveyMemory(const EmbeddedGraph& embedded, std::uint64_t top) {
  const GraphDescription& graph = embedded.graph.description();
  return kFixedBytes + std::min(top, graph.node_count) * kTopBytes +
         2 * std::min(graph.partition_rows, graph.node_count) * sizeof(std::uint32_t) +
         4 * std::max<std::uint64_t>(kMostBlockBytes / 64, embedded.model.dim * sizeof(float));
}

absl::StatusOr<NodeSurvey> SurveyNodes(const EmbeddedGraph& embedded, const SurveyOptions& options) {
  const GraphDescription& graph = embedded.graph.description();
  const CellReader& train = embedded.graph.Edges(Split::kTrain);
  const std::uint64_t fixed = kFixedBytes + std::min(options.top, graph.node_count) * kTopBytes;
  const std::uint64_t shared = options.memory_bytes - std::min(options.memory_bytes, fixed);
  // Half is for the degrees, half for two blocks of rows and their pages in the cache.
  const std::uint64_t part_rows =
      std::max<std::uint64_t>(1, shared / 2 / sizeof(std::uint32_t) / graph.partition_rows) * graph.partition_rows;
  const std::uint64_t row_bytes = embedded.model.dim * sizeof(float);
  const std::uint64_t block_rows = std::max<std::uint64_t>(1, std::min(kMostBlockBytes, shared / 8) / row_bytes);
  NodeSurvey survey;
  TopNodes top(std::min(options.top, graph.node_count), options.first);
  std::vector<std::uint32_t> degrees;
  for (std::uint64_t begin = 0; begin < graph.node_count; begin += part_rows) {
    const std::uint64_t end = std::min(begin + part_rows, graph.node_count);
    degrees.resize(end - begin);
    RETURN_IF_ERROR(CountDegrees(train, begin, degrees));
    const auto visit = [&](const RowBlock& block) {
      RETURN_IF_ERROR(CheckFinite(embedded, block.first, block.values));
      const std::uint64_t last = block.first + block.values.size() / block.columns;
      for (std::uint64_t node = block.first; node < last; ++node) {
        survey.norms.Add(degrees[node - begin], NormOf(block.Row(node)));
        top.Add({node, degrees[node - begin]});
      }
      if (options.progress) options.progress(static_cast<double>(last) / static_cast<double>(graph.node_count));
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(StreamRows(embedded.embeddings, begin, end, block_rows, visit));
  }
  survey.top = top.Take();
  return survey;
}

}  // namespace octavo
