#include "vectors/vectors_by_node.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "io/checksum.h"

namespace octavo {

absl::Status VectorsByNode::Advance() {
  begun_ = true;
  ASSIGN_OR_RETURN(at_hand_, vectors_->Next());
  return absl::OkStatus();
}

absl::Status VectorsByNode::Copy(std::uint64_t first, std::span<float> rows, const std::function<void(NodeId)>& found) {
  if (!begun_) RETURN_IF_ERROR(Advance());
  const std::uint64_t count = columns() == 0 ? 0 : rows.size() / columns();
  nodes_.WillRead(first, count);
  for (std::uint64_t i = 0; i < count && at_hand_; ++i) {
    const NodeId node{first + i};
    const std::string_view name = nodes_.Name(node);
    const std::uint64_t hash = HashName(name, nodes_.hash_seed());
    // Skips names that the graph does not have. Names with equal hashes ascend.
    while (at_hand_ && (at_hand_->hash < hash || (at_hand_->hash == hash && at_hand_->name < name))) {
      RETURN_IF_ERROR(Advance());
    }
    if (!at_hand_ || at_hand_->hash != hash || at_hand_->name != name) continue;
    std::ranges::copy(at_hand_->values, rows.subspan(i * columns(), columns()).begin());
    found(node);
    RETURN_IF_ERROR(Advance());
  }
  nodes_.Forget(first, count);
  return nodes_.status();
}

absl::Status VectorsByNode::Finish() {
  while (!begun_ || at_hand_) RETURN_IF_ERROR(Advance());
  return absl::OkStatus();
}

}  // namespace octavo
