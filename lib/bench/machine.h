// Measures what this machine can do at best, as far as training depends on it: matrix products, memory, disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/thread_rate.h"
#include "io/disk_probe.h"

namespace octavo {

// Products [m, k] x [k, n] of single-precision matrices, in sequence on each of `threads` threads, in processor time:
// time taken by other programs does not count.
struct GemmRate {
  std::string library;
  std::size_t m = 0;
  std::size_t n = 0;
  std::size_t k = 0;
  int threads = 0;
  double gflops = 0;
};

struct MachineReport {
  std::string processor;
  int threads = 0;
  std::vector<GemmRate> gemm;
  double gemm_peak_gflops = 0;  // the best of them on all threads
  double one_thread_peak_gflops = 0;
  double processor_share = 0;  // share of the processors' time during the products on all threads: 1 on an idle machine
  double memory_bandwidth_gbps = 0;   // a = b + s * c over arrays larger than every cache: 10^9 bytes per second
  double gather_rows_per_second = 0;  // 512-byte rows at random places of a table larger than every cache
  DiskRates disk;                     // 0 if there was no space for the measurement
};

// Takes about `seconds` for each figure. Uses `threads` TBB workers, up to 768 MiB of memory and 1 GiB of disk in
// `folder`. A disk error leaves the disk's figures 0.
MachineReport MeasureMachine(int threads, const std::filesystem::path& folder, double seconds);

// The processor's name, or "unknown processor" if the system does not report it.
std::string ProcessorName();

// The peak of matrix products of the current backend on `threads` threads. Compare it only with rates by the same
// clock.
double GemmPeak(int threads, double seconds, RateClock clock);

// The same in GFLOP/s, and that of packed bf16 operands by this machine's backend (model/bf16_product.h).
struct ProductPeak {
  int threads = 0;
  double float32 = 0;
  double bf16 = 0;
};
ProductPeak MeasureProductPeak(int threads, double seconds, RateClock clock);

// The bandwidth of a = b + s * c, in 10^9 bytes per second.
double MemoryBandwidth(int threads, double seconds);

}  // namespace octavo
