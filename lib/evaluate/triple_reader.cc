#include "evaluate/triple_reader.h"

#include <algorithm>
#include <string_view>

#include "base/status.h"
#include "evaluate/candidates.h"
#include "fmt/format.h"
#include "format/paths.h"

namespace octavo {
namespace {

constexpr std::uint32_t kTripleStream = 1;
constexpr std::size_t kBlocksAhead = 64;  // at most 4 MiB of the page cache

}  // namespace

TripleReader::TripleReader(const CellReader& cells, std::uint64_t sample, std::uint64_t seed)
    : cells_(cells), sampled_(sample > 0 && sample < cells.edge_count()) {
  if (sampled_) sample_ = DrawWithoutReplacement(sample, cells.edge_count(), seed, kTripleStream);
}

absl::Status TripleReader::ReadNextBlock() {
  first_edge_ += edges_.size();
  if (next_block_ % kBlocksAhead == 0) {
    cells_.Forget(next_block_ - std::min(next_block_, kBlocksAhead), next_block_);
    cells_.WillRead(next_block_, std::min(next_block_ + kBlocksAhead, cells_.block_count()));
  }
  edges_.resize(cells_.block(next_block_).edges);
  return cells_.ReadBlock(next_block_++, edges_, scratch_);
}

absl::StatusOr<std::vector<Edge>> TripleReader::Next(std::uint64_t count) {
  const std::uint64_t last = taken_ + std::min(count, size() - taken_);
  std::vector<Edge> triples;
  triples.reserve(last - taken_);
  for (; taken_ < last; ++taken_) {
    const std::uint64_t position = sampled_ ? sample_[taken_] : taken_;
    while (position >= first_edge_ + edges_.size()) RETURN_IF_ERROR(ReadNextBlock());
    triples.push_back(edges_[position - first_edge_]);
  }
  return triples;
}

absl::Status EmptySplitError(const Graph& graph, Split split) {
  const std::string_view name = SplitName(split);
  return UsageError(fmt::format(
      "{}: the graph has no {} edges; {}", graph.paths().Cells(split).string(), name,
      split == Split::kTrain ? "nothing can be evaluated"
                             : fmt::format("evaluate another split, or import with --{} FILE or --split", name)));
}

}  // namespace octavo
