// Shared by the fuzz targets: an input that is consumed from the front, checks that end the program, and files for
// readers.
//
// A target is one file with LLVMFuzzerTestOneInput. It is built with libFuzzer (preset fuzz) and, in all other builds,
// with replay.cc, which runs it on its corpus.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "base/status.h"
#include "tests/support/temporary_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace octavo {

// Ends the program if `condition` is false, in every build: a fuzzer reports that as a finding.
#define MUST(condition)                                                                   \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)

// Consumes an input from the front. After its end there are zeros.
class FuzzInput {
 public:
  FuzzInput(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  template <typename T>
  T Value() {
    T value{};
    const std::string_view bytes = Take(sizeof(T));
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  // At most `count` bytes, fewer at the end.
  std::string_view Take(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

inline std::span<const std::byte> BytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

// Whether a terminal shows `text` unchanged: no control bytes, no C1 control characters.
inline bool IsPrintable(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7F) return false;
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) return false;
  }
  return true;
}

// A message fits one screen, whatever the input was. The longest ones list the choices of an option.
inline constexpr std::size_t kMaxMessageBytes = 2000;

inline void CheckMessage(std::string_view message) {
  const bool good = !message.empty() && message.size() <= kMaxMessageBytes && IsPrintable(message);
  if (!good) std::fprintf(stderr, "message of %zu bytes: %.4000s\n", message.size(), std::string(message).c_str());
  MUST(good);
}

// The status is an error of one of `kinds`, made by base/status.h, with a message safe for a terminal.
inline void CheckError(const absl::Status& status, std::initializer_list<ErrorKind> kinds) {
  MUST(!status.ok());
  bool has_kind = false;
  status.ForEachPayload([&](absl::string_view, const absl::Cord&) { has_kind = true; });
  const bool is_expected_kind = has_kind && std::find(kinds.begin(), kinds.end(), KindOf(status)) != kinds.end();
  if (!is_expected_kind) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  MUST(is_expected_kind);
  CheckMessage(MessageOf(status));
}

// A file in memory, under a path that anything can open; it disappears when the program is killed.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    MUST(descriptor_ >= 0);
    path_ = "/proc/self/fd/" + std::to_string(descriptor_);
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void Fill(std::string_view bytes) {
    MUST(::ftruncate(descriptor_, 0) == 0);
    MUST(::pwrite(descriptor_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  }
  std::string Bytes() const {
    std::string bytes(static_cast<std::size_t>(::lseek(descriptor_, 0, SEEK_END)), '\0');
    MUST(::pread(descriptor_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    return bytes;
  }
  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

// For readers of a folder: one for the whole program, in TMPDIR if that is set (scripts/fuzz cleans it up).
inline const std::filesystem::path& ScratchFolder() {
  static const TemporaryFolder folder(std::getenv("TMPDIR") != nullptr ? std::filesystem::temp_directory_path()
                                                                       : FastPlace());
  return folder.path();
}

}  // namespace octavo
