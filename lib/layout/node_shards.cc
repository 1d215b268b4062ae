#include "layout/node_shards.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "base/parallel.h"
#include "base/status.h"
#include "evaluate/row_stream.h"
#include "index/cosine_index.h"
#include "index/inner_product.h"

namespace octavo {
namespace {

constexpr std::uint64_t kIndexBytes = std::uint64_t{64} << 20;  // of a shard, about
constexpr std::uint64_t kLeastCapacity = 16'384;
constexpr std::uint64_t kMostCapacity = 65'536;
constexpr std::uint64_t kSampleOfShard = 256;  // rows per centre
constexpr int kRounds = 10;                    // of k-means; the centres need not be exact
constexpr std::size_t kChoices = 8;            // the best shards of a node, tried in order
constexpr std::uint64_t kMostBlockRows = 4096;
constexpr std::uint64_t kBufferBytes = 64 << 10;   // rows of a shard, written together
constexpr std::uint64_t kBuffersBytes = 16 << 20;  // of all shards, unless each would have less than a row

std::uint64_t BufferRows(std::uint64_t shards, std::uint64_t dim) {
  const std::uint64_t bytes = std::min(kBufferBytes, kBuffersBytes / shards);
  return std::max<std::uint64_t>(1, bytes / ((1 + dim) * sizeof(float)));
}

void Normalize(std::span<float> row) {
  double squares = 0;
  for (const float value : row) squares += static_cast<double>(value) * static_cast<double>(value);
  const double scale = squares == 0 ? 0 : 1 / std::sqrt(squares);
  for (float& value : row) value = static_cast<float>(static_cast<double>(value) * scale);
}

// Centres with length 1, [shards, dim].
class Centres {
 public:
  static absl::StatusOr<Centres> Find(const EmbeddedGraph& embedded, std::uint64_t shards, std::uint64_t block_bytes) {
    Centres centres(shards, embedded.model.dim);
    if (shards == 1) return centres;
    const std::uint64_t nodes = embedded.graph.node_count();
    const std::uint64_t size = std::min(nodes, shards * kSampleOfShard);
    std::vector<std::uint64_t> ids(size);
    // Ids are ranks of hashes: evenly spaced ones are a random sample.
    for (std::uint64_t i = 0; i < size; ++i) ids[i] = i * nodes / size;
    std::vector<float> sample(size * centres.dim_);
    const auto take = [&](std::size_t begin, std::size_t end, const RowBlock& block) {
      RETURN_IF_ERROR(CheckFinite(embedded, block.first, block.values));
      for (std::size_t i = begin; i < end; ++i) {
        const std::span<float> row = std::span(sample).subspan(i * block.columns, block.columns);
        std::ranges::copy(block.Row(ids[i]), row.begin());
        Normalize(row);
      }
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(VisitRows(embedded.embeddings, ids, block_bytes, take));
    for (std::uint64_t s = 0; s < shards; ++s) {
      const auto first = sample.begin() + static_cast<std::ptrdiff_t>(s * size / shards * centres.dim_);
      std::copy_n(first, centres.dim_, centres.rows_.begin() + static_cast<std::ptrdiff_t>(s * centres.dim_));
    }
    for (int round = 0; round < kRounds; ++round) centres.Move(sample, size);
    return centres;
  }

  std::uint64_t size() const { return rows_.size() / dim_; }

  // The best shards for a row, best first, ties by number; fewer than kChoices if there are fewer.
  std::array<std::uint32_t, kChoices> Best(const float* row) const {
    std::array<std::uint32_t, kChoices> best{};
    std::array<float, kChoices> scores{};
    std::size_t count = 0;
    for (std::uint32_t s = 0; s < size(); ++s) {
      const float score = InnerProduct(row, rows_.data() + s * dim_, dim_);
      std::size_t place = count;
      while (place > 0 && score > scores[place - 1]) --place;
      if (place == kChoices) continue;
      count = std::min(count + 1, kChoices);
      for (std::size_t i = count - 1; i > place; --i) {
        best[i] = best[i - 1];
        scores[i] = scores[i - 1];
      }
      best[place] = s;
      scores[place] = score;
    }
    return best;
  }

 private:
  Centres(std::uint64_t shards, std::uint64_t dim) : dim_(dim), rows_(shards * dim) {}

  // Moves each centre to the mean of the sample's rows that are most similar to it. Sums are in the sample's order.
  void Move(const std::vector<float>& sample, std::uint64_t size) {
    std::vector<std::uint32_t> nearest(size);
    ParallelRanges(0, size, 64, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) nearest[i] = Best(sample.data() + i * dim_)[0];
    });
    std::vector<double> sums(rows_.size());
    for (std::uint64_t i = 0; i < size; ++i) {
      double* const sum = sums.data() + nearest[i] * dim_;
      for (std::uint64_t d = 0; d < dim_; ++d) sum[d] += static_cast<double>(sample[i * dim_ + d]);
    }
    for (std::uint64_t s = 0; s < this->size(); ++s) {
      const std::span<const double> sum(sums.data() + s * dim_, dim_);
      const std::span<float> row(rows_.data() + s * dim_, dim_);
      if (std::ranges::all_of(sum, [](double value) { return value == 0; })) continue;  // nothing is near: it stays
      std::ranges::transform(sum, row.begin(), [](double value) { return static_cast<float>(value); });
      Normalize(row);
    }
  }

