// Matrix operands, and blocked products of them: columns are packed into panels, and a panel kernel runs over all rows
// for each panel. Shared by Gemm and the distance kernels; except MatrixView, internal to model/.
//
// Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS 2008, without the packing of A:
// chunks are small enough that its rows stay in the second-level cache.
#pragma once

#include <algorithm>
#include <cstddef>

namespace octavo {

// A panel has at most kPanelColumns columns, a multiple of kPanelUnit and at least two units of them (with a single
// vector libxsmm splits the sum over several accumulators, and the order of terms is lost).
inline constexpr std::size_t kPanelColumns = 64;
inline constexpr std::size_t kPanelUnit = 16;
inline constexpr std::size_t kPanelDepth = 256;  // 64 KiB per panel: fits the second-level cache together with the rows

// A matrix operand: element (i, j) is data[i * stride + j], or data[j * stride + i] if transposed.
struct MatrixView {
  const float* data = nullptr;
  std::size_t stride = 0;
  bool transposed = false;
  // Complex numbers in split layout: the imaginary part of element (i, l) of a is (i, l + half), that of (l, j) of b is
  // (l + half, j).
  std::size_t half = 0;

  const float* Element(std::size_t i, std::size_t j) const {
    return transposed ? data + j * stride + i : data + i * stride + j;
  }
  MatrixView From(std::size_t i, std::size_t j) const { return {Element(i, j), stride, transposed, half}; }
};

// Columns of b: element (l, j) is data[l * stride + j], for l < depth and j < width. A packed copy, or a part of b
// itself.
struct Panel {
  const float* data = nullptr;
  std::size_t stride = kPanelColumns;
  std::size_t depth = 0;
  std::size_t width = 0;

  // Rows [l, l + rows).
  Panel Rows(std::size_t l, std::size_t rows) const { return {data + l * stride, stride, rows, width}; }
};

// c[i * ldc + j] = (accumulate ? c : 0) (+) the terms of a(i, l) with panel element (l, j) in the order of l, for i <
// rows and all columns of the panel.
using PanelKernel = void (*)(std::size_t rows, MatrixView a, Panel panel, float* c, std::size_t ldc, bool accumulate);

// PanelKernel with term a * b, by Highway.
void MultiplyPanel(std::size_t rows, MatrixView a, Panel panel, float* c, std::size_t ldc, bool accumulate);
// PanelKernel with term a * b, by libxsmm. REQUIRES: LibxsmmWorks()
void LibxsmmMultiplyPanel(std::size_t rows, MatrixView a, Panel panel, float* c, std::size_t ldc, bool accumulate);
bool LibxsmmWorks();
// PanelKernel with term -|a - b|. REQUIRES: !a.transposed
void L1Panel(std::size_t rows, MatrixView a, Panel panel, float* c, std::size_t ldc, bool accumulate);
// PanelKernel with term -|a - b| of complex numbers. REQUIRES: !a.transposed, a.half > 0
void ComplexL1Panel(std::size_t rows, MatrixView a, Panel panel, float* c, std::size_t ldc, bool accumulate);

// Writes panel[l * kPanelColumns + j] = b(l, j) for l < depth and j < columns, 0 for columns <= j < width.
void PackPanel(std::size_t depth, std::size_t columns, std::size_t width, MatrixView b, float* panel);

// One panel of a matrix of n columns.
struct PanelRange {
  std::size_t begin = 0;
  std::size_t columns = 0;  // of the matrix
  std::size_t width = 0;    // of the panel: columns rounded up
};

// Returns the panel that begins at column `begin` of n. Panels have nearly equal widths: 200 columns are 64 + 48 + 48 +
// 40, not 64 + 64 + 64 + 8.
inline PanelRange PanelAt(std::size_t begin, std::size_t n) {
  constexpr std::size_t kMaxUnits = kPanelColumns / kPanelUnit;
  const std::size_t units = (n - begin + kPanelUnit - 1) / kPanelUnit;
  const std::size_t panels = (units + kMaxUnits - 1) / kMaxUnits;
  const std::size_t width = (units + panels - 1) / panels * kPanelUnit;
  return {begin, std::min(width, n - begin), std::max(width, 2 * kPanelUnit)};
}

// c = (accumulate ? c : 0) (+) terms of a [m, k] and b [k, n]; c is [m, n] row-major. If b.half > 0, k = b.half, and
// the panel of the imaginary parts begins kPanelDepth rows after that of the real parts.
void RunPanels(PanelKernel kernel, std::size_t m, std::size_t n, std::size_t k, MatrixView a, MatrixView b, float* c,
               std::size_t ldc, bool accumulate);

}  // namespace octavo
