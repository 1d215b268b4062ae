// What this machine can do at best, as far as training depends on it: matrix products, memory, disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "io/disk_probe.h"

namespace octavo {

// Products [m, k] x [k, n] of single-precision matrices, one after the other on each of `threads` threads, by processor
// time: what other programs take meanwhile does not count.
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
  double processor_share = 0;  // of the processors' time that the products on all threads had: 1 on an idle machine
  double memory_bandwidth_gbps = 0;   // a = b + s * c over arrays past every cache: 10^9 bytes a second
  double gather_rows_per_second = 0;  // rows of 512 bytes at random places of a table past every cache
  DiskRates disk;                     // 0 where there was no room to measure
};

// Takes about `seconds` for each figure. Uses TBB's workers, `threads` of them, up to 768 MiB of memory and 1 GiB of
// disk in `folder`. An error of the disk leaves its figures 0.
MachineReport MeasureMachine(int threads, const std::filesystem::path& folder, double seconds);

// The processor's name, or "unknown processor" where the system does not tell.
std::string ProcessorName();

// What seconds are counted of: those that pass, or those that this program has of the processors.
enum class RateClock { kWall, kProcessor };

// The peak of matrix products on `threads` threads alone, of the backend in use. What it is compared with must be by
// the same clock.
double GemmPeak(int threads, double seconds, RateClock clock);

// Of a = b + s * c, in 10^9 bytes a second.
double MemoryBandwidth(int threads, double seconds);

}  // namespace octavo
