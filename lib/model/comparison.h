// How a score is made, and the way back from its gradient: a query is made of an anchor, the node that is given, and a
// relation, and compared with a candidate row.
//
//            query of the tail side, from the head h     query of the head side, from the tail t
//   dot      h                                           t
//   distmult h * r                                       t * r
//   complex  h * r                                       t * conj r       (complex products)
//   transe   h + r                                       t - r
//   rotate   h * e^(i r)                                 t * e^(-i r)
//   rescal   h' R                                        R t
//   source-context  [0 | source of h]                    [context of t | 0]
//
//   inner      q . c
//   l1         -sum_l |q_l - c_l|
//   euclidean  -sqrt(sum_l (q_l - c_l)^2)
//   complex l1 -sum_l |q_l - c_l| of complex numbers in split layout
// A distance of 0 has the gradient 0.
#pragma once

#include <cstddef>
#include <vector>

#include "model/model_spec.h"

namespace octavo {

// Writes the queries of n rows. anchors: [n, dim], relations: [n, RelationWidth()], queries: [n, dim].
void MakeQueries(const ModelSpec& spec, Side side, std::size_t n, const float* anchors, const float* relations,
                 float* queries);

// Turns gradients of queries [n, dim] into those of the anchors' rows (added if `add`, else overwritten) and of the
// relations (overwritten).
void BackpropagateQueries(const ModelSpec& spec, Side side, std::size_t n, const float* anchors, const float* relations,
                          const float* query_gradients, bool add, float* anchor_gradients, float* relation_gradients);

enum class Comparison { kInner, kL1, kEuclidean, kComplexL1 };

Comparison ComparisonOf(const ModelSpec& spec);

// Memory that block kernels reuse, for Euclidean distances only; one owner.
struct ScoreScratch {
  std::vector<float> query_norms;  // squared
  std::vector<float> candidate_norms;
  std::vector<float> query_sums;  // of the gradients; training only
  std::vector<float> candidate_sums;
};

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
