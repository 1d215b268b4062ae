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

// One reader; not for concurrent use. Where the cuts fall depends on the input alone.
class LineChunker {
 public:
  // `head` is what was already read of the input.
  explicit LineChunker(std::unique_ptr<CompressedInput> input, std::string head = {})
      : input_(std::move(input)), carry_(std::move(head)) {}

  // Returns the next chunk, which ends with a line end unless the input ends without one; empty at the end. A UTF-8
  // byte order mark at the beginning is taken off. A line far above kMaxLineBytes is shortened, but stays above it. A
  // line above kEndlessLineBytes is an input error: a device or a decompression bomb may have no end. The chunk takes
  // the memory of `text`, whatever is in it.
  absl::StatusOr<std::optional<std::string>> Next(std::string text = {});

  const CompressedInput& input() const { return *input_; }

  // Enough that handing a chunk on costs nothing, little enough that a chunk and its edges stay in a core's cache.
  static constexpr std::size_t kChunkBytes = std::size_t{512} << 10;
  // Read in a second; no line of an edge list comes near.
  static constexpr std::uint64_t kEndlessLineBytes = std::uint64_t{256} << 20;

 private:
  std::unique_ptr<CompressedInput> input_;
  std::string carry_;        // the beginning of the line that the last cut fell into; first the head
  std::uint64_t begin_ = 0;  // where the next chunk begins in the decompressed text
  bool at_start_ = true;
  bool done_ = false;
};

}  // namespace octavo
