// Initial values of embeddings and relations: each row a pure function of seed and row number.
#pragma once

#include <cstdint>
#include <span>

#include "run/options.h"

namespace octavo {

// Returns the standard deviation of the initial values of a table of `rows` rows. With xavier: sqrt(2 / (rows + dim))
// (Glorot and Bengio, AISTATS 2010). Otherwise the options' value; if that is 0, 1e-3 for dot, DistMult and ComplEx
// (Lacroix et al., ICML 2018), and (margin + 2) / (dim * sqrt(3)) with margin 9 for TransE and RotatE, which is the
// variance of RotatE's uniform initialisation.
double InitialScale(const TrainOptions& options, std::uint64_t rows);

// Normal or uniform values with mean 0 and standard deviation `scale`.
void InitialEmbedding(const TrainOptions& options, double scale, std::uint64_t row, std::span<float> values);

// Like embeddings; for RotatE phases, uniform in [-pi, pi).
void InitialRelation(const TrainOptions& options, double scale, std::uint64_t row, std::span<float> values);

}  // namespace octavo
