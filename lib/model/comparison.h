// Compares queries with candidate rows: the score, and its backpropagation. Internal to model/.
//
//   inner      q . c
//   l1         -sum_l |q_l - c_l|
//   euclidean  -sqrt(sum_l (q_l - c_l)^2)
//   complex l1 -sum_l |q_l - c_l| of complex numbers in split layout
// A distance of 0 has the gradient 0.
#pragma once

#include <cstddef>

#include "model/model_spec.h"
#include "model/score_scratch.h"

namespace octavo {

enum class Comparison { kInner, kL1, kEuclidean, kComplexL1 };

Comparison ComparisonOf(const ModelSpec& spec);

// scores[i] = score of row i of queries against row i of candidates, both [n, dim].
void CompareRows(Comparison comparison, std::size_t dim, std::size_t n, const float* queries, const float* candidates,
                 float* scores);

// With g = d loss / d score of CompareRows: adds to query_gradients [n, dim], and adds to candidate_gradients [n, dim]
// if `add`, else overwrites them.
void BackpropagateRows(Comparison comparison, std::size_t dim, std::size_t n, const float* queries,
                       const float* candidates, const float* scores, const float* g, float* query_gradients, bool add,
                       float* candidate_gradients);

// scores[i * m + j] = score of query i [n, dim] against candidate j [m, dim]; the same bits whatever n, m, i and j.
void CompareBlock(Comparison comparison, std::size_t dim, std::size_t n, const float* queries, std::size_t m,
                  const float* candidates, ScoreScratch& scratch, float* scores);

// With g [n, m] = d loss / d score of CompareBlock, whose scores and scratch are passed on (the scores are read by
// kEuclidean only): overwrites query_gradients [n, dim] and candidate_gradients [m, dim], and clobbers g.
void BackpropagateBlock(Comparison comparison, std::size_t dim, std::size_t n, const float* queries, std::size_t m,
                        const float* candidates, const float* scores, ScoreScratch& scratch, float* g,
                        float* query_gradients, float* candidate_gradients);

// The same for single comparisons: distance.cc, euclidean.cc.
void L1Gradients(std::size_t dim, std::size_t n, const float* queries, std::size_t m, const float* candidates,
                 const float* g, float* query_gradients, float* candidate_gradients);
void ComplexL1Gradients(std::size_t dim, std::size_t n, const float* queries, std::size_t m, const float* candidates,
                        const float* g, float* query_gradients, float* candidate_gradients);
void EuclideanScores(std::size_t dim, std::size_t n, const float* queries, std::size_t m, const float* candidates,
                     ScoreScratch& scratch, float* scores);
void EuclideanGradients(std::size_t dim, std::size_t n, const float* queries, std::size_t m, const float* candidates,
                        const float* scores, ScoreScratch& scratch, float* g, float* query_gradients,
                        float* candidate_gradients);

}  // namespace octavo
