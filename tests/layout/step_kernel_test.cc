#include "layout/step_kernel.h"

#include <cmath>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

struct Scene {
  std::uint32_t first = 0;
  std::vector<float> x = {}, y = {}, near_x = {}, near_y = {}, far_x = {}, far_y = {};
  std::vector<std::uint32_t> far = {};

  LayoutChunk chunk() const {
    return {.first = first,
            .x = x,
            .y = y,
            .neighbor_x = near_x,
            .neighbor_y = near_y,
            .negatives = far,
            .negative_x = far_x,
            .negative_y = far_y};
  }
};

// The negatives are nodes of all ids from 0 to `first` + 2 * `nodes`, so that some are nodes of the chunk.
Scene RandomScene(std::size_t nodes, std::size_t negatives, float scale, std::uint64_t seed) {
  Scene scene{.first = 5};
  RandomStream random(seed, RandomPurpose::kGenerate, 0, nodes);
  const auto draw = [&](std::vector<float>& values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) values.push_back(scale * random.NextNormal());
  };
  for (auto* values : {&scene.x, &scene.y, &scene.near_x, &scene.near_y}) draw(*values, nodes);
  draw(scene.far_x, negatives);
  draw(scene.far_y, negatives);
  for (std::size_t k = 0; k < negatives; ++k) {
    const auto id = static_cast<std::uint32_t>(random.Below(5 + 2 * nodes));
    scene.far.push_back(id);
    if (id >= 5 && id < 5 + nodes) {
      scene.far_x[k] = scene.x[id - 5];
      scene.far_y[k] = scene.y[id - 5];
    }
  }
  return scene;
}

// The loss of node i at (x, y), in double precision.
double Loss(const Scene& scene, std::size_t i, double x, double y) {
  const auto q = [&](float at_x, float at_y) {
    const double dx = x - static_cast<double>(at_x);
    const double dy = y - static_cast<double>(at_y);
    return 1 / (1 + dx * dx + dy * dy);
  };
  const double near = q(scene.near_x[i], scene.near_y[i]);
  double sum = near;
  for (std::size_t k = 0; k < scene.far.size(); ++k) {
    if (scene.far[k] != scene.first + i) sum += q(scene.far_x[k], scene.far_y[k]);
  }
  return -std::log(near / sum);
}

TEST(LayoutGradient, EqualsFiniteDifferences) {
  // Lengths around the widths of vectors.
  for (const std::size_t nodes : {1U, 3U, 4U, 15U, 16U, 17U, 40U}) {
    for (const float scale : {0.01F, 1.0F, 30.0F}) {
      const Scene scene = RandomScene(nodes, 9, scale, 1);
      std::vector<float> dx(nodes), dy(nodes);
      LayoutGradient(scene.chunk(), dx, dy);
      for (std::size_t i = 0; i < nodes; ++i) {
        const double x = static_cast<double>(scene.x[i]), y = static_cast<double>(scene.y[i]);
        constexpr double kStep = 1e-5;
        const double by_x = (Loss(scene, i, x + kStep, y) - Loss(scene, i, x - kStep, y)) / (2 * kStep);
        const double by_y = (Loss(scene, i, x, y + kStep) - Loss(scene, i, x, y - kStep)) / (2 * kStep);
        EXPECT_NEAR(dx[i], by_x, 2e-5) << nodes << " " << scale << " " << i;
        EXPECT_NEAR(dy[i], by_y, 2e-5) << nodes << " " << scale << " " << i;
        EXPECT_LE(std::hypot(dx[i], dy[i]), 2);
      }
    }
  }
}

TEST(LayoutGradient, ANodeIsNotItsOwnNegative) {
  Scene scene = RandomScene(8, 1, 1, 2);
  scene.far = {7};  // node 2 of the chunk
  scene.far_x = {scene.x[2]};
  scene.far_y = {scene.y[2]};
  std::vector<float> dx(8), dy(8);
  LayoutGradient(scene.chunk(), dx, dy);
  EXPECT_NEAR(dx[2], 0, 1e-6);  // nothing but its neighbour is left
  EXPECT_NEAR(dy[2], 0, 1e-6);
  EXPECT_GT(std::abs(dx[3]), 1e-3);
}

TEST(LayoutGradient, TheBitsDoNotDependOnThePlace) {
  const Scene scene = RandomScene(37, 20, 2, 3);
  std::vector<float> dx(37), dy(37);
  LayoutGradient(scene.chunk(), dx, dy);
  for (std::size_t i = 0; i < 37; ++i) {
    LayoutChunk one = scene.chunk();
    one.first += static_cast<std::uint32_t>(i);
    one.x = one.x.subspan(i, 1);
    one.y = one.y.subspan(i, 1);
    one.neighbor_x = one.neighbor_x.subspan(i, 1);
    one.neighbor_y = one.neighbor_y.subspan(i, 1);
    float x = 0, y = 0;
    LayoutGradient(one, std::span(&x, 1), std::span(&y, 1));
    EXPECT_EQ(x, dx[i]);
    EXPECT_EQ(y, dy[i]);
  }
}

}  // namespace
}  // namespace octavo
