// Epochs, negatives and dimensions of a model with relations, within a cost.
#pragma once

#include <cstdint>

#include "choose/choice_draft.h"

namespace octavo {

inline constexpr std::uint64_t kLeastDim = 128;  // is worth more than having all tables in memory
// The most dimensions of few nodes whose edges are trained one by one. If the cost does not allow them, groups are
// better.
inline constexpr std::uint64_t kMostDimAlone = 512;
inline constexpr std::uint64_t kWantedDim = 256;  // is worth more than further negatives

// Fewer for more edges, so that the number of updates rises with their root.
std::uint64_t EpochsOf(std::uint64_t edges);
void ChooseSize(ChoiceDraft& draft);
// The block of a model with blocks, for the dimension.
void ChooseBlock(ChoiceDraft& draft);

// The dimensions that the cost allows: a multiple of a step.
std::uint64_t DimFor(const ChoiceDraft& draft, std::uint64_t negatives);
// Of all epochs.
double Flops(const ChoiceDraft& draft);
// Of all epochs, for each dimension and negative.
double FlopsPerNumber(const ChoiceDraft& draft, bool grouped);
std::uint64_t Negatives(const ChoiceDraft& draft);
// Whether options that were given need drawn negatives.
bool AsksForDrawn(const ChoiceDraft& draft);

}  // namespace octavo
