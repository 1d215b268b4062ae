#include "generate/rmat.h"

#include <bit>
#include <vector>

namespace octavo {
namespace {

constexpr unsigned kLevelsADraw = 4;

// Returns the probability of an outcome: head bits in the upper nibble, tail bits in the lower one.
double ProbabilityOf(unsigned outcome) {
  double probability = 1;
  for (unsigned level = 0; level < kLevelsADraw; ++level) {
    const unsigned head = (outcome >> (kLevelsADraw + level)) & 1;
    const unsigned tail = (outcome >> level) & 1;
    probability *= Rmat::kQuadrants[2 * head + tail];
  }
  return probability;
}

Permutation MakePermutation(std::uint64_t count, RandomStream random) { return Permutation(count, random); }

}  // namespace

Rmat::Rmat(const GenerateOptions& options)
    : EdgeGenerator(options),
      nodes_(options.nodes),
      levels_(static_cast<unsigned>(std::bit_width(options.nodes - 1))),
      permutation_(MakePermutation(options.nodes, StructureStream(0))) {
  MakeColumns();
}

void Rmat::MakeColumns() {
  // Vose's construction (1991): a column with too little mass takes some from one with more than its share.
  std::array<double, 256> mass;
  std::vector<unsigned> small;
  std::vector<unsigned> large;
  for (unsigned i = 0; i < mass.size(); ++i) {
    mass[i] = ProbabilityOf(i) * static_cast<double>(mass.size());
    (mass[i] < 1 ? small : large).push_back(i);
  }
  constexpr double kWhole = 0x1.0p24;
  columns_.fill({static_cast<std::uint32_t>(kWhole), 0});
  while (!small.empty() && !large.empty()) {
    const unsigned lacking = small.back();
    const unsigned giving = large.back();
    small.pop_back();
    columns_[lacking] = {static_cast<std::uint32_t>(mass[lacking] * kWhole), static_cast<std::uint8_t>(giving)};
    mass[giving] -= 1 - mass[lacking];
    if (mass[giving] >= 1) continue;
    large.pop_back();
    small.push_back(giving);
  }
}

void Rmat::Draw(RandomStream& random, std::span<GeneratedEdge> edges) const {
  const unsigned draws = (levels_ + kLevelsADraw - 1) / kLevelsADraw;
  const unsigned surplus = draws * kLevelsADraw - levels_;  // lowest bits, drawn but not used
  for (GeneratedEdge& edge : edges) {
    do {
      std::uint64_t head = 0;
      std::uint64_t tail = 0;
      for (unsigned i = 0; i < draws; ++i) {
        const std::uint32_t word = random.Next32();
        const Column& column = columns_[word & 0xFF];
        const unsigned outcome = (word >> 8) < column.threshold ? word & 0xFF : column.alias;
        head = head << kLevelsADraw | outcome >> kLevelsADraw;
        tail = tail << kLevelsADraw | (outcome & 0xF);
      }
      edge = {head >> surplus, tail >> surplus, 0};
    } while (edge.head >= nodes_ || edge.tail >= nodes_);
    edge.head = permutation_(edge.head);
    edge.tail = permutation_(edge.tail);
  }
}

}  // namespace octavo
