#include "io/compressed_input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/failpoint.h"

namespace octavo {
namespace {

// Also the largest single read: with twice as much, the kernel kept pages that were dropped after reading.
constexpr std::size_t kBufferBytes = std::size_t{256} << 10;
// Bytes read between two calls that drop the page cache; a multiple of any page size.
constexpr std::uint64_t kDropBytes = std::uint64_t{4} << 20;
// How long to wait for a pipe before checking the stop flag again.
constexpr int kPollMilliseconds = 100;
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
constexpr std::size_t kMagicBytes = 4;  // of the others the first four bytes are enough, too
constexpr std::string_view kBzip2Magic = "BZh";
constexpr std::string_view kBzip2Block = "\x31\x41\x59\x26\x53\x59";  // after a level from 1 to 9

// Compressed data that is not read, and the program that decompresses it to standard output.
struct OtherCompression {
  std::string_view name;
  std::string_view command;  // empty: none that reads a pipe
};
std::optional<OtherCompression> FindOtherCompression(std::string_view head) {
  if (head.starts_with("\xfd\x37zX")) return OtherCompression{"xz", "xz -dc"};
  if (head.starts_with("\x04\x22\x4d\x18")) return OtherCompression{"lz4", "lz4 -dc"};
  if (head.starts_with("\x37\x7a\xbc\xaf")) return OtherCompression{"7z", ""};
  if (head.starts_with(kBzip2Magic) && head.substr(std::min(kMagicBytes, head.size())).starts_with(kBzip2Block)) {
    return OtherCompression{"bzip2", "bzip2 -dc"};
  }
  return std::nullopt;
}
constexpr std::size_t kMaxZstdHeaderBytes = 18;

// A frame without data. In files of pzstd it holds the length of the next frame (RFC 8878, section 3.1.2).
bool IsSkippableFrame(std::string_view head) {
  return head.size() >= 4 && (head[0] & 0xF0) == 0x50 && head.substr(1, 3) == "\x2a\x4d\x18";
}

// The bytes of a descriptor, buffered. Checks the stop flag while it waits for a pipe.
class RawInput {
 public:
  RawInput(int descriptor, bool owned, std::string name, std::function<bool()> stop)
      : descriptor_(descriptor), owned_(owned), name_(std::move(name)), stop_(std::move(stop)), buffer_(kBufferBytes) {}
  RawInput(const RawInput&) = delete;
  RawInput& operator=(const RawInput&) = delete;
  ~RawInput() {
    if (owned_) ::close(descriptor_);
  }

  const std::string& name() const { return name_; }
  // Bytes read from the descriptor. Relaxed: other threads read it only for a progress display.
  std::uint64_t bytes_read() const { return bytes_read_.load(std::memory_order_relaxed); }
  // The offset in the input of the first byte of pending().
  std::uint64_t offset() const { return bytes_read() - pending().size(); }
  // Bytes read but not yet consumed.
  std::string_view pending() const { return {buffer_.data() + begin_, end_ - begin_}; }
  void Consume(std::size_t bytes) { begin_ += bytes; }

  // From now on, drops the page cache after reading.
  void DropCacheBehind() { drop_cache_ = true; }

  // Reads until pending() holds at least `bytes` (at most the buffer's size) or the input ends.
  absl::Status Fill(std::size_t bytes) {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    while (end_ < bytes && !at_end_) {
      ASSIGN_OR_RETURN(const std::size_t got, ReadOnce(std::span(buffer_).subspan(end_)));
      end_ += got;
    }
    return absl::OkStatus();
  }

  // Reads into `to`, past the buffer; returns 0 only at the end. REQUIRES: pending() is empty
  absl::StatusOr<std::size_t> ReadInto(std::span<char> to) {
    std::size_t got = 0;
    while (got == 0 && !at_end_) {
      ASSIGN_OR_RETURN(got, ReadOnce(to));
    }
    return got;
  }

