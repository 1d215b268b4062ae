// Single-precision matrix products of the sizes that a chunk needs: by libxsmm's JIT on x86-64 if it is compiled in and
// works, otherwise by a portable Highway kernel.
#pragma once

#include <cstddef>
#include <string_view>

#include "model/panel.h"

namespace octavo {

enum class GemmBackend { kLibxsmm, kPortable };

// The backend in use: libxsmm if it supports the CPU, else portable. Chosen once; OCTAVO_GEMM=portable forces the
// latter.
GemmBackend ActiveGemmBackend();
std::string_view GemmBackendName(GemmBackend backend);

// c[i * ldc + j] = sum_l a(i, l) * b(l, j), or added to c if `accumulate`; a is [m, k], b is [k, n]. An element's value
// depends on its row of a, its column of b and k only (terms are added in the order of l, each by a fused multiply-add
// where the CPU has one), not on m, n, its place, or whether an operand is transposed. Any thread.
void Gemm(std::size_t m, std::size_t n, std::size_t k, MatrixView a, MatrixView b, float* c, std::size_t ldc,
          bool accumulate);

// Gemm on a chosen backend, for tests and benchmarks. Falls back to the portable one where libxsmm is absent.
void GemmWith(GemmBackend backend, std::size_t m, std::size_t n, std::size_t k, MatrixView a, MatrixView b, float* c,
              std::size_t ldc, bool accumulate);

// to[j * ldt + i] = from[i * ldf + j]; from is [rows, columns].
void Transpose(std::size_t rows, std::size_t columns, const float* from, std::size_t ldf, float* to, std::size_t ldt);

}  // namespace octavo
