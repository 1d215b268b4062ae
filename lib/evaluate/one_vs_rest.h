// L2-regularized logistic regressions of many classes on the same rows, each class against all other rows.
//
// The weights w of a class minimize |w|^2 / 2 + C sum_i log(1 + exp(-y_i w x_i)), where y_i is 1 for the rows of the
// class and -1 for the others. The last feature of each row is 1, so that its weight is the bias; it is regularized
// like the others, as in liblinear (Fan et al., "LIBLINEAR: A library for large linear classification", JMLR 2008),
// unlike in most other solvers.
//
// Solved by Newton steps from w = 0; conjugate gradients find each step and a line search its length. 32 classes take
// their passes over the rows together, so that a pass is two matrix products in single precision. No random numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/functional/function_ref.h"

namespace octavo {

// Rows of features in single precision, each with the constant 1 after it. Each row is set by one caller; otherwise
// constant. Any thread.
class FeatureRows {
 public:
  // Contents are undefined until set.
  FeatureRows(std::size_t rows, std::size_t columns);

  // Memory of one row.
  static std::uint64_t BytesPerRow(std::size_t columns) { return (columns + 1) * sizeof(float); }

  std::size_t rows() const { return rows_; }
  // The number of weights: the columns and the bias.
  std::size_t width() const { return width_; }
  // Writes row `row`; `normalize` scales it to Euclidean length 1 unless it is zero. values: [columns]
  void Set(std::size_t row, std::span<const float> values, bool normalize);
  // Writes row `row` with row `from_row` of `from`. REQUIRES: the same width
  void Copy(std::size_t row, const FeatureRows& from, std::size_t from_row);
  const float* Row(std::size_t row) const { return &values_[row * width_]; }

 private:
  std::size_t rows_;
  std::size_t width_;
  std::unique_ptr<float[]> values_;  // [rows, width]
};

// A class whose weights are wanted.
struct ClassToFit {
  std::span<const std::uint32_t> members;  // rows of the class, distinct
  std::span<float> weights;                // gets them: [width]
};

// Fits each class on the first `rows` rows. Calls `fitted` after each class. The weights of a class are a pure function
// of rows, members and cost: the same bits beside any other classes. Any number of threads, each with its own weights.
// REQUIRES: each class has some of these rows and not all
void FitOneVsRest(const FeatureRows& features, std::size_t rows, std::span<const ClassToFit> classes, double cost,
                  absl::FunctionRef<void()> fitted);

// Memory of FitOneVsRest.
std::uint64_t OneVsRestBytes(std::uint64_t rows, std::size_t columns);

// Scores [count, classes] of rows [first, first + count): the products with weights [classes, width]. Any thread.
void ScoreClasses(const FeatureRows& features, std::size_t first, std::size_t count, std::span<const float> weights,
                  std::span<float> scores);

}  // namespace octavo
