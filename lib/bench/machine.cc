#include "bench/machine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <span>

#include "base/parallel.h"
#include "base/per_thread.h"
#include "base/random.h"
#include "bench/random_floats.h"
#include "bench/rate.h"
#include "model/bf16_product.h"
#include "model/gemm.h"
#include "tables/mmap_manager.h"

namespace octavo {
namespace {

constexpr std::size_t kArrayFloats = std::size_t{1} << 24;  // 64 MiB
constexpr std::size_t kRowFloats = 128;
constexpr std::size_t kTableFloats = std::size_t{1} << 27;  // 512 MiB
constexpr std::uint64_t kDiskBytes = std::uint64_t{1} << 30;

struct GemmShape {
  std::size_t m, n, k;
};
// For 200 dimensions: the scores of a chunk, the gradients of its queries and those of its negatives. For 400: two
// shapes, the last one of a large chunk.
constexpr std::array<GemmShape, 5> kShapes = {
    {{256, 512, 200}, {256, 200, 512}, {512, 200, 256}, {256, 512, 400}, {1024, 1024, 400}}};
// Enough products to make the cost of distributing them to threads negligible.
std::size_t ProductsOfCall(double flops) { return static_cast<std::size_t>(std::ceil(3e9 / flops)); }

struct GemmResult {
  GemmRate rate;
  double had = 0;  // share of the processors' time
  double could_have = 0;
};

GemmResult MeasureGemm(GemmBackend backend, const GemmShape& shape, int threads, double seconds, RateClock clock) {
  const std::size_t m = shape.m;
  const std::size_t n = shape.n;
  const std::size_t k = shape.k;
  const std::vector<float> a = RandomFloats(m * k, 1);
  const std::vector<float> b = RandomFloats(k * n, 2);
  PerThread<std::vector<float>> results([&] { return std::vector<float>(m * n); });
  const double flops = 2.0 * static_cast<double>(m * n * k);
  GemmResult run{.rate = {std::string(GemmBackendName(backend)), m, n, k, threads}};
  const double before = ProcessorSeconds();
  const double begin = SteadySeconds();
  const double products = CallsOfThreads(threads, seconds, clock, ProductsOfCall(flops), [&] {
    GemmWith(backend, m, n, k, {a.data(), k}, {b.data(), n}, results.local().data(), n, false);
  });
  run.had = ProcessorSeconds() - before;
  run.could_have = (SteadySeconds() - begin) * ProcessorsOf(threads);
  run.rate.gflops = flops * products * 1e-9;
  return run;
}

double MeasureGather(int threads, double seconds) {
  const std::vector<float> table(kTableFloats, 1.0F);
  constexpr std::size_t kRows = kTableFloats / kRowFloats;
  constexpr std::size_t kGathered = 1 << 15;
  std::vector<float> out(kGathered * kRowFloats);
  constexpr std::size_t kAhead = 4;
  const double calls = WithThreads(threads, [&] {
    return CallsPerSecond(seconds, [&](std::uint64_t call) {
      ParallelRanges(0, kGathered, 256, [&](std::size_t first, std::size_t last) {
        RandomStream random(1, RandomPurpose::kGenerate, 1, call * kGathered + first);
        std::array<const float*, kAhead> coming{};
        for (std::size_t i = first; i < last + kAhead; ++i) {
          const float*& slot = coming[i % kAhead];
          if (slot != nullptr) std::copy_n(slot, kRowFloats, out.data() + (i - kAhead) * kRowFloats);
          if (i >= last) continue;
          slot = table.data() + random.Below(kRows) * kRowFloats;
          PrefetchFloats(slot, kRowFloats);
        }
      });
    });
  });
  return calls * static_cast<double>(kGathered);
}

// The peak of products of packed bf16 operands.
double Bf16Peak(Bf16Backend backend, int threads, double seconds, RateClock clock) {
  double peak = 0;
  for (const GemmShape& shape : kShapes) {
    const std::vector<float> a = RandomFloats(shape.m * shape.k, 1);
    const std::vector<float> b = RandomFloats(shape.k * shape.n, 2);
    std::vector<float> left(Bf16LeftFloats(shape.m, shape.k));
    std::vector<float> right(Bf16RightFloats(shape.k, shape.n));
    PackBf16Left(backend, shape.m, shape.k, a.data(), shape.k, left.data());
    PackBf16RightRows(backend, shape.k, shape.n, 0, shape.k, b.data(), shape.n, right.data());
    PerThread<std::vector<float>> results([&] { return std::vector<float>(shape.m * shape.n); });
    const double flops = 2.0 * static_cast<double>(shape.m * shape.n * shape.k);
    const double products = CallsOfThreads(threads, seconds / kShapes.size(), clock, ProductsOfCall(flops), [&] {
      Bf16Multiply(backend, shape.m, shape.n, shape.k, left.data(), right.data(), results.local().data(), shape.n);
    });
    peak = std::max(peak, flops * products * 1e-9);
  }
  return peak;
}

}  // namespace

std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (const std::size_t colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

double GemmPeak(int threads, double seconds, RateClock clock) {
  double peak = 0;
  for (const GemmShape& shape : kShapes) {
    const GemmResult run = MeasureGemm(ActiveGemmBackend(), shape, threads, seconds / kShapes.size(), clock);
    peak = std::max(peak, run.rate.gflops);
  }
  return peak;
}

ProductPeak MeasureProductPeak(int threads, double seconds, RateClock clock) {
  return {.threads = threads,
          .float32 = GemmPeak(threads, seconds, clock),
          .bf16 = Bf16Peak(ActiveBf16Backend(), threads, seconds, clock)};
}

double MemoryBandwidth(int threads, double seconds) {
  std::vector<float> a(kArrayFloats);
  const std::vector<float> b(kArrayFloats, 1.0F);
  const std::vector<float> c(kArrayFloats, 2.0F);
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  const double calls = WithThreads(threads, [&] {
    return CallsPerSecond(seconds, [&](std::uint64_t call) {
      const auto scale = static_cast<float>(call);
      ParallelRanges(0, kArrayFloats, kPiece, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) a[i] = b[i] + scale * c[i];
      });
    });
  });
  return 3.0 * kArrayFloats * sizeof(float) * calls * 1e-9;
}

