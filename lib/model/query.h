// Makes queries from anchors and relations, and backpropagates through them. Internal to model/.
//
//            query of the tail side, from the head h     query of the head side, from the tail t
//   dot      h                                           t
//   distmult h * r                                       t * r
//   complex  h * r                                       t * conj r       (complex products)
//   transe   h + r                                       t - r
//   rotate   h * e^(i r)                                 t * e^(-i r)
//   source-context  [0 | source of h]                    [context of t | 0]
#pragma once

#include <cstddef>

#include "model/model_spec.h"

namespace octavo {

// Writes the queries of n rows. anchors: [n, dim], relations: [n, RelationWidth()], queries: [n, dim].
void MakeQueries(const ModelSpec& spec, Side side, std::size_t n, const float* anchors, const float* relations,
                 float* queries);

// Turns gradients of queries [n, dim] into those of the anchors' rows (added if `add`, else overwritten) and of the
// relations (overwritten).
void BackpropagateQueries(const ModelSpec& spec, Side side, std::size_t n, const float* anchors, const float* relations,
                          const float* query_gradients, bool add, float* anchor_gradients, float* relation_gradients);

}  // namespace octavo
