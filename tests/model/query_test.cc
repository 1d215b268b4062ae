#include "model/comparison.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tests/model/model_kinds.h"
#include "tests/support/naive_model.h"
#include "tests/support/random_rows.h"

namespace octavo {
namespace {

// The sides of RESCAL's blocks for a dimension; other models have none.
std::vector<std::size_t> BlocksOf(ModelKind kind, std::size_t dim) {
  if (kind != ModelKind::kRescal) return {0};
  std::vector<std::size_t> blocks;
  if (dim <= 50) blocks.push_back(0);
  for (const std::size_t block : {1UL, 2UL, 3UL, 8UL, 17UL, 32UL}) {
    if (dim % block == 0) blocks.push_back(block);
  }
  return blocks;
}

// Element l of the table of comparison.h, for the known row k and the relation r.
double NaiveQueryElement(const ModelSpec& spec, Side side, const std::vector<double>& k, const std::vector<double>& r,
                         std::size_t l) {
  const std::size_t half = spec.dim / 2;
  const double sign = side == Side::kTail ? 1 : -1;
  const auto turn = [&](double re, double im) {
    const std::size_t p = l % half;
    return l < half ? k[p] * re - sign * k[half + p] * im : sign * k[p] * im + k[half + p] * re;
  };
  switch (spec.kind) {
    case ModelKind::kDot:
      return k[l];
    case ModelKind::kDistMult:
      return k[l] * r[l];
    case ModelKind::kTransE:
      return k[l] + sign * r[l];
    case ModelKind::kComplEx:
      return turn(r[l % half], r[half + l % half]);
    case ModelKind::kRotatE:
      return turn(std::cos(r[l % half]), std::sin(r[l % half]));
    case ModelKind::kSourceContext:
      return (l >= half) == (side == Side::kTail) ? k[(l + half) % spec.dim] : 0;
    case ModelKind::kRescal: {
      const std::size_t block = spec.block == 0 ? spec.dim : spec.block;
      const std::size_t first = l / block * block;  // of the block that has l
      double sum = 0;
      for (std::size_t m = 0; m < block; ++m) {
        const std::size_t row = side == Side::kTail ? m : l - first;
        const std::size_t column = side == Side::kTail ? l - first : m;
        sum += k[first + m] * r[first * block + row * block + column];
      }
      return sum;
    }
  }
  return 0;
}

std::vector<double> Widen(const std::vector<float>& values) { return {values.begin(), values.end()}; }

// Products of two numbers of size about 1, sines with 3 units in the last place: below 2e-6.
TEST(QueryTest, AgreesWithNaiveQueryForEveryDim) {
  for (const ModelKind kind : kModelKinds) {
    for (std::size_t dim = 2; dim <= 257; ++dim) {
      for (const std::size_t block : BlocksOf(kind, dim)) {
        const ModelSpec spec{kind, Norm::kL1, dim, block};
        if (!spec.Validate().ok()) continue;
        // RESCAL adds up a row of products of numbers up to 2.
        const double tolerance = kind == ModelKind::kRescal ? 4e-6 * static_cast<double>(spec.BlockSide()) : 2e-6;
        const auto known = RandomRows(dim, dim), relation = RandomRows(spec.RelationWidth(), dim + 1, 2.0F);
        const std::vector<double> k = Widen(known), r = Widen(relation);
        for (const Side side : {Side::kTail, Side::kHead}) {
          std::vector<float> query(dim, 99.0F);
          MakeQueries(spec, side, 1, known.data(), relation.data(), query.data());
          for (std::size_t l = 0; l < dim; ++l) {
            ASSERT_NEAR(query[l], NaiveQueryElement(spec, side, k, r, l), tolerance)
                << ModelName(kind) << " " << dim << " " << block;
          }
        }
      }
    }
  }
}

// The gradient of <query, g>, by central differences of the naive query.
TEST(QueryTest, BackpropagationAgreesWithDifferences) {
  constexpr double kStep = 1e-5;
  for (const ModelKind kind : kModelKinds) {
    for (const std::size_t dim : {2UL, 6UL, 16UL, 34UL, 46UL}) {
      for (const std::size_t block : BlocksOf(kind, dim)) {
        const ModelSpec spec{kind, Norm::kL1, dim, block};
        const auto known = RandomRows(dim, dim), relation = RandomRows(spec.RelationWidth(), dim + 1),
                   g = RandomRows(dim, 5);
        for (const Side side : {Side::kTail, Side::kHead}) {
          for (const bool add : {false, true}) {
            std::vector<float> known_gradient(dim, 0.5F), relation_gradient(spec.RelationWidth(), 0.5F);
            BackpropagateQueries(spec, side, 1, known.data(), relation.data(), g.data(), add, known_gradient.data(),
                                 relation_gradient.data());
            auto k = Widen(known), r = Widen(relation);
            const auto derivative = [&](double& x) {
              const double at = x;
              double difference = 0;
              for (const double sign : {1.0, -1.0}) {
                x = at + sign * kStep;
                for (std::size_t l = 0; l < dim; ++l)
                  difference += sign * g[l] * NaiveQueryElement(spec, side, k, r, l);
              }
              x = at;
              return difference / (2 * kStep);
            };
            for (std::size_t l = 0; l < dim; ++l) {
              ASSERT_NEAR(known_gradient[l], derivative(k[l]) + (add ? 0.5 : 0), 1e-5) << ModelName(kind) << " " << dim;
            }
            for (std::size_t l = 0; l < r.size(); ++l) {
              ASSERT_NEAR(relation_gradient[l], derivative(r[l]), 1e-5) << ModelName(kind) << " " << dim;
            }
          }
        }
      }
    }
  }
}

TEST(QueryTest, PhasesWithoutMeaningAreNotSwallowed) {
  const ModelSpec spec{ModelKind::kRotatE, Norm::kL1, 8};
  const auto known = RandomRows(8, 1);
  for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
    const std::vector<float> phases(4, bad);
    std::vector<float> query(8);
    MakeQueries(spec, Side::kTail, 1, known.data(), phases.data(), query.data());
    for (const float x : query) EXPECT_FALSE(std::isfinite(x)) << bad;
  }
}

}  // namespace
}  // namespace octavo