 private:
  // Returns 0 at the end or when interrupted.
  absl::StatusOr<std::size_t> ReadOnce(std::span<char> to) {
    RETURN_IF_ERROR(Failpoint("input.read"));
    RETURN_IF_ERROR(WaitUntilReadable());
    const ssize_t got = ::read(descriptor_, to.data(), to.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return std::size_t{0};
    if (got < 0 && errno == EISDIR) return UsageError(fmt::format("{}: is a folder; expected a file", name_));
    if (got < 0) return ErrnoError(fmt::format("{}: read at byte {}", name_, bytes_read()), errno);
    at_end_ = got == 0;
    bytes_read_.fetch_add(static_cast<std::uint64_t>(got), std::memory_order_relaxed);
    if (drop_cache_ && (at_end_ || bytes_read() - dropped_ >= kDropBytes)) {
      ::posix_fadvise(descriptor_, static_cast<off_t>(dropped_), static_cast<off_t>(bytes_read() - dropped_),
                      POSIX_FADV_DONTNEED);
      dropped_ = bytes_read();
    }
    return static_cast<std::size_t>(got);
  }

  absl::Status WaitUntilReadable() const {
    pollfd wait = {descriptor_, POLLIN, 0};
    while (true) {
      if (stop_ && stop_()) return absl::CancelledError("interrupted");
      const int ready = ::poll(&wait, 1, stop_ ? kPollMilliseconds : -1);
      if (ready > 0) return absl::OkStatus();
      if (ready < 0 && errno != EINTR) return ErrnoError(fmt::format("{}: poll", name_), errno);
    }
  }

  const int descriptor_;
  const bool owned_;
  const std::string name_;
  const std::function<bool()> stop_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  bool drop_cache_ = false;
  std::uint64_t dropped_ = 0;  // bytes before this offset are no longer cached
  std::atomic<std::uint64_t> bytes_read_ = 0;
};

// What plain, gzip and zstd inputs share.
class InputBase : public CompressedInput {
 public:
  explicit InputBase(std::unique_ptr<RawInput> raw) : raw_(std::move(raw)) {}
  const std::string& name() const override { return raw_->name(); }
  std::uint64_t compressed_bytes_read() const override { return raw_->bytes_read(); }

 protected:
  absl::Status Damaged(std::string_view found, std::string_view expected) const {
    return InputError(
        fmt::format("{}: {} at compressed byte {}; expected {}", name(), found, raw_->offset(), expected));
  }
  absl::Status Trailing(std::string_view expected) const {
    return Damaged(fmt::format("\"{}\" after the end of the compressed data", Escape(raw_->pending(), 8)), expected);
  }

  std::unique_ptr<RawInput> raw_;
};

class PlainInput : public InputBase {
 public:
  using InputBase::InputBase;

  absl::StatusOr<std::size_t> Read(std::span<char> buffer) override {
    std::size_t done = 0;
    while (done < buffer.size()) {
      const std::span<char> rest = buffer.subspan(done);
      if (raw_->pending().empty() && rest.size() >= kBufferBytes) {  // avoids a copy
        ASSIGN_OR_RETURN(const std::size_t bytes, raw_->ReadInto(rest.first(kBufferBytes)));
        if (bytes == 0) break;
        done += bytes;
        continue;
      }
      if (raw_->pending().empty()) RETURN_IF_ERROR(raw_->Fill(1));
      const std::string_view pending = raw_->pending();
      if (pending.empty()) break;
      const std::size_t bytes = std::min(pending.size(), rest.size());
      std::memcpy(rest.data(), pending.data(), bytes);
      raw_->Consume(bytes);
      done += bytes;
    }
    return done;
  }
};

// One or more concatenated gzip members (RFC 1952, section 2.2).
class GzipInput : public InputBase {
 public:
  explicit GzipInput(std::unique_ptr<RawInput> raw) : InputBase(std::move(raw)) {}
  ~GzipInput() override {
    if (open_) ::inflateEnd(&stream_);
  }

  absl::StatusOr<std::size_t> Read(std::span<char> buffer) override {
    std::size_t done = 0;
    while (done < buffer.size()) {
      if (!open_) {
        ASSIGN_OR_RETURN(const bool another, OpenMember());
        if (!another) break;
      }
      ASSIGN_OR_RETURN(const std::size_t bytes, Inflate(buffer.subspan(done)));
      done += bytes;
    }
    return done;
  }

