// One edge, 16 bytes, before it is written to a cell.
#pragma once

#include <cstdint>
#include <vector>

namespace octavo {

// Where an edge goes: the values of Split, and kDropped for an edge that is omitted.
enum class EdgeSplit : std::uint32_t { kTrain = 0, kValid = 1, kTest = 2, kDropped = 3 };

struct EdgeRecord {
  // Ids from NameTable during parsing; final ids after EncodeIds.
  std::uint32_t head = 0;
  std::uint32_t tail = 0;
  std::uint32_t relation_and_split = 0;  // relation in the low 30 bits, EdgeSplit in the high 2
  float weight = 1.0F;

  std::uint32_t relation() const { return relation_and_split & kRelationMask; }
  EdgeSplit split() const { return static_cast<EdgeSplit>(relation_and_split >> kRelationBits); }
  void set_relation(std::uint32_t relation) {
    relation_and_split = (relation_and_split & ~kRelationMask) | (relation & kRelationMask);
  }
  void set_split(EdgeSplit split) {
    relation_and_split = (relation_and_split & kRelationMask) | (static_cast<std::uint32_t>(split) << kRelationBits);
  }

  static constexpr unsigned kRelationBits = 30;
  static constexpr std::uint32_t kRelationMask = (std::uint32_t{1} << kRelationBits) - 1;
};
static_assert(sizeof(EdgeRecord) == 16);

// The edges of the whole input, a vector for each chunk of text, in input order.
using EdgeChunks = std::vector<std::vector<EdgeRecord>>;

}  // namespace octavo
