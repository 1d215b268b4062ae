// Inputs as stored on disk, up to chunks of whole lines. After an 'r' come the bytes of a file. After a 'g' or 'z'
// comes a recipe for one: flags, two lengths, and a text that is compressed as one or two gzip members or zstd frames
// and then truncated, extended or changed.
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/compressed_input.h"
#include "parse/line_chunker.h"
#include "parse/record_parser.h"
#include "tests/fuzz/fuzz.h"

namespace octavo {
namespace {

// Small bombs are decompressed completely, larger ones are cut off here.
constexpr std::size_t kMostBytes = std::size_t{4} << 20;
constexpr InputLimits kLimits = {.window_bytes = std::uint64_t{1} << 20};
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

enum Flags : std::uint8_t { kTwoPieces = 1, kCut = 2, kAppend = 4, kChange = 8, kSkippable = 16 };
constexpr unsigned kRepeat = 0xE0;  // all of these bits: rarely, as it is slow

std::string Gzip(std::string_view text) {
  z_stream stream{};
  MUST(::deflateInit2(&stream, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(::deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  MUST(::deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

std::string Zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1);
  MUST(ZSTD_isError(size) == 0);
  out.resize(size);
  return out;
}

struct Read {
  std::string text;
  bool whole = false;  // up to the end of the input
  absl::Status status;
};

void CheckInputError(const absl::Status& status) { CheckError(status, {ErrorKind::kInput, ErrorKind::kUsage}); }

// The first piece has `piece` bytes; each next one is twice as long as the previous one.
Read ReadPlainly(const std::string& path, std::size_t piece) {
  Read read;
  auto input = CompressedInput::Open(path, nullptr, kLimits);
  MUST(input.ok());
  std::vector<char> buffer(std::size_t{1} << 16);
  while (read.text.size() < kMostBytes) {
    const absl::StatusOr<std::size_t> got = (*input)->Read(std::span(buffer).first(piece));
    if (!got.ok()) {
      CheckInputError(got.status());
      read.status = got.status();
      return read;
    }
    MUST(*got <= piece);
    read.text.append(buffer.data(), *got);
    if (*got < piece) {
      read.whole = true;
      return read;
    }
    piece = std::min(2 * piece, buffer.size());
  }
  return read;
}

Read ReadChunks(const std::string& path) {
  Read read;
  auto input = CompressedInput::Open(path, nullptr, kLimits);
  MUST(input.ok());
  LineChunker chunker(*std::move(input));
  bool ended = true;  // the previous chunk ended with a line end
  while (read.text.size() < kMostBytes) {
    const absl::StatusOr<std::optional<std::string>> chunk = chunker.Next();
    if (!chunk.ok()) {
      CheckInputError(chunk.status());
      read.status = chunk.status();
      return read;
    }
    if (!*chunk) {
      read.whole = true;
      return read;
    }
    MUST(ended && !(*chunk)->empty() && (*chunk)->size() <= kMaxLineBytes + 2 * LineChunker::kChunkBytes);
    ended = (*chunk)->back() == '\n';
    read.text += **chunk;
  }
  return read;
}

bool HasLongLine(std::string_view text) {
  while (text.size() > kMaxLineBytes) {
    const std::size_t end = text.substr(0, kMaxLineBytes + 1).rfind('\n');
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
  return false;
}

// Both ways of reading agree; returns the result of the plain one.
Read ReadFile(std::string_view bytes, std::size_t piece) {
  static MemoryFile file;
  file.Fill(bytes);
  Read plain = ReadPlainly(file.path(), piece);
  const Read chunks = ReadChunks(file.path());
  // The place where damage shows depends on how much was requested, so the offsets in the two messages may differ.
  // Only readers of lines know UTF-16.
  if (chunks.status.message().find("UTF-16") != std::string_view::npos) return plain;
  if (std::max(plain.text.size(), chunks.text.size()) < kMostBytes) {
    MUST(chunks.whole == plain.whole && chunks.status.code() == plain.status.code());
  }
  if (plain.whole && chunks.whole && !HasLongLine(plain.text)) {
    std::string_view expected = plain.text;
    if (expected.starts_with(kByteOrderMark)) expected.remove_prefix(kByteOrderMark.size());
    MUST(chunks.text == expected);
  }
  return plain;
}

void CheckRaw(std::string_view bytes) {
  const Read read = ReadFile(bytes, 1 + bytes.size() % 300);
  const bool skippable = bytes.size() >= 4 && bytes.substr(1, 3) == "\x2a\x4d\x18" && (bytes[0] & 0xF0) == 0x50;
  const bool compressed = bytes.starts_with("\x1f\x8b") || bytes.starts_with("\x28\xb5\x2f\xfd");
  if (!compressed && !skippable) MUST(read.whole && read.text == bytes);
}

void CheckRecipe(bool gzip, FuzzInput input) {
  const auto flags = input.Value<std::uint8_t>();
  const auto split = input.Value<std::uint16_t>();
  const auto place = input.Value<std::uint16_t>();
  std::string text(input.rest());
  // Up to 1.5 MiB: chunks, and lines across their boundaries.
  if ((flags & kRepeat) == kRepeat && !text.empty()) {
    const std::string once = text;
    for (std::size_t times = std::min<std::size_t>(split, (std::size_t{3} << 19) / once.size()); times > 0; --times) {
      text += once;
    }
  }
  const auto compress = [&](std::string_view piece) { return gzip ? Gzip(piece) : Zstd(piece); };
  const std::size_t cut = (flags & kTwoPieces) != 0 ? std::min<std::size_t>(split, text.size()) : text.size();
  std::string file = compress(std::string_view(text).substr(0, cut));
  const std::size_t first_bytes = file.size();
  if (!gzip && (flags & kSkippable) != 0) file += std::string("\x53\x2a\x4d\x18\x02\x00\x00\x00..", 10);
  const std::size_t second_begin = file.size();
  if ((flags & kTwoPieces) != 0) file += compress(std::string_view(text).substr(cut));
  const std::size_t whole = file.size();
  if ((flags & kCut) != 0) file.resize(whole - place % whole);
  if ((flags & kAppend) != 0) file += "no magic";
  if ((flags & kChange) != 0) file[place % file.size()] ^= static_cast<char>(1 << (place % 7));

  const Read read = ReadFile(file, 1 + place % 5000);
  if ((flags & kChange) != 0 || ((flags & kCut) != 0 && (flags & kAppend) != 0)) return;
  if ((flags & kAppend) != 0) {
    MUST(!read.whole);
  } else if (file.size() == whole) {
    MUST(read.text.size() >= kMostBytes || (read.whole && read.text == text));
  } else if (file.size() == first_bytes || file.size() == second_begin) {
    MUST(read.whole && read.text == std::string_view(text).substr(0, cut));
  } else if (file.size() >= 4) {
    // An incomplete magic is text.
    MUST(!read.whole && std::string_view(text).starts_with(read.text));
  }
}

}  // namespace
}  // namespace octavo

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  octavo::FuzzInput input(data, size);
  const char kind = input.Value<char>();
  if (kind == 'r') octavo::CheckRaw(input.rest());
  if (kind == 'g' || kind == 'z') octavo::CheckRecipe(kind == 'g', input);
  return 0;
}