 private:
  // Starts the member at the head of pending(); returns false at the end of the input.
  absl::StatusOr<bool> OpenMember() {
    RETURN_IF_ERROR(raw_->Fill(kGzipMagic.size()));
    if (raw_->pending().empty()) return false;
    if (!raw_->pending().starts_with(kGzipMagic)) return Trailing("another gzip member or the end of the file");
    stream_ = {};
    // 16 + 15: only gzip, with the largest window.
    if (::inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) return RuntimeError("zlib: cannot start decompression");
    open_ = true;
    return true;
  }

  absl::StatusOr<std::size_t> Inflate(std::span<char> out) {
    if (raw_->pending().empty()) RETURN_IF_ERROR(raw_->Fill(1));
    const std::string_view pending = raw_->pending();
    if (pending.empty()) return Damaged("the end of the file", "the rest of the gzip data; was the file cut?");
    // zlib has 32-bit counts, and takes its input as non-const but does not write to it.
    const auto room = static_cast<uInt>(std::min<std::size_t>(out.size(), std::size_t{1} << 30));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(pending.data()));
    stream_.avail_in = static_cast<uInt>(pending.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = room;
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    raw_->Consume(pending.size() - stream_.avail_in);
    if (result == Z_MEM_ERROR) return RuntimeError("zlib: out of memory");
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      return Damaged(fmt::format("damaged gzip data ({})", stream_.msg == nullptr ? "no detail" : stream_.msg),
                     "an undamaged file");
    }
    if (result == Z_STREAM_END) {
      ::inflateEnd(&stream_);
      open_ = false;
    }
    return room - stream_.avail_out;
  }

  z_stream stream_{};
  bool open_ = false;  // inside a member
};

// One or more concatenated zstd frames, skippable ones included (RFC 8878, section 3.1).
class ZstdInput : public InputBase {
 public:
  ZstdInput(std::unique_ptr<RawInput> raw, std::uint64_t window_bytes)
      : InputBase(std::move(raw)), window_bytes_(std::bit_floor(window_bytes)), stream_(ZSTD_createDStream()) {
    const ZSTD_bounds bounds = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
    const int window_log = static_cast<int>(std::bit_width(window_bytes)) - 1;
    // Cannot fail within the bounds.
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, std::clamp(window_log, bounds.lowerBound, bounds.upperBound));
  }
  ~ZstdInput() override { ZSTD_freeDStream(stream_); }

  absl::StatusOr<std::size_t> Read(std::span<char> buffer) override {
    ZSTD_outBuffer out = {buffer.data(), buffer.size(), 0};
    while (out.pos < out.size) {
      if (raw_->pending().empty()) RETURN_IF_ERROR(raw_->Fill(1));
      if (!inside_frame_) {
        ASSIGN_OR_RETURN(const bool another, AtFrame());
        if (!another) break;
      }
      RETURN_IF_ERROR(Decompress(out));
    }
    return out.pos;
  }

 private:
  // Returns true if a frame begins at the head of pending(), false at the end of the input.
  absl::StatusOr<bool> AtFrame() {
    RETURN_IF_ERROR(raw_->Fill(kMaxZstdHeaderBytes));
    const std::string_view pending = raw_->pending();
    if (pending.empty()) return false;
    if (!IsSkippableFrame(pending) && !pending.starts_with(kZstdMagic))
      return Trailing("another zstd frame or the end of the file");
    const unsigned long long declared = ZSTD_getFrameContentSize(pending.data(), pending.size());
    declared_bytes_ = declared == ZSTD_CONTENTSIZE_ERROR ? ZSTD_CONTENTSIZE_UNKNOWN : declared;
    frame_bytes_ = 0;
    return true;
  }

