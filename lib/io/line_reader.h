// Reads a small text input, plain or compressed, line by line: lists of names and of labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "io/compressed_input.h"

namespace octavo {

// One reader; not for concurrent use.
class LineReader {
 public:
  // Opens `path`, or standard input for "-"; errors are those of CompressedInput::Open.
  static absl::StatusOr<LineReader> Open(const std::string& path, const InputLimits& limits = {});

  // Returns the next line that is neither blank nor a comment (which begins with # or %, as in edge lists), without its
  // line end (\n or \r\n); empty at the end of the input. A byte order mark is skipped. A line longer than
  // kMaxLineBytes, or one with a NUL byte, is an input error, as is UTF-16. The line is valid until the next call.
  absl::StatusOr<std::optional<std::string_view>> Next();

  // Returns the next line unchanged, blank or comment or data.
  absl::StatusOr<std::optional<std::string_view>> NextLine();

  // The place of the line returned last: "FILE:LINE".
  std::string Place() const;

  // Memory of a reader, apart from the window of a zstd frame.
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;
  static constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

 private:
  explicit LineReader(std::unique_ptr<CompressedInput> input) : input_(std::move(input)) {}

  std::unique_ptr<CompressedInput> input_;
  std::string text_;       // read but not yet returned or discarded
  std::size_t begin_ = 0;  // start of the next line in text_
  std::uint64_t line_ = 0;
  bool ended_ = false;
};

}  // namespace octavo
