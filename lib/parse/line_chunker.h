// Cuts an input into chunks of whole lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "io/compressed_input.h"

namespace octavo {

// One reader; not for concurrent use. The chunk boundaries depend only on the input.
class LineChunker {
 public:
  // `head` contains the bytes of the input that were already read.
  explicit LineChunker(std::unique_ptr<CompressedInput> input, std::string head = {})
      : input_(std::move(input)), carry_(std::move(head)) {}

  // Returns the next chunk, which ends with a line end unless the input ends without one; empty at the end. Removes a
  // UTF-8 byte order mark at the beginning. A line far above kMaxLineBytes is shortened, but stays above it. A line
  // above kEndlessLineBytes is an input error: a device or a decompression bomb may have no end. The chunk reuses the
  // memory of `text`, whose contents do not matter. UTF-16 is an input error, too.
  absl::StatusOr<std::optional<std::string>> Next(std::string text = {});

  const CompressedInput& input() const { return *input_; }

  // Large enough that passing a chunk on costs nothing, small enough that a chunk and its edges fit a core's cache.
  static constexpr std::size_t kChunkBytes = std::size_t{512} << 10;
  // Read in a second; far above any line of an edge list.
  static constexpr std::uint64_t kEndlessLineBytes = std::uint64_t{256} << 20;

 private:
  std::unique_ptr<CompressedInput> input_;
  std::string carry_;        // the incomplete line at the last boundary; initially the head
  std::uint64_t begin_ = 0;  // where the next chunk begins in the decompressed text
  bool at_start_ = true;
  bool done_ = false;
};

}  // namespace octavo
