// The score functions: names, shapes and conventions that training, evaluation and queries share.
//
// A node's row is [dim] floats. ComplEx and RotatE read it as dim / 2 complex numbers in split layout: the real parts
// first, then the imaginary parts. A relation's row is [RelationWidth()] floats.
//
//   dot       <h, t>                                                                  no relation parameters
//   source-context  <source of h, context of t>, a row being [source | context]: the second-order proximity of LINE,
//                   Tang et al., WWW 2015                                             no relation parameters
//   distmult  <h, r, t>                              Yang et al., ICLR 2015           [dim]
//   complex   Re <h, r, conj t>                      Trouillon et al., ICML 2016      [dim], split layout
//   transe    -||h + r - t||_1 or _2                 Bordes et al., NIPS 2013         [dim]
//   rotate    -||h o e^(i r) - t||                   Sun et al., ICLR 2019            [dim / 2] phases in radians
//             l1: sum of the moduli, as in the paper; l2: Euclidean norm of the whole difference
//   rescal    h' R t         Nickel et al., ICML 2011   [dim * block]: R is block-diagonal, of dim / block square
//             blocks one after the other, each row by row. One block of the whole dimension is RESCAL; smaller ones
//             are the multi-partition embeddings of Tran and Takasu, ECAI 2020.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace octavo {

enum class ModelKind { kDot, kDistMult, kComplEx, kTransE, kRotatE, kSourceContext, kRescal };
enum class Norm { kL1, kL2 };

// Which end of an edge is replaced: kTail scores (h, r, ?), kHead scores (?, r, t).
enum class Side { kTail, kHead };

struct ModelSpec {
  ModelKind kind = ModelKind::kComplEx;
  Norm norm = Norm::kL1;  // read by TransE and RotatE only
  std::size_t dim = 100;
  std::size_t block = 0;  // side of RESCAL's blocks; 0: dim

  std::size_t RelationWidth() const;
  std::size_t BlockSide() const { return block == 0 ? dim : block; }
  // Returns a usage error if dim is 0, above 65,536, odd for a model whose rows have two halves, or no multiple of the
  // block, or if a relation is too wide.
  absl::Status Validate() const;
};

// A part of each row: all of it, or for source-context also one of its halves.
enum class RowPart { kAll, kSource, kContext };
struct ColumnRange {
  std::size_t first = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - first; }
};
// REQUIRES: part is kAll, or model.kind is kSourceContext
ColumnRange ColumnsOf(RowPart part, const ModelSpec& model);

// "dot", "distmult", "complex", "transe", "rotate", "source-context", "rescal". The parser's error lists them.
std::string_view ModelName(ModelKind kind);
absl::StatusOr<ModelKind> ParseModel(std::string_view name);

}  // namespace octavo
