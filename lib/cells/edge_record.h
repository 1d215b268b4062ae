// One edge, 16 bytes, on its way into the cells.
#pragma once

#include <cstdint>
#include <vector>

namespace octavo {

// Where an edge goes: the values of Split, and kDropped for an edge that is left out.
enum class Part : std::uint32_t { kTrain = 0, kValid = 1, kTest = 2, kDropped = 3 };

struct EdgeRecord {
  // While names are still coming in, the ids that NameTable gave; after EncodeIds the final ones.
  std::uint32_t head = 0;
  std::uint32_t tail = 0;
  std::uint32_t relation_and_part = 0;  // relation in the low 30 bits, Part in the high 2
  float weight = 1.0F;

  std::uint32_t relation() const { return relation_and_part & kRelationMask; }
  Part part() const { return static_cast<Part>(relation_and_part >> kRelationBits); }
  void set_relation(std::uint32_t relation) {
    relation_and_part = (relation_and_part & ~kRelationMask) | (relation & kRelationMask);
  }
  void set_part(Part part) {
    relation_and_part = (relation_and_part & kRelationMask) | (static_cast<std::uint32_t>(part) << kRelationBits);
  }

  static constexpr unsigned kRelationBits = 30;
  static constexpr std::uint32_t kRelationMask = (std::uint32_t{1} << kRelationBits) - 1;
};
static_assert(sizeof(EdgeRecord) == 16);

// The edges of the whole input, in runs: one for each chunk of text, in input order.
using EdgeRuns = std::vector<std::vector<EdgeRecord>>;

}  // namespace octavo
