// The panel product by libxsmm (Heinecke et al., "LIBXSMM: accelerating small matrix multiplications by runtime code
// generation", SC 2016). Its matrices are column-major, so our c = a * panel is its c^T = panel^T * a^T.
//
// It generates code once for each shape. Rows and depth are cut so that few shapes occur whatever the chunk's size.
// With two or more vectors of columns its kernels add the terms in order, each by one fused multiply-add; GemmTest
// checks this.
#include "model/panel.h"

#if defined(OCTAVO_HAVE_LIBXSMM)

#include <libxsmm.h>

#include <array>
#include <cstdint>
#include <cstdlib>

#include "base/deep_stack.h"
#include "base/file_refusal.h"

namespace octavo {
namespace {

constexpr std::size_t kRowBlock = 48;   // a multiple of the register blocks of all panel widths: 6, 9 (48 columns), 12
constexpr std::size_t kRowStep = 6;     // the remainder below kRowBlock: a multiple of this, then a single shape
constexpr std::size_t kDepthStep = 16;  // the same for depth

struct Shape {
  std::uint32_t rows = 0;
  std::uint32_t depth = 0;
  std::uint32_t width = 0;
  std::uint32_t panel_stride = 0;
  std::uint32_t stride = 0;  // of a
  std::uint32_t ldc = 0;
  bool transposed = false;
  bool accumulate = false;

  friend bool operator==(const Shape&, const Shape&) = default;

  std::size_t Hash() const {
    std::uint64_t h = transposed ? 1 : 2;
    for (const std::uint64_t part : {rows, depth, width, panel_stride, stride, ldc, accumulate ? 1U : 0U}) {
      h = (h ^ part) * 0x9E3779B97F4A7C15ULL;  // the golden ratio
    }
    return h >> 32;
  }
};

libxsmm_smmfunction GenerateHere(const Shape& shape) {
  const auto lda = static_cast<libxsmm_blasint>(shape.panel_stride);
  const auto ldb = static_cast<libxsmm_blasint>(shape.stride);
  const auto ldc = static_cast<libxsmm_blasint>(shape.ldc);
  const float alpha = 1.0F;
  const float beta = shape.accumulate ? 1.0F : 0.0F;
  const int flags = shape.transposed ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
  return libxsmm_smmdispatch(static_cast<libxsmm_blasint>(shape.width), static_cast<libxsmm_blasint>(shape.rows),
                             static_cast<libxsmm_blasint>(shape.depth), &lda, &ldb, &ldc, &alpha, &beta, &flags,
                             nullptr);
}

// libxsmm keeps 128 KiB of code on the stack while it generates.
libxsmm_smmfunction Generate(const Shape& shape) {
  libxsmm_smmfunction function = nullptr;
  if (!StacksAreSmall() || !RunOnDeepStack([&] { function = GenerateHere(shape); })) function = GenerateHere(shape);
  return function;
}

// It needs more than 256 KiB of stack. It would also create the file /tmp/.libxsmm.UID, only to know whether it is
// alone: by that name others could make it wait on a pipe or create the file that a link names.
void Initialize() {
  if (!RunWithoutNewFiles(libxsmm_init)) libxsmm_init();
}

// Handles of this thread's recent shapes, direct-mapped. On a miss it asks libxsmm's own registry, which all threads
// share and which keeps the code until the program ends.
libxsmm_smmfunction Find(const Shape& shape) {
  struct Entry {
    Shape shape;
    libxsmm_smmfunction function = nullptr;
  };
  constexpr std::size_t kEntries = 256;
  static thread_local std::array<Entry, kEntries> cache;
  Entry& entry = cache[shape.Hash() % kEntries];
  if (entry.function == nullptr || entry.shape != shape) entry = {shape, Generate(shape)};
  return entry.function;
}

// The largest part of `left` for which there is one shape.
std::size_t Cut(std::size_t left, std::size_t block, std::size_t step) {
  if (left >= block) return block;
  return left >= step ? left / step * step : left;
}

}  // namespace

bool LibxsmmWorks() {
  static const bool works = [] {
    Initialize();
    // Without memory for its registry the library would follow a null pointer.
    libxsmm_registry_info registry{};
    if (libxsmm_get_registry_info(&registry) != EXIT_SUCCESS) return false;
    // Below AVX2 there is no fused multiply-add.
    return libxsmm_get_target_archid() >= LIBXSMM_X86_AVX2 && Generate({.rows = kRowBlock,
                                                                        .depth = kDepthStep,
                                                                        .width = kPanelColumns,
                                                                        .panel_stride = kPanelColumns,
                                                                        .stride = kDepthStep,
                                                                        .ldc = kPanelColumns,
                                                                        .transposed = false,
                                                                        .accumulate = true}) != nullptr;
  }();
  return works;
}

void LibxsmmMultiplyPanel(std::size_t rows, MatrixView a, Panel panel, float* c, std::size_t ldc, bool accumulate) {
  for (std::size_t l = 0; l < panel.depth;) {
    const Panel part = panel.Rows(l, Cut(panel.depth - l, kPanelDepth, kDepthStep));
    const bool add = accumulate || l > 0;
    for (std::size_t i = 0; i < rows;) {
      const std::size_t block = Cut(rows - i, kRowBlock, kRowStep);
      const auto function = Find({.rows = static_cast<std::uint32_t>(block),
                                  .depth = static_cast<std::uint32_t>(part.depth),
                                  .width = static_cast<std::uint32_t>(part.width),
                                  .panel_stride = static_cast<std::uint32_t>(part.stride),
                                  .stride = static_cast<std::uint32_t>(a.stride),
                                  .ldc = static_cast<std::uint32_t>(ldc),
                                  .transposed = a.transposed,
                                  .accumulate = add});
      if (function != nullptr) {
        function(part.data, a.Element(i, l), c + i * ldc);
      } else {  // no code for this shape on this CPU, or a full registry: the portable kernel gives the same bits
        MultiplyPanel(block, a.From(i, l), part, c + i * ldc, ldc, add);
      }
      i += block;
    }
    l += part.depth;
  }
}

}  // namespace octavo

#else

namespace octavo {

bool LibxsmmWorks() { return false; }

void LibxsmmMultiplyPanel(std::size_t rows, MatrixView a, Panel panel, float* c, std::size_t ldc, bool accumulate) {
  MultiplyPanel(rows, a, panel, c, ldc, accumulate);
}

}  // namespace octavo

#endif
