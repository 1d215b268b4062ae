// Reads a file of labels: lines of a name and the text that people read for it, plain or compressed.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "io/compressed_input.h"
#include "parse/field_splitter.h"
#include "parse/input_format.h"
#include "parse/line_chunker.h"

namespace octavo {

// The name and its label; valid until the next one is read. The label may be empty.
struct NamedLabel {
  std::string_view name;
  std::string_view label;
};

// One reader; not for concurrent use.
class LabelFile {
 public:
  // Opens `path`, or standard input for "-"; errors are those of CompressedInput::Open. Files that end in .csv, .csv.gz
  // or .csv.zst are comma-separated, others have tabs.
  static absl::StatusOr<std::unique_ptr<LabelFile>> Open(const std::string& path, std::function<bool()> stop,
                                                         const InputLimits& limits);

  // Returns the next one; empty at the end. Skips lines that are blank or begin with # or %, as in edge lists. Any line
  // without exactly two columns, with an empty name, or with a name or label of more than kMaxNameBytes is an input
  // error "file:line: found, expected".
  absl::StatusOr<std::optional<NamedLabel>> Next();

 private:
  LabelFile(std::string name, InputFormat format, LineChunker chunker)
      : name_(std::move(name)), format_(format), chunker_(std::move(chunker)) {}
  absl::StatusOr<NamedLabel> Parse(std::string_view line);
  absl::Status Refuse(std::string_view found, std::string_view expected) const;

  const std::string name_;
  const InputFormat format_;
  LineChunker chunker_;
  std::string chunk_;
  std::string_view rest_;  // of the chunk
  std::uint64_t line_ = 0;
  Fields fields_;
  std::deque<std::string> unescaped_;
};

// Returns the text as it is stored in a line: each tab, line feed and carriage return becomes a blank. Other bytes are
// kept. Uses `changed` for a text that must change.
std::string_view LabelLine(std::string_view text, std::string& changed);

}  // namespace octavo
