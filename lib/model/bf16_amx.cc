// AMX, the tiles of x86-64: whether they can be used, and the unit of bf16_tiles.h that uses them. No flag of the
// compiler is needed: tile instructions are assembly, and the functions that round name their target. AmxWorks() is
// asked before any of them runs.
#include "model/bf16_kernels.h"
#include "model/bf16_product.h"
#include "model/bf16_tiles.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace octavo {

#if defined(__x86_64__) && defined(__linux__)
namespace {

bool ProcessorHasAmx() {
  constexpr unsigned kOsSavesState = 1U << 27;               // leaf 1, ecx
  constexpr unsigned kAmxBf16 = 1U << 22, kTile = 1U << 24;  // leaf 7, edx
  constexpr unsigned kAvx512 = 1U << 16 | 1U << 30;          // leaf 7, ebx: F and BW
  constexpr unsigned kAvx512Bf16 = 1U << 5;                  // leaf 7, subleaf 1, eax
  constexpr unsigned kStates = 3U << 17 | 7U << 5;           // XCR0: tiles' configuration and data; AVX-512
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & kOsSavesState) == 0) return false;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  if ((edx & kAmxBf16) == 0 || (edx & kTile) == 0 || (ebx & kAvx512) != kAvx512) return false;
  if (__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) == 0 || (eax & kAvx512Bf16) == 0) return false;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & kStates) == kStates;
}

// Linux gives a process the tiles when it asks for them; before, their use is SIGILL. Threads inherit the permission.
// Signal frames become 8 KiB larger, and the request is refused if an alternate signal stack has no room for that.
bool SystemAllowsTiles() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM of asm/prctl.h, which older headers lack
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

// What ldtilecfg reads: 64 bytes. All of them are an operand below: compilers' own intrinsics have been seen to name
// only a part, and the stores to the rest were removed.
struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};  // of tiles 0 to 7; the rest is reserved
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfiguration) == 64);

#define OCTAVO_ROUNDS __attribute__((target("avx512f,avx512bw,avx512bf16")))

// The first `count` of 16 numbers, or all.
__mmask16 MaskOf(std::size_t count) { return static_cast<__mmask16>(count < 16 ? (1U << count) - 1 : 0xFFFFU); }

// The calling thread's tiles, all of full size. Released at the end, as a thread with tiles in use has a larger state
// to save at each switch.
class AmxTileUnit {
 public:
  AmxTileUnit() {
    TileConfiguration configuration;
    for (std::size_t tile = 0; tile < 8; ++tile) {
      configuration.row_bytes[tile] = kTileRowBytes;
      configuration.rows[tile] = kTileSide;
    }
    asm volatile("ldtilecfg %0" : : "m"(configuration) : "memory");
  }
  ~AmxTileUnit() { asm volatile("tilerelease" : : : "memory"); }
  AmxTileUnit(const AmxTileUnit&) = delete;
  AmxTileUnit& operator=(const AmxTileUnit&) = delete;

