#include "model/gemm.h"

#include <cstdlib>

namespace octavo {
namespace {

// Rows that go through the tile of a partial panel at once: 12 KiB of stack.
constexpr std::size_t kTileRows = 48;
// With few rows the columns of b are read too few times for a packed copy to pay off.
constexpr std::size_t kDirectRows = 64;

PanelKernel KernelOf(GemmBackend backend) {
  return backend == GemmBackend::kLibxsmm ? LibxsmmMultiplyPanel : MultiplyPanel;
}

void CopyTile(std::size_t rows, std::size_t columns, const float* from, std::size_t ldf, float* to, std::size_t ldt) {
  for (std::size_t i = 0; i < rows; ++i) std::copy_n(from + i * ldf, columns, to + i * ldt);
}

// Kernels write whole panels; a panel that reaches past the last column of c goes through a tile.
void RunPartialPanel(PanelKernel kernel, std::size_t m, std::size_t columns, MatrixView a, const Panel& panel, float* c,
                     std::size_t ldc, bool accumulate) {
  alignas(64) float tile[kTileRows * kPanelColumns] = {};
  for (std::size_t i = 0; i < m; i += kTileRows) {
    const std::size_t rows = std::min(kTileRows, m - i);
    if (accumulate) CopyTile(rows, columns, c + i * ldc, ldc, tile, kPanelColumns);
    kernel(rows, a.From(i, 0), panel, tile, kPanelColumns, accumulate);
    CopyTile(rows, columns, tile, kPanelColumns, c + i * ldc, ldc);
  }
}

// Packs b [depth, range.columns] into `memory`, or uses it in place if packing would cost more than it gains.
Panel MakePanel(std::size_t m, std::size_t depth, const PanelRange& range, MatrixView b, float* memory) {
  if (m <= kDirectRows && !b.transposed && range.columns == range.width) {
    return {b.data, b.stride, depth, range.width};
  }
  PackPanel(depth, range.columns, range.width, b, memory);
  if (b.half > 0) {
    PackPanel(depth, range.columns, range.width, b.From(b.half, 0), memory + kPanelDepth * kPanelColumns);
  }
  return {memory, kPanelColumns, depth, range.width};
}

GemmBackend ChooseBackend() {
  const char* wish = std::getenv("OCTAVO_GEMM");
  if (wish != nullptr && std::string_view(wish) == "portable") return GemmBackend::kPortable;
  return LibxsmmWorks() ? GemmBackend::kLibxsmm : GemmBackend::kPortable;
}

}  // namespace

// The sum over k is cut into blocks of kPanelDepth; between them an element is kept in c as a float, as it would be in
// a register, so the cuts change no bit.
void RunPanels(PanelKernel kernel, std::size_t m, std::size_t n, std::size_t k, MatrixView a, MatrixView b, float* c,
               std::size_t ldc, bool accumulate) {
  if (k == 0 && !accumulate) {
    for (std::size_t i = 0; i < m; ++i) std::fill_n(c + i * ldc, n, 0.0F);
  }
  if (m == 0 || k == 0) return;
  alignas(64) float memory[2 * kPanelDepth * kPanelColumns];
  for (std::size_t j = 0; j < n;) {
    const PanelRange range = PanelAt(j, n);
    for (std::size_t l = 0; l < k; l += kPanelDepth) {
      const Panel panel = MakePanel(m, std::min(kPanelDepth, k - l), range, b.From(l, j), memory);
      const bool add = accumulate || l > 0;
      if (range.columns == range.width) {
        kernel(m, a.From(0, l), panel, c + j, ldc, add);
      } else {
        RunPartialPanel(kernel, m, range.columns, a.From(0, l), panel, c + j, ldc, add);
      }
    }
    j += range.columns;
  }
}

GemmBackend ActiveGemmBackend() {
  static const GemmBackend backend = ChooseBackend();
  return backend;
}

std::string_view GemmBackendName(GemmBackend backend) {
  return backend == GemmBackend::kLibxsmm ? "libxsmm" : "portable";
}

void Gemm(std::size_t m, std::size_t n, std::size_t k, MatrixView a, MatrixView b, float* c, std::size_t ldc,
          bool accumulate) {
  RunPanels(KernelOf(ActiveGemmBackend()), m, n, k, a, b, c, ldc, accumulate);
}

void GemmWith(GemmBackend backend, std::size_t m, std::size_t n, std::size_t k, MatrixView a, MatrixView b, float* c,
              std::size_t ldc, bool accumulate) {
  if (backend == GemmBackend::kLibxsmm && !LibxsmmWorks()) backend = GemmBackend::kPortable;
  RunPanels(KernelOf(backend), m, n, k, a, b, c, ldc, accumulate);
}

}  // namespace octavo
