#include "prefetch/query_groups.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/random.h"

namespace octavo {

void QueryGroups::Add(std::uint32_t epoch, const Edge& edge) {
  const std::uint64_t head = Value(edge.head);
  const std::array<std::uint32_t, 4> words = Philox4x32(
      {static_cast<std::uint32_t>(head), static_cast<std::uint32_t>(head >> 32), Value(edge.relation), epoch},
      RandomKey(seed_, RandomPurpose::kGroupShuffle));
  entries_.push_back({(std::uint64_t{words[0]} << 32) | words[1], edge});
}

void QueryGroups::Group(std::uint32_t epoch, std::vector<Edge>& edges) {
  entries_.clear();
  entries_.reserve(2 * edges.size());
  for (const Edge& edge : edges) {
    Add(epoch, edge);
    Add(epoch, {.head = edge.tail,
                .tail = edge.head,
                .relation = static_cast<RelationId>(Value(edge.relation) + inverse_offset_),
                .weight = edge.weight});
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    const auto order = [](const Entry& e) {
      return std::tuple(e.key, e.edge.head, e.edge.relation, e.edge.tail, e.edge.weight);
    };
    return order(a) < order(b);
  });
  edges.clear();
  for (const Entry& entry : entries_) edges.push_back(entry.edge);
}

}  // namespace octavo
