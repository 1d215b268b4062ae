#include "io/compressed_output.h"

#include <zlib.h>
#include <zstd.h>

#include <limits>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

absl::StatusOr<std::string> Gzip(const std::string& text) {
  // zlib's counts have 32 bits.
  if (text.size() > std::numeric_limits<uInt>::max() / 2) return RuntimeError("gzip: a piece of more than 2 GiB");
  z_stream stream{};
  constexpr int kGzipWindow = 16 + MAX_WBITS;  // 16 selects gzip's header and checksum
  constexpr int kMemoryLevel = 8;              // deflateInit's default
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) {
    return RuntimeError("gzip: no memory to compress");
  }
  std::string compressed(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  const int result = deflate(&stream, Z_FINISH);
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) return RuntimeError(fmt::format("gzip: error {} of the library", result));
  return compressed;
}

absl::StatusOr<std::string> Zstd(const std::string& text) {
  std::string compressed(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size =
      ZSTD_compress(compressed.data(), compressed.size(), text.data(), text.size(), ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(size) != 0) return RuntimeError(fmt::format("zstd: {}", ZSTD_getErrorName(size)));
  compressed.resize(size);
  return compressed;
}

}  // namespace

Compression CompressionOfExtension(std::string_view path) {
  if (path.ends_with(".gz")) return Compression::kGzip;
  return path.ends_with(".zst") ? Compression::kZstd : Compression::kNone;
}

absl::StatusOr<std::string> CompressPiece(Compression compression, std::string text) {
  switch (compression) {
    case Compression::kGzip:
      return Gzip(text);
    case Compression::kZstd:
      return Zstd(text);
    case Compression::kNone:
      break;
  }
  return text;
}

}  // namespace octavo
