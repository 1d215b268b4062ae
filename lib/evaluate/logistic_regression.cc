#include "evaluate/logistic_regression.h"

#include <linear.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <vector>

namespace octavo {
namespace {

// Where the gradient is this part of the one at w = 0 the solver stops; relative to the share of the rarer class, too.
// liblinear's own default is 0.01. On BlogCatalog F1 is within 0.0005 of what 1e-4 gives.
constexpr double kTolerance = 0.001;

// liblinear prints its progress to standard output through a pointer that all threads share. Set before the first fit
// and never again.
void SilenceLiblinear() {
  [[maybe_unused]] static const bool silent = [] {
    set_print_string_function([](const char*) {});
    return true;
  }();
}

struct ModelDeleter {
  void operator()(::model* fitted) const { free_and_destroy_model(&fitted); }
};

}  // namespace

FeatureRows::FeatureRows(std::size_t rows, std::size_t columns)
    : rows_(rows), columns_(columns), nodes_(new feature_node[rows * (columns + 2)]) {}

FeatureRows::~FeatureRows() = default;

std::uint64_t FeatureRows::BytesPerRow(std::size_t columns) { return (columns + 2) * sizeof(feature_node); }

feature_node* FeatureRows::Row(std::size_t row) const { return &nodes_[row * (columns_ + 2)]; }

void FeatureRows::Set(std::size_t row, std::span<const float> values, bool normalize) {
  feature_node* const nodes = Row(row);
  double scale = 1;
  if (normalize) {
    double squares = 0;
    for (const float value : values) squares += static_cast<double>(value) * value;
    if (squares > 0) scale = 1 / std::sqrt(squares);
  }
  for (std::size_t i = 0; i < columns_; ++i) nodes[i] = {static_cast<int>(i + 1), scale * values[i]};
  nodes[columns_] = {static_cast<int>(columns_ + 1), 1.0};
  nodes[columns_ + 1] = {-1, 0.0};  // the end
}

double FeatureRows::Decide(std::size_t row, std::span<const double> weights) const {
  const feature_node* const nodes = Row(row);
  double sum = 0;
  for (std::size_t i = 0; i <= columns_; ++i) sum += weights[i] * nodes[i].value;
  return sum;
}

void FitLogisticRegression(const FeatureRows& features, std::span<const std::uint32_t> rows,
                           std::span<const char> positive, double cost, std::span<double> weights) {
  SilenceLiblinear();
  std::vector<feature_node*> row_pointers(rows.size());
  std::vector<double> classes(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    row_pointers[i] = features.Row(rows[i]);
    classes[i] = positive[i] != 0 ? 1 : -1;
  }
  ::problem problem{};
  problem.l = static_cast<int>(rows.size());
  problem.n = static_cast<int>(features.columns() + 1);
  problem.y = classes.data();
  problem.x = row_pointers.data();
  problem.bias = 1;
  ::parameter parameter{};
  parameter.solver_type = L2R_LR;
  parameter.eps = kTolerance;
  parameter.C = cost;
  const std::unique_ptr<::model, ModelDeleter> fitted(train(&problem, &parameter));
  if (fitted == nullptr) throw std::bad_alloc();
  // Its weights tell label[0] from the other one, which is the class of the first row, whatever its sign; but for 1 and
  // -1 it takes the positive one first.
  const double sign = fitted->label[0] > 0 ? 1 : -1;
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = sign * fitted->w[i];
}

}  // namespace octavo
