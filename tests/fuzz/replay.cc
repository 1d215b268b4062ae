// The main() of the fuzz targets in builds without libFuzzer: runs the target on stored inputs and on mutations of
// them.
//
// usage: NAME_fuzz MUTATIONS FILE_OR_FOLDER...
//
// The mutations of a file depend only on its bytes, so a failure can be repeated with the file and the number of
// mutations in its message.
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tests/support/file_bytes.h"

// Called by a sanitizer before it ends the program.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

// Far above the need of any target; the targets' own inputs have some kilobytes.
constexpr long kMaxResidentKilobytes = 256L << 10;

// The current input, for the handler below.
char current[4096];

void TellCurrent() {
  const ssize_t ignored = ::write(STDERR_FILENO, current, std::strlen(current));
  static_cast<void>(ignored);
}

void OnSignal(int signal) {
  TellCurrent();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void Run(const std::filesystem::path& file, const std::string& bytes, std::uint64_t mutations) {
  std::snprintf(current, sizeof(current), "to see it again: this program with the arguments %llu %s\n",
                static_cast<unsigned long long>(mutations), file.c_str());
  // A copy of exactly that size, so that reads past its end are detected.
  const std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
}

// One to four small changes.
std::string Mutated(std::string bytes, std::mt19937_64& random) {
  const auto below = [&](std::size_t limit) {
    return static_cast<std::size_t>(random() % std::max<std::size_t>(1, limit));
  };
  const char kByteValues[] = {'\0', '\1', '\x7F', '\x80', '\xFF', '\n', '\t', '"', ',', '0', '9', '-', '[', '{', '\\'};
  for (std::size_t change = 1 + below(4); change > 0; --change) {
    const std::size_t at = below(bytes.size());
    switch (below(6)) {
      case 0:
        if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        if (!bytes.empty()) bytes[at] = kByteValues[below(sizeof(kByteValues))];
        break;
      case 2:
        bytes.insert(at, 1, kByteValues[below(sizeof(kByteValues))]);
        break;
      case 3:
        bytes.resize(at);
        break;
      case 4:
        bytes.erase(at, 1 + below(16));
        break;
      default:
        bytes.insert(below(bytes.size()), bytes.substr(at, 1 + below(64)));
    }
  }
  return bytes;
}

std::vector<std::filesystem::path> FilesOf(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

long PeakResidentKilobytes() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: %s MUTATIONS FILE_OR_FOLDER...\n", arguments[0]);
    return 2;
  }
  const bool sanitized = __sanitizer_set_death_callback != nullptr;
  if (sanitized) __sanitizer_set_death_callback(TellCurrent);
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) {
    if (!sanitized || signal == SIGABRT) std::signal(signal, OnSignal);
  }
  const std::uint64_t mutations = std::strtoull(arguments[1], nullptr, 10);
  std::size_t files = 0;
  for (int i = 2; i < count; ++i) {
    for (const std::filesystem::path& file : FilesOf(arguments[i])) {
      const std::string bytes = octavo::FileBytes(file);
      Run(file, bytes, 0);
      std::seed_seq seed(bytes.begin(), bytes.end());
      std::mt19937_64 random(seed);
      for (std::uint64_t n = 1; n <= mutations; ++n) Run(file, Mutated(bytes, random), n);
      ++files;
    }
  }
  if (files == 0) {
    std::fprintf(stderr, "no file to run\n");
    return 1;
  }
  std::printf("%zu files, %llu mutations of each, at most %ld KiB\n", files, static_cast<unsigned long long>(mutations),
              PeakResidentKilobytes());
  if (!sanitized && PeakResidentKilobytes() > kMaxResidentKilobytes) {
    std::fprintf(stderr, "more memory than the %ld KiB that are enough\n", kMaxResidentKilobytes);
    return 1;
  }
  return 0;
}