  std::uint64_t dim_;
  std::vector<float> rows_;
};

// Appends rows to the shards of a table, some at a time.
class ShardWriter {
 public:
  ShardWriter(std::uint64_t capacity, std::uint64_t shards, std::uint64_t dim, ScratchTable& rows)
      : capacity_(capacity),
        width_(1 + dim),
        buffer_words_(BufferRows(shards, dim) * width_),
        rows_(rows),
        buffers_(shards),
        sizes_(shards) {
    for (auto& buffer : buffers_) buffer.reserve(buffer_words_);
  }

  const std::vector<std::uint64_t>& sizes() const { return sizes_; }

  absl::Status Add(std::uint32_t shard, std::uint64_t node, std::span<const float> row) {
    std::vector<std::uint32_t>& buffer = buffers_[shard];
    buffer.push_back(static_cast<std::uint32_t>(node));
    for (const float value : row) buffer.push_back(std::bit_cast<std::uint32_t>(value));
    ++sizes_[shard];
    return buffer.size() == buffer_words_ ? Flush(shard) : absl::OkStatus();
  }
  absl::Status Finish() {
    for (std::uint32_t shard = 0; shard < buffers_.size(); ++shard) RETURN_IF_ERROR(Flush(shard));
    return absl::OkStatus();
  }

 private:
  absl::Status Flush(std::uint32_t shard) {
    std::vector<std::uint32_t>& buffer = buffers_[shard];
    const std::uint64_t first = shard * capacity_ + sizes_[shard] - buffer.size() / width_;
    RETURN_IF_ERROR(rows_.Write(first, buffer));
    buffer.clear();
    return absl::OkStatus();
  }

  std::uint64_t capacity_;
  std::uint64_t width_;
  std::uint64_t buffer_words_;
  ScratchTable& rows_;
  std::vector<std::vector<std::uint32_t>> buffers_;
  std::vector<std::uint64_t> sizes_;
};

// Returns the first `copies` choices that have room, or else the emptiest shards.
std::array<std::uint32_t, 2> Choose(std::span<const std::uint32_t> choices, std::uint64_t copies,
                                    std::uint64_t capacity, const std::vector<std::uint64_t>& sizes) {
  std::array<std::uint32_t, 2> chosen{};
  std::uint64_t count = 0;
  for (const std::uint32_t shard : choices) {
    if (count < copies && sizes[shard] < capacity) chosen[count++] = shard;
  }
  for (; count < copies; ++count) {
    std::uint32_t emptiest = UINT32_MAX;
    for (std::uint32_t s = 0; s < sizes.size(); ++s) {
      if (count == 1 && s == chosen[0]) continue;
      if (emptiest == UINT32_MAX || sizes[s] < sizes[emptiest]) emptiest = s;
    }
    chosen[count] = emptiest;
  }
  return chosen;
}

}  // namespace

