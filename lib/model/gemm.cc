#include "model/gemm.h"

#include <cstdlib>

#include "model/panel.h"

namespace octavo {
namespace {

// Rows that go through the tile of a partial panel at once: 12 KiB of stack.
constexpr std::size_t kTileRows = 48;

PanelKernel KernelOf(GemmBackend backend) {
  return backend == GemmBackend::kLibxsmm ? LibxsmmMultiplyPanel : MultiplyPanel;
}

void CopyTile(std::size_t rows, std::size_t columns, const float* from, std::size_t ldf, float* to, std::size_t ldt) {
  for (std::size_t i = 0; i < rows; ++i) std::copy_n(from + i * ldf, columns, to + i * ldt);
}

// Kernels write whole panels; a panel that reaches past the last column of c goes through a tile.
void RunPartialPanel(PanelKernel kernel, std::size_t m, std::size_t depth, const PanelRange& range, MatrixView a,
                     const float* panel, float* c, std::size_t ldc, bool accumulate) {
  alignas(64) float tile[kTileRows * kPanelColumns] = {};
  for (std::size_t i = 0; i < m; i += kTileRows) {
    const std::size_t rows = std::min(kTileRows, m - i);
    if (accumulate) CopyTile(rows, range.columns, c + i * ldc, ldc, tile, kPanelColumns);
    kernel(rows, depth, range.width, a.From(i, 0), panel, tile, kPanelColumns, accumulate);
    CopyTile(rows, range.columns, tile, kPanelColumns, c + i * ldc, ldc);
  }
}

GemmBackend ChooseBackend() {
  const char* wish = std::getenv("OCTAVO_GEMM");
  if (wish != nullptr && std::string_view(wish) == "portable") return GemmBackend::kPortable;
  return LibxsmmWorks() ? GemmBackend::kLibxsmm : GemmBackend::kPortable;
}

}  // namespace

// The sum over k is cut into blocks of kPanelDepth; between them an element rests in c as a float, as it would in a
// register, so the cuts change no bit.
void RunPanels(PanelKernel kernel, std::size_t m, std::size_t n, std::size_t k, MatrixView a, MatrixView b, float* c,
               std::size_t ldc, bool accumulate) {
  if (k == 0 && !accumulate) {
    for (std::size_t i = 0; i < m; ++i) std::fill_n(c + i * ldc, n, 0.0F);
  }
  if (m == 0 || k == 0) return;
  alignas(64) float panel[2 * kPanelDepth * kPanelColumns];
  for (std::size_t j = 0; j < n;) {
    const PanelRange range = PanelAt(j, n);
    for (std::size_t l = 0; l < k; l += kPanelDepth) {
      const std::size_t depth = std::min(kPanelDepth, k - l);
      const MatrixView rows = a.From(0, l);
      const bool add = accumulate || l > 0;
      PackPanel(depth, range.columns, range.width, b.From(l, j), panel);
      if (b.half > 0) {
        PackPanel(depth, range.columns, range.width, b.From(l + b.half, j), panel + kPanelDepth * kPanelColumns);
      }
      if (range.columns == range.width) {
        kernel(m, depth, range.width, rows, panel, c + j, ldc, add);
      } else {
        RunPartialPanel(kernel, m, depth, range, rows, panel, c + j, ldc, add);
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

void Gemm(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t lda, const float* b, std::size_t ldb,
          float* c, std::size_t ldc, bool accumulate) {
  RunPanels(KernelOf(ActiveGemmBackend()), m, n, k, {a, lda, false}, {b, ldb, false}, c, ldc, accumulate);
}

void GemmTransposedB(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t lda, const float* b,
                     std::size_t ldb, float* c, std::size_t ldc, bool accumulate) {
  RunPanels(KernelOf(ActiveGemmBackend()), m, n, k, {a, lda, false}, {b, ldb, true}, c, ldc, accumulate);
}

void GemmTransposedA(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t lda, const float* b,
                     std::size_t ldb, float* c, std::size_t ldc, bool accumulate) {
  RunPanels(KernelOf(ActiveGemmBackend()), m, n, k, {a, lda, true}, {b, ldb, false}, c, ldc, accumulate);
}

void GemmWith(GemmBackend backend, std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t lda,
              const float* b, std::size_t ldb, float* c, std::size_t ldc, bool accumulate) {
  if (backend == GemmBackend::kLibxsmm && !LibxsmmWorks()) backend = GemmBackend::kPortable;
  RunPanels(KernelOf(backend), m, n, k, {a, lda, false}, {b, ldb, false}, c, ldc, accumulate);
}

}  // namespace octavo
