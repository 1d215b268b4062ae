#include "train/row_updates.h"

#include <bit>
#include <string_view>
#include <vector>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "optimize/optimizer.h"

namespace octavo {
namespace {

// Every bit of the exponent is set in an infinity or NaN. By integers, which the compiler makes vectors of.
bool AllFinite(std::span<const float> row) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  std::uint32_t broken = 0;
  for (const float value : row) broken |= (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent ? 1U : 0U;
  return broken == 0;
}

}  // namespace

void RowUpdates::Window::operator()(std::span<const float> gradient, std::span<float> row,
                                    std::span<float> state) const {
  UpdateRow(optimizer, learning_rate, step, gradient, row, state);
  if (!AllFinite(row)) finite.store(false, std::memory_order_relaxed);
}

void RowUpdates::End(const BatchPlace& place) {
  if (!finite_.load(std::memory_order_relaxed) && !broken_place_) broken_place_ = place;
}

absl::Status RowUpdates::Check(const Graph& graph, const MmapManager& embeddings, const RelationTable& relations,
                               std::span<const NodeRange> resident, const BatchPlace& last) const {
  const auto explain = [&](std::string_view kind, std::string_view name) {
    const BatchPlace& place = broken_place_.value_or(last);
    return DivergedError(
        fmt::format("the row of the {} \"{}\" is not finite by epoch {}, batch {}; the last commit stands; try a "
                    "smaller learning-rate, or smaller weights",
                    kind, Escape(name), place.epoch + 1, place.batch + 1));
  };
  for (std::uint64_t row = 0; row < relations.rows(); ++row) {
    if (AllFinite(relations.Row(row))) continue;
    const std::uint64_t relation = row % graph.relation_count();  // reciprocal rows stand behind the others
    return explain("relation", graph.RelationName(static_cast<RelationId>(relation)));
  }
  if (!broken_place_) return absl::OkStatus();
  std::vector<float> row(embeddings.columns());
  for (const NodeRange& range : resident) {
    for (std::uint64_t node = range.begin; node < range.end; ++node) {
      RETURN_IF_ERROR(embeddings.ReadRow(static_cast<NodeId>(node), row));
      if (!AllFinite(row)) return explain("node", graph.nodes().Name(static_cast<NodeId>(node)));
    }
  }
  return absl::OkStatus();
}

}  // namespace octavo
