#include "walk/walk_options.h"

#include <algorithm>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

absl::Status CheckWhole(std::string_view flag, std::uint64_t found, std::uint64_t least, std::uint64_t most) {
  if (found >= least && found <= most) return absl::OkStatus();
  return UsageError(fmt::format("--{}: found {}; expected a whole number from {} to {}", flag, found, least, most));
}

absl::Status CheckReal(std::string_view flag, double found, double least, double most) {
  if (found >= least && found <= most) return absl::OkStatus();
  return UsageError(fmt::format("--{}: found {}; expected a number from {} to {}", flag, found, least, most));
}

}  // namespace

std::uint64_t WalkOptions::pairs_of_walk() const {
  if (!windowed()) return 1;
  const std::uint64_t full = std::min(window, length - 1);
  // Node i is preceded by min(i, window) nodes.
  return full * (full + 1) / 2 + (length - 1 - full) * full;
}

std::size_t WalkOptions::carried_nodes() const {
  if (!windowed()) return 1;
  return std::max<std::size_t>(std::min(window, length - 1), kind == WalkKind::kNode2Vec ? 2 : 1);
}

std::string_view WalkKindName(WalkKind kind) {
  switch (kind) {
    case WalkKind::kDeepWalk:
      return "deepwalk";
    case WalkKind::kNode2Vec:
      return "node2vec";
    case WalkKind::kPersonalPageRank:
      return "ppr";
  }
  return "";
}

absl::Status ValidateWalkOptions(const WalkOptions& options) {
  RETURN_IF_ERROR(CheckWhole("walks", options.walks, 1, kMaxWalks));
  RETURN_IF_ERROR(CheckWhole("samples", options.samples, 1, kMaxWalks));
  RETURN_IF_ERROR(CheckWhole("length", options.length, 2, kMaxLength));
  RETURN_IF_ERROR(CheckWhole("window", options.window, 1, kMaxWindow));
  RETURN_IF_ERROR(CheckReal("p", options.p, kMinBias, kMaxBias));
  RETURN_IF_ERROR(CheckReal("q", options.q, kMinBias, kMaxBias));
  return CheckReal("alpha", options.alpha, 0, kMaxAlpha);
}

}  // namespace octavo
