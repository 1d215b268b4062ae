#include "model/dropout.h"

namespace octavo {

void DrawDropoutMask(RandomStream& stream, float rate, std::span<float> mask) {
  const float kept = 1.0F / (1.0F - rate);
  for (float& factor : mask) factor = stream.NextFloat() < rate ? 0.0F : kept;
}

void DroppedRows::Masked::Drop(float rate, RandomStream& stream, std::span<const float> from) {
  rows = from.data();
  masked = rate > 0 && !from.empty();
  if (!masked) return;
  mask.resize(from.size());
  dropped.resize(from.size());
  DrawDropoutMask(stream, rate, mask);
  for (std::size_t i = 0; i < from.size(); ++i) dropped[i] = from[i] * mask[i];
  rows = dropped.data();
}

void DroppedRows::Drop(const DropoutSpec& spec, RandomStream& stream, std::span<const float> anchors,
                       std::span<const float> relations) {
  anchors_.Drop(spec.nodes, stream, anchors);
  relations_.Drop(spec.relations, stream, relations);
}

float* DroppedRows::anchor_gradients(std::size_t size) {
  gradients_.resize(size);
  return gradients_.data();
}

void DroppedRows::Backpropagate(bool add, std::span<float> anchors, std::span<float> relations) const {
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    anchors[i] = (add ? anchors[i] : 0.0F) + anchors_.Factor(i) * gradients_[i];
  }
  for (std::size_t i = 0; i < relations.size(); ++i) relations[i] *= relations_.Factor(i);
}

}  // namespace octavo
