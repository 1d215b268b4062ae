#include "cmd/version.h"

#include <oneapi/tbb/version.h>
#include <toml++/impl/version.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>
#include <CLI/Version.hpp>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cmd/commit.h"
#include "cmd/version_facts.h"
#include "fmt/format.h"
#include "hwy/highway.h"
#include "model/gemm.h"
#include "model/simd_targets.h"

namespace octavo {
namespace {

std::string_view Compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

// 90100 is "9.1.0" with base 100.
std::string Dotted(unsigned number, unsigned base) {
  return fmt::format("{}.{}.{}", number / base / base, number / base % base, number % base);
}

}  // namespace

std::string VersionText() {
  std::string text = fmt::format("octavo {}\n", kVersion);
  const auto add = [&text](std::string_view name, const std::string& value) {
    text += fmt::format("{:<10} {}\n", name, value);
  };
  add("commit", std::string(kCommit.empty() ? "unknown" : kCommit));
  add("build", fmt::format("{}, {}", OCTAVO_BUILD_TYPE, Compiler()));
  add("SIMD", fmt::format("{} of {}", ActiveSimdTarget(), fmt::join(CompiledSimdTargets(), ", ")));
  add("GEMM", std::string(GemmBackendName(ActiveGemmBackend())));
  add("libraries", fmt::format("oneTBB {}, fmt {}, Highway {}.{}.{}, xxHash {}, zlib {}, zstd {}, CLI11 {}, "
                               "nlohmann-json {}.{}.{}, toml++ {}.{}.{}",
                               TBB_runtime_version(), Dotted(FMT_VERSION, 100), HWY_MAJOR, HWY_MINOR, HWY_PATCH,
                               Dotted(XXH_versionNumber(), 100), zlibVersion(), ZSTD_versionString(), CLI11_VERSION,
                               NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH,
                               TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH));
  return text;
}

}  // namespace octavo
