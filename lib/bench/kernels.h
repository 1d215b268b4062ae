// Measures the speed of each model's training kernel, counting its own flops, relative to the peak of matrix products.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/model_spec.h"

namespace octavo {

struct KernelShape {
  std::size_t chunk = 256;
  std::size_t negatives = 512;  // per side
  std::size_t dim = 200;
};

struct KernelRate {
  ModelSpec model;
  int threads = 0;
  double edges_per_second = 0;
  double gflops = 0;              // of the model: 2 sides x 3 products x 2 x negatives x dim per edge
  double share_of_gemm_peak = 0;  // of the same number of threads
};

// Measures scores, loss (softmax) and gradients of chunks of random rows in the caches, without gathering or applying:
// each model, on one thread and on `threads`, and the peak of both, in processor time. About `seconds` per figure.
std::vector<KernelRate> MeasureKernels(const KernelShape& shape, int threads, double seconds);

// The same for one model, in edges per second.
double KernelEdgesPerSecond(const ModelSpec& model, const KernelShape& shape, int threads, double seconds);

// E.g. "complex", "transe l1".
std::string KernelName(const ModelSpec& model);

}  // namespace octavo