std::uint64_t ShardCapacity(std::uint64_t dim) {
  const std::uint64_t m = IndexOptions().m;
  const std::uint64_t node_bytes = CosineIndex::MemoryBytes(1, dim, m) - CosineIndex::MemoryBytes(0, dim, m);
  return std::clamp(kIndexBytes / node_bytes, kLeastCapacity, kMostCapacity);
}

std::uint64_t ShardCount(std::uint64_t nodes, std::uint64_t capacity) {
  if (nodes <= capacity) return 1;
  return std::max<std::uint64_t>(3, (2 * nodes * 4 / 3 + capacity - 1) / capacity);
}

std::uint64_t ShardingBytes(std::uint64_t nodes, std::uint64_t dim, std::uint64_t capacity) {
  const std::uint64_t shards = ShardCount(nodes, capacity);
  const std::uint64_t copies = shards == 1 ? 1 : 2;
  const std::uint64_t sample = shards == 1 ? 0 : std::min(nodes, shards * kSampleOfShard);
  const std::uint64_t row = (1 + dim) * sizeof(float);
  return nodes * copies * sizeof(std::uint32_t) + sample * (row + 16) + shards * 4 * row +
         shards * BufferRows(shards, dim) * row + kMostBlockRows * kChoices * sizeof(std::uint32_t);
}

absl::StatusOr<NodeShards> ShardNodes(const EmbeddedGraph& embedded, std::uint64_t capacity, std::uint64_t block_bytes,
                                      ScratchTable& rows, const std::function<void(double)>& progress) {
  const std::uint64_t nodes = embedded.graph.node_count();
  const std::uint64_t dim = embedded.model.dim;
  const std::uint64_t shards = ShardCount(nodes, capacity);
  ASSIGN_OR_RETURN(const Centres centres, Centres::Find(embedded, shards, block_bytes));
  NodeShards result;
  result.copies = shards == 1 ? 1 : 2;
  result.of_node.resize(nodes * result.copies);
  ShardWriter writer(capacity, shards, dim, rows);
  std::vector<std::array<std::uint32_t, kChoices>> choices;
  const auto distribute = [&](const RowBlock& block) -> absl::Status {
    RETURN_IF_ERROR(CheckFinite(embedded, block.first, block.values));
    const std::uint64_t count = block.values.size() / dim;
    choices.resize(count);
    ParallelRanges(0, count, 64, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) choices[i] = centres.Best(block.values.data() + i * dim);
    });
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t node = block.first + i;
      const auto chosen = Choose(std::span(choices[i]).first(std::min<std::uint64_t>(kChoices, shards)), result.copies,
                                 capacity, writer.sizes());
      for (std::uint64_t c = 0; c < result.copies; ++c) {
        result.of_node[node * result.copies + c] = chosen[c];
        RETURN_IF_ERROR(writer.Add(chosen[c], node, block.Row(node)));
      }
    }
    if (progress) progress(static_cast<double>(block.first + count) / static_cast<double>(nodes));
    return absl::OkStatus();
  };
  const std::uint64_t block_rows =
      std::clamp<std::uint64_t>(block_bytes / 2 / (dim * sizeof(float)), 1, kMostBlockRows);
  RETURN_IF_ERROR(StreamRows(embedded.embeddings, 0, nodes, block_rows, distribute));
  RETURN_IF_ERROR(writer.Finish());
  result.sizes = writer.sizes();
  return result;
}

}  // namespace octavo
