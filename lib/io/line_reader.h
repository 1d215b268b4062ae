// Reads the data lines of a small text input, plain or compressed, one at a time: lists of names and of labels.
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

  // Returns the next line that is neither blank nor a comment (it begins with # or %, as in edge lists), without its
  // line end (\n or \r\n); empty at the end. A byte order mark is taken off. A line of more than kMaxLineBytes, or one
  // with a NUL byte, is an input error. The line is valid until the next call.
  absl::StatusOr<std::optional<std::string_view>> Next();

  // Returns the next line as it is, of any kind.
  absl::StatusOr<std::optional<std::string_view>> NextLine();

  // Where the line that was returned last stands: "FILE:LINE".
  std::string Place() const;

  // What a reader holds beside the window of a zstd frame.
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;
  static constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

 private:
  explicit LineReader(std::unique_ptr<CompressedInput> input) : input_(std::move(input)) {}

  std::unique_ptr<CompressedInput> input_;
  std::string text_;       // what was read and not yet dropped
  std::size_t begin_ = 0;  // where in text_ the next line begins
  std::uint64_t line_ = 0;
  bool ended_ = false;
};

}  // namespace octavo