  absl::Status Decompress(ZSTD_outBuffer& out) {
    const std::string_view pending = raw_->pending();
    const std::size_t before = out.pos;
    ZSTD_inBuffer in = {pending.data(), pending.size(), 0};
    const std::size_t result = ZSTD_decompressStream(stream_, &out, &in);
    raw_->Consume(in.pos);
    if (ZSTD_isError(result) != 0 && ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge) {
      return UsageError(
          fmt::format("{}: a zstd frame with a window above {}, which the memory limit allows; expected a smaller one "
                      "(zstd without "
                      "--long or --ultra) or a larger --memory",
                      name(), FormatByteSize(window_bytes_)));
    }
    if (ZSTD_isError(result) != 0) {
      return Damaged(fmt::format("damaged zstd data ({})", ZSTD_getErrorName(result)), "an undamaged file");
    }
    // 0: the frame is complete and all of its content was returned.
    inside_frame_ = result != 0;
    frame_bytes_ += out.pos - before;
    // The library compares the sizes, except after an empty last block.
    if (!inside_frame_ && declared_bytes_ != ZSTD_CONTENTSIZE_UNKNOWN && frame_bytes_ != declared_bytes_) {
      return Damaged(fmt::format("the end of a zstd frame of {} bytes", frame_bytes_),
                     fmt::format("the {} bytes that its header declares", declared_bytes_));
    }
    if (inside_frame_ && pending.empty() && out.pos == before) {
      return Damaged("the end of the file", "the rest of the zstd data; was the file cut?");
    }
    return absl::OkStatus();
  }

  const std::uint64_t window_bytes_;
  ZSTD_DStream* const stream_;
  bool inside_frame_ = false;
  std::uint64_t declared_bytes_ = 0;  // size of the frame's content, or ZSTD_CONTENTSIZE_UNKNOWN
  std::uint64_t frame_bytes_ = 0;     // bytes of it returned so far
};

absl::StatusOr<std::unique_ptr<RawInput>> OpenRaw(const std::string& path, std::function<bool()> stop,
                                                  const InputLimits& limits) {
  if (path == "-") return std::make_unique<RawInput>(STDIN_FILENO, /*owned=*/false, "<stdin>", std::move(stop));
  int descriptor = -1;
  do {
    // O_NONBLOCK: do not wait here for a writer of a pipe. WaitUntilReadable waits and checks the stop flag.
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR)) return UsageError(fmt::format("{}: no such file", path));
  if (descriptor < 0 && errno == EACCES) return UsageError(fmt::format("{}: no permission to read it", path));
  if (descriptor < 0) return ErrnoError(fmt::format("{}: open", path), errno);
  auto raw = std::make_unique<RawInput>(descriptor, /*owned=*/true, path, std::move(stop));
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) return ErrnoError(fmt::format("{}: stat", path), errno);
  if (S_ISDIR(info.st_mode)) return UsageError(fmt::format("{}: is a folder; expected a file", path));
  if (S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) > limits.max_cached_bytes) {
    raw->DropCacheBehind();
  }
  return raw;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CompressedInput>> CompressedInput::Open(const std::string& path,
                                                                       std::function<bool()> stop,
                                                                       const InputLimits& limits) {
  ASSIGN_OR_RETURN(std::unique_ptr<RawInput> raw, OpenRaw(path, std::move(stop), limits));
  RETURN_IF_ERROR(raw->Fill(kMagicBytes));
  // No more is awaited of other inputs: a pipe may bring it much later.
  if (raw->pending().starts_with(kBzip2Magic)) RETURN_IF_ERROR(raw->Fill(kMagicBytes + kBzip2Block.size()));
  if (const std::optional<OtherCompression> other = FindOtherCompression(raw->pending())) {
    const bool piped = path == "-";
    const std::string advice = other->command.empty()
                                   ? std::string()
                                   : fmt::format("; {}{} writes text", other->command,
                                                 piped ? std::string() : fmt::format(" {}", ShellWord(path)));
    return InputError(
        fmt::format("{}: found {}; expected text, gzip or zstd{}", piped ? "<stdin>" : path, other->name, advice));
  }
  std::unique_ptr<CompressedInput> input;
  if (raw->pending().starts_with(kGzipMagic)) {
    input = std::make_unique<GzipInput>(std::move(raw));
  } else if (raw->pending().starts_with(kZstdMagic) || IsSkippableFrame(raw->pending())) {
    input = std::make_unique<ZstdInput>(std::move(raw), limits.window_bytes);
  } else {
    input = std::make_unique<PlainInput>(std::move(raw));
  }
  return input;
}

}  // namespace octavo