  // By the instruction for it; ProcessorHasAmx() asks for that too.
  OCTAVO_ROUNDS static void RoundWords(std::size_t count, const float* from, std::uint16_t* words) {
    std::size_t i = 0;
    for (; i + 32 <= count; i += 32) {
      const auto rounded =
          reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + i + 16), _mm512_loadu_ps(from + i)));
      _mm512_storeu_si512(words + i, rounded);
    }
    if (i == count) return;
    const auto mask = static_cast<__mmask32>((1ULL << (count - i)) - 1);
    const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from + i);
    const __m512 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16), from + i + 16);
    _mm512_mask_storeu_epi16(words + i, mask, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
  }
  OCTAVO_ROUNDS static void PairWords(std::size_t count, const float* first, const float* second,
                                      std::uint32_t* pairs) {
    static constexpr std::uint16_t kTakenByTurns[32] = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                                        8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    const __m512i by_turns = _mm512_loadu_si512(kTakenByTurns);
    for (std::size_t i = 0; i < count; i += 16) {
      const __mmask16 mask = MaskOf(count - i);
      const auto words = reinterpret_cast<__m512i>(
          _mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(mask, second + i), _mm512_maskz_loadu_ps(mask, first + i)));
      _mm512_mask_storeu_epi32(pairs + i, mask, _mm512_permutexvar_epi16(by_turns, words));
    }
  }
  OCTAVO_ROUNDS static void CopyRows(std::size_t rows, std::size_t columns, const float* from, std::size_t ldf,
                                     float* to, std::size_t ldt) {
    const __mmask16 mask = MaskOf(columns);
    for (std::size_t r = 0; r < rows; ++r) {
      _mm512_mask_storeu_ps(to + r * ldt, mask, _mm512_maskz_loadu_ps(mask, from + r * ldf));
    }
  }

  // Two rows of 32 words are two rows of 16 pairs.
  OCTAVO_ROUNDS static void PackTwoStrips(std::size_t k, const std::uint16_t* rows, std::size_t stride,
                                          std::uint16_t* strips) {
    const __m512i first_half = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
    const __m512i second_half = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    const std::size_t pairs = WholeBf16(k, kBf16Block) / 2;
    std::uint16_t* const second_strip = strips + pairs * 2 * kBf16Columns;
    const auto put = [&](std::size_t pair, __m512i first, __m512i second) OCTAVO_ROUNDS {
      const __m512i low = _mm512_unpacklo_epi16(first, second);   // columns 0 to 3, 8 to 11, 16 to 19, 24 to 27
      const __m512i high = _mm512_unpackhi_epi16(first, second);  // columns 4 to 7, 12 to 15, 20 to 23, 28 to 31
      const std::size_t at = pair * 2 * kBf16Columns;
      _mm512_storeu_si512(strips + at, _mm512_permutex2var_epi64(low, first_half, high));
      _mm512_storeu_si512(second_strip + at, _mm512_permutex2var_epi64(low, second_half, high));
    };
    const auto row = [&](std::size_t l) OCTAVO_ROUNDS { return _mm512_loadu_si512(rows + l * stride); };
    for (std::size_t pair = 0; pair < k / 2; ++pair) put(pair, row(2 * pair), row(2 * pair + 1));
    for (std::size_t pair = k / 2; pair < pairs; ++pair) {
      put(pair, 2 * pair < k ? row(2 * pair) : _mm512_setzero_si512(), _mm512_setzero_si512());
    }
  }
  OCTAVO_ROUNDS static void AddTile(std::size_t rows, const float* tile, const float* const* addends, float* const* c,
                                    std::size_t column) {
    for (std::size_t r = 0; r < rows; ++r) {
      const __m512 sum = _mm512_load_ps(tile + r * kTileSide);
      _mm512_storeu_ps(c[r] + column, _mm512_add_ps(_mm512_loadu_ps(addends[r] + column), sum));
    }
  }

  template <int kTile>
  void Zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  template <int kTile>
  void Load(const void* from, std::size_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kTile>
  void Store(void* to, std::size_t stride) const {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kSums, int kLeft, int kRight>
  void MultiplyAdd() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kLeft), "i"(kRight));
  }
};

}  // namespace

bool AmxWorks() {
  static const bool works = ProcessorHasAmx() && SystemAllowsTiles();
  return works;
}

#else
bool AmxWorks() { return false; }
#endif

namespace {

// The products of a kind of unit, which is made for each.
template <class Unit>
struct ProductsOf {
  static void Multiply(std::size_t m, std::size_t n, std::size_t k, const std::uint16_t* left, std::size_t left_stride,
                       const std::uint16_t* right, float* c, std::size_t ldc) {
    Unit unit;
    MultiplyTiles(unit, m, n, OperandsOf(k, left, left_stride, right), SumRows{c, ldc});
  }
  static void MultiplyTransposed(std::size_t m, std::size_t n, std::size_t k, const std::uint16_t* left,
                                 std::size_t left_stride, const std::uint16_t* right, float* c, std::size_t ldc) {
    Unit unit;
    MultiplyTilesTransposed(unit, m, n, OperandsOf(k, left, left_stride, right), SumColumns{c, ldc});
  }
  static void AddRows(std::size_t m, std::size_t n, std::size_t k, const std::uint16_t* left, std::size_t left_stride,
                      const std::uint16_t* right, const float* const* addends, float* const* c) {
    Unit unit;
    MultiplyTiles(unit, m, n, OperandsOf(k, left, left_stride, right), AddedRows{addends, c});
  }
  static void MultiplyByRows(std::size_t m, std::size_t n, std::size_t k, const std::uint16_t* left,
                             std::size_t left_stride, const std::uint16_t* rows, std::size_t row_stride,
                             std::uint16_t* panel, float* c, std::size_t ldc) {
    Unit unit;
    MultiplyTilesByRows(unit, m, n, k, left, left_stride, rows, row_stride, panel, SumRows{c, ldc});
  }
  static constexpr TileProducts kAll = {Unit::RoundWords,   Unit::PairWords, Multiply,
                                        MultiplyTransposed, MultiplyByRows,  AddRows};
};

}  // namespace

const TileProducts kModelProducts = ProductsOf<ScalarTileUnit>::kAll;
#if defined(__x86_64__) && defined(__linux__)
const TileProducts kAmxProducts = ProductsOf<AmxTileUnit>::kAll;
#else
const TileProducts kAmxProducts = ProductsOf<ScalarTileUnit>::kAll;
#endif

}  // namespace octavo
