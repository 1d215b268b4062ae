// L2-regularized logistic regression by liblinear (Fan et al., "LIBLINEAR: A library for large linear classification",
// JMLR 2008), on rows of embeddings.
//
// The weights w and the bias b minimize |w|^2 / 2 + b^2 / 2 + C sum_i log(1 + exp(-y_i (w x_i + b))), y_i being 1 or
// -1. The bias is the weight of one more feature, which is 1 everywhere, so it is regularized as the others are: as
// scikit-learn's LogisticRegression(solver="liblinear") does, and unlike its other solvers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

// liblinear's own form of a value: (feature number from 1 on, value).
struct feature_node;

namespace octavo {

// The features of a number of things, in the layout that liblinear wants: 16 bytes a value. Set is for one caller a
// row; all else is constant. Any thread.
class FeatureRows {
 public:
  FeatureRows(std::size_t rows, std::size_t columns);
  ~FeatureRows();
  FeatureRows(const FeatureRows&) = delete;
  FeatureRows& operator=(const FeatureRows&) = delete;

  // Of one row.
  static std::uint64_t BytesPerRow(std::size_t columns);

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  // Writes row `row`; with `normalize` brought to Euclidean length 1, if it is not zero. values: [columns]
  void Set(std::size_t row, std::span<const float> values, bool normalize);
  // Returns w x + b for row `row`. weights: [columns + 1], the bias last
  double Decide(std::size_t row, std::span<const double> weights) const;

  // The row as liblinear reads it.
  feature_node* Row(std::size_t row) const;

 private:
  std::size_t rows_;
  std::size_t columns_;
  std::unique_ptr<feature_node[]> nodes_;  // [rows, columns + bias + end]
};

// Fits weights [columns + 1], the bias last. `positive[i]` tells whether rows[i] is of the class (y = 1).
//
// Solved in the primal by trust region Newton steps from w = 0 (liblinear's solver 0), which draws no random numbers:
// the result is a pure function of the arguments. Any number of threads, each with its own weights.
// REQUIRES: rows of both kinds
void FitLogisticRegression(const FeatureRows& features, std::span<const std::uint32_t> rows,
                           std::span<const char> positive, double cost, std::span<double> weights);

// What a fit holds for each of its rows.
inline constexpr std::uint64_t kFitBytesPerRow = 112;

}  // namespace octavo
