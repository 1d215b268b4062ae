// Dropout of the rows that a query is made of (Srivastava et al., JMLR 2014): each float is set to 0 with probability p
// and otherwise divided by 1 - p, so its expectation is unchanged. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"

namespace octavo {

struct DropoutSpec {
  float nodes = 0.0F;      // probability for a float of an anchor's row, in [0, 1)
  float relations = 0.0F;  // the same for a relation's row

  bool any() const { return nodes > 0 || relations > 0; }
};

// Writes the factors of a mask: 0 with the probability `rate`, else 1 / (1 - rate). Drawn from the stream in order.
// REQUIRES: 0 < rate < 1
void DrawDropoutMask(RandomStream& stream, float rate, std::span<float> mask);

// The rows of one side's anchors and relations with some floats dropped, for making its queries, and their
// backpropagation. One owner; keeps its memory.
class DroppedRows {
 public:
  // Draws the masks of Q queries and applies them. anchors: [Q, dim], relations: [Q, width]. If a rate is 0, its rows
  // are not copied and must outlive the use of this object.
  void Drop(const DropoutSpec& spec, RandomStream& stream, std::span<const float> anchors,
            std::span<const float> relations);
  const float* anchors() const { return anchors_.rows; }
  const float* relations() const { return relations_.rows; }

  // Memory for the gradients of the dropped anchors.
  float* anchor_gradients(std::size_t size);
  // Turns the gradients of the dropped rows into those of the rows. Those of anchors are read from anchor_gradients,
  // and added to `anchors` if `add`, else overwrite it; those of `relations` are changed in place.
  void Backpropagate(bool add, std::span<float> anchors, std::span<float> relations) const;

 private:
  struct Masked {
    const float* rows = nullptr;
    std::vector<float> mask;
    std::vector<float> dropped;
    bool masked = false;

    void Drop(float rate, RandomStream& stream, std::span<const float> from);
    float Factor(std::size_t i) const { return masked ? mask[i] : 1.0F; }
  };

  Masked anchors_;
  Masked relations_;
  std::vector<float> gradients_;
};

}  // namespace octavo
