// Measures the speed of each model's training kernel, beside what bounds it, and how its time is divided.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bench/machine.h"
#include "model/model_spec.h"

namespace octavo {

struct KernelShape {
  std::size_t chunk = 256;
  std::size_t negatives = 512;  // per side
  std::size_t dim = 200;
};

struct KernelRate {
  ModelSpec model;
  bool bf16 = false;  // products of bf16 operands
  int threads = 0;
  double edges_per_second = 0;
  double gflops = 0;              // of the model: 2 sides x 3 products x 2 x negatives x dim per edge
  double share_of_gemm_peak = 0;  // of float32 and the same number of threads
  // Of what bounds the model: the peak of products of its precision, or the terms of its distances computed in
  // registers (bench/distance_terms.h).
  double share_of_bound = 0;
  // Shares of the time: scores of negatives and their gradients; packing the negatives for bf16. The rest are the loss,
  // the queries, and the sums of their gradients.
  double comparing = 0;
  double packing = 0;
};

struct KernelReport {
  std::vector<ProductPeak> peaks;
  std::vector<KernelRate> rates;
};

// Measures scores, loss (softmax) and gradients of chunks of random rows in the caches, without gathering or applying:
// each model and precision, on one thread and on `threads`, in processor time. About `seconds` per figure.
KernelReport MeasureKernels(const KernelShape& shape, int threads, double seconds);

// The same for one model with float32, in edges per second.
double KernelEdgesPerSecond(const ModelSpec& model, const KernelShape& shape, int threads, double seconds);

// E.g. "complex", "transe l1".
std::string KernelName(const ModelSpec& model);

}  // namespace octavo
