#include "layout/neighbor_layout.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "base/status.h"
#include "layout/step_kernel.h"

namespace octavo {
namespace {

constexpr std::uint64_t kPieceNodes = 1024;  // nodes whose lists are read together

// Returns a number below `bound`. The bias is bound / 2^32.
std::uint32_t Scale(std::uint32_t word, std::uint64_t bound) {
  return static_cast<std::uint32_t>((word * bound) >> 32);
}

// Keeps the first error of several threads. Which one is first does not matter.
class Layout {
 public:
  Layout(const ScratchTable& lists, const LayoutOptions& options, std::span<MapPoint> points)
      : lists_(lists),
        options_(options),
        points_(points),
        next_(std::min<std::uint64_t>(points.size(), kLayoutBlockNodes)),
        drawn_(next_.size() * kLayoutRoundEpochs) {}

  absl::Status Run() {
    const std::uint64_t nodes = points_.size();
    for (std::uint32_t epoch = 0; epoch < options_.epochs; epoch += kLayoutRoundEpochs) {
      const std::uint32_t steps = std::min(kLayoutRoundEpochs, options_.epochs - epoch);
      for (std::uint64_t begin = 0; begin < nodes; begin += kLayoutBlockNodes) {
        const std::uint64_t size = std::min(kLayoutBlockNodes, nodes - begin);
        RETURN_IF_ERROR(DrawNeighbors(epoch, begin, size));
        for (std::uint32_t step = 0; step < steps; ++step) Step(epoch, step, begin, size);
        if (options_.progress) {
          const auto done = static_cast<double>(begin + size) / static_cast<double>(nodes);
          options_.progress((epoch + done * steps) / options_.epochs);
        }
      }
    }
    return absl::OkStatus();
  }

 private:
  // The place of a node's draw for a step of the round.
  std::uint32_t& Drawn(std::uint32_t step, std::uint64_t place) { return drawn_[step * next_.size() + place]; }

  // Draws the neighbours of a block's nodes for all steps of the round.
  absl::Status DrawNeighbors(std::uint32_t epoch, std::uint64_t begin, std::uint64_t size) {
    std::vector<absl::Status> errors((size + kPieceNodes - 1) / kPieceNodes);
    ParallelEach(0, errors.size(), [&](std::size_t piece) {
      const std::uint64_t first = piece * kPieceNodes;
      const std::uint64_t count = std::min(kPieceNodes, size - first);
      std::vector<std::uint32_t> words(count * lists_.width());
      errors[piece] = lists_.Read(begin + first, words);
      if (!errors[piece].ok()) return;
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::span<std::uint32_t> list(words.data() + i * lists_.width(), lists_.width());
        const auto used = static_cast<std::uint64_t>(std::remove(list.begin(), list.end(), kNoNode) - list.begin());
        RandomStream random(options_.seed, RandomPurpose::kLayoutNeighbors, epoch, begin + first + i);
        for (std::uint32_t step = 0; step < kLayoutRoundEpochs; ++step) {
          Drawn(step, first + i) = used == 0 ? kNoNode : list[Scale(random.Next32(), used)];
        }
      }
    });
    for (const absl::Status& error : errors) RETURN_IF_ERROR(error);
    return absl::OkStatus();
  }

  void Step(std::uint32_t epoch, std::uint32_t step, std::uint64_t begin, std::uint64_t size) {
    const float rate =
        static_cast<float>(options_.learning_rate * (1 - static_cast<double>(epoch + step) / options_.epochs));
    ParallelRanges(0, (size + kLayoutChunkNodes - 1) / kLayoutChunkNodes, 4, [&](std::size_t from, std::size_t to) {
      for (std::size_t chunk = from; chunk < to; ++chunk) {
        const std::uint64_t first = chunk * kLayoutChunkNodes;
        Move(epoch + step, rate, begin, first, std::min(kLayoutChunkNodes, size - first), &Drawn(step, first));
      }
    });
    std::copy_n(next_.begin(), size, points_.begin() + static_cast<std::ptrdiff_t>(begin));
  }

  // Computes the next positions of `count` nodes from `begin` + `first` on.
  void Move(std::uint32_t epoch, float rate, std::uint64_t begin, std::uint64_t first, std::uint64_t count,
            const std::uint32_t* drawn) {
    std::array<std::array<float, kLayoutChunkNodes>, 6> columns;
    auto& [x, y, near_x, near_y, dx, dy] = columns;
    for (std::uint64_t i = 0; i < count; ++i) {
      const MapPoint& point = points_[begin + first + i];
      const MapPoint& near = drawn[i] == kNoNode ? point : points_[drawn[i]];
      x[i] = point[0];
      y[i] = point[1];
      near_x[i] = near[0];
      near_y[i] = near[1];
    }
    std::vector<std::uint32_t> negatives(options_.negatives);
    std::vector<float> far_x(options_.negatives);
    std::vector<float> far_y(options_.negatives);
    RandomStream random(options_.seed, RandomPurpose::kLayoutNegatives, epoch, begin + first);
    for (std::size_t k = 0; k < negatives.size(); ++k) {
      negatives[k] = Scale(random.Next32(), points_.size());
      far_x[k] = points_[negatives[k]][0];
      far_y[k] = points_[negatives[k]][1];
    }
    const auto head = [count](const auto& values) { return std::span(values).first(count); };
    LayoutGradient({.first = static_cast<std::uint32_t>(begin + first),
                    .x = head(x),
                    .y = head(y),
                    .neighbor_x = head(near_x),
                    .neighbor_y = head(near_y),
                    .negatives = negatives,
                    .negative_x = far_x,
                    .negative_y = far_y},
                   std::span(dx).first(count), std::span(dy).first(count));
    for (std::uint64_t i = 0; i < count; ++i) {
      const bool stays = drawn[i] == kNoNode;
      next_[first + i] = {stays ? x[i] : x[i] - rate * dx[i], stays ? y[i] : y[i] - rate * dy[i]};
    }
  }

  const ScratchTable& lists_;
  const LayoutOptions& options_;
  const std::span<MapPoint> points_;
  std::vector<MapPoint> next_;        // of the nodes of a block
  std::vector<std::uint32_t> drawn_;  // [round, block]
};

}  // namespace

std::uint64_t LayoutBytes(std::uint64_t width, int threads) {
  constexpr std::uint64_t kTaskBytes = std::uint64_t{64} << 10;  // columns and negatives
  return kLayoutBlockNodes * (sizeof(MapPoint) + kLayoutRoundEpochs * sizeof(std::uint32_t)) +
         static_cast<std::uint64_t>(threads) * (kPieceNodes * width * sizeof(std::uint32_t) + kTaskBytes);
}

absl::Status OptimizeLayout(const ScratchTable& lists, const LayoutOptions& options, std::span<MapPoint> points) {
  return Layout(lists, options, points).Run();
}

}  // namespace octavo
