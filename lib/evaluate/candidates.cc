#include "evaluate/candidates.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "base/random.h"
#include "base/status.h"
#include "evaluate/row_stream.h"

namespace octavo {
namespace {

constexpr std::uint32_t kCandidateStream = 0;

}  // namespace

std::vector<std::uint64_t> DrawWithoutReplacement(std::uint64_t count, std::uint64_t bound, std::uint64_t seed,
                                                  std::uint32_t stream) {
  // Floyd's algorithm (Bentley and Floyd, CACM 1987): `count` draws for any bound.
  RandomStream random(seed, RandomPurpose::kEvaluationCandidates, stream, 0);
  absl::flat_hash_set<std::uint64_t> seen;
  std::vector<std::uint64_t> drawn;
  drawn.reserve(count);
  for (std::uint64_t j = bound - count; j < bound; ++j) {
    const std::uint64_t number = random.Below(j + 1);
    drawn.push_back(seen.insert(number).second ? number : j);
    if (drawn.back() == j) seen.insert(j);
  }
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

CandidateSet::CandidateSet(std::uint64_t node_count, std::uint64_t sample, std::uint64_t seed)
    : node_count_(node_count) {
  if (sample < node_count) nodes_ = DrawWithoutReplacement(sample, node_count, seed, kCandidateStream);
}

std::span<const std::uint64_t> CandidateSet::NodesIn(std::uint64_t begin, std::uint64_t end) const {
  const auto first = std::lower_bound(nodes_.begin(), nodes_.end(), begin);
  const auto last = std::lower_bound(first, nodes_.end(), end);
  return {first, last};
}

bool CandidateSet::Contains(std::uint64_t node) const {
  return all() ? node < node_count_ : std::binary_search(nodes_.begin(), nodes_.end(), node);
}

std::uint64_t CandidateSet::CountIn(std::uint64_t begin, std::uint64_t end) const {
  return all() ? end - begin : NodesIn(begin, end).size();
}

absl::Status CandidateSet::Stream(const EmbeddedGraph& embedded, std::uint64_t begin, std::uint64_t end,
                                  std::uint64_t block_rows,
                                  const std::function<absl::Status(const CandidateBlock&)>& visit) const {
  const std::size_t dim = embedded.model.dim;
  if (all()) {
    return StreamRows(embedded.embeddings, begin, end, block_rows, [&](const RowBlock& block) -> absl::Status {
      RETURN_IF_ERROR(CheckFinite(embedded, block.first, block.values));
      return visit(CandidateBlock{{}, block.first, block.values.size() / dim, block.values});
    });
  }
  const std::span<const std::uint64_t> ids = NodesIn(begin, end);
  std::vector<float> rows;
  for (std::size_t first = 0; first < ids.size(); first += block_rows) {
    const auto block = ids.subspan(first, std::min<std::size_t>(block_rows, ids.size() - first));
    rows.resize(block.size() * dim);
    const auto copy = [&](std::size_t from, std::size_t to, const RowBlock& read) -> absl::Status {
      RETURN_IF_ERROR(CheckFinite(embedded, read.first, read.values));
      for (std::size_t i = from; i < to; ++i) {
        std::copy_n(read.Row(block[i]).begin(), dim, rows.begin() + static_cast<std::ptrdiff_t>(i * dim));
      }
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(VisitRows(embedded.embeddings, block, rows.size() * sizeof(float), copy));
    RETURN_IF_ERROR(visit(CandidateBlock{block, 0, block.size(), rows}));
  }
  return absl::OkStatus();
}

}  // namespace octavo