MachineReport MeasureMachine(int threads, const std::filesystem::path& folder, double seconds) {
  MachineReport report;
  report.processor = ProcessorName();
  report.threads = threads;
  std::vector<GemmBackend> backends = {GemmBackend::kPortable};
  if (ActiveGemmBackend() == GemmBackend::kLibxsmm) backends.insert(backends.begin(), GemmBackend::kLibxsmm);
  std::vector<int> counts = {1};
  if (threads > 1) counts.push_back(threads);
  double had = 0;
  double could_have = 0;
  for (const GemmBackend backend : backends) {
    for (const GemmShape& shape : kShapes) {
      for (const int count : counts) {
        const GemmResult run = MeasureGemm(backend, shape, count, seconds, RateClock::kProcessor);
        report.gemm.push_back(run.rate);
        if (count == threads) {
          had += run.had;
          could_have += run.could_have;
        }
        double& peak = count == threads ? report.gemm_peak_gflops : report.one_thread_peak_gflops;
        peak = std::max(peak, report.gemm.back().gflops);
      }
    }
  }
  report.processor_share = had / could_have;
  if (threads == 1) report.one_thread_peak_gflops = report.gemm_peak_gflops;
  report.memory_bandwidth_gbps = MemoryBandwidth(threads, seconds);
  report.gather_rows_per_second = MeasureGather(threads, seconds);
  if (const auto disk = ProbeDisk(folder, kDiskBytes); disk.ok()) report.disk = *disk;
  return report;
}

}  // namespace octavo
