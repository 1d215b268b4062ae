// How fast the training kernel of each model runs, of its own flops, against the peak of matrix products.
#pragma once

#include <cstddef>
#include <vector>

#include "model/model_spec.h"

namespace octavo {

struct KernelShape {
  std::size_t chunk = 256;
  std::size_t negatives = 512;  // a side
  std::size_t dim = 200;
};

struct KernelRate {
  ModelSpec model;
  int threads = 0;
  double edges_per_second = 0;
  double gflops = 0;  // of the model: 2 sides x 3 products x 2 x negatives x dim an edge
};

// Scores, loss (softmax) and gradients of chunks of random rows in the caches, with nothing gathered or applied: each
// model, on one thread and on `threads`. About `seconds` each.
std::vector<KernelRate> MeasureKernels(const KernelShape& shape, int threads, double seconds);

}  // namespace octavo
