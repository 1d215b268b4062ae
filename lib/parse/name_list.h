// The names of indexes: a text file with one name per line, line i + 1 for index i, like nodes.names.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace octavo {

// Constant after Read; any thread.
class NameList {
 public:
  // Reads `path`, plain, .gz or .zst. Every line is a name, whatever it begins with. A name that is empty, too long,
  // repeated or contains a NUL byte is an input error with file and line; more than `max_bytes` is a usage error.
  // `stop` as in CompressedInput::Open.
  static absl::StatusOr<NameList> Read(const std::string& path, std::uint64_t max_bytes,
                                       std::function<bool()> stop = nullptr);

  std::uint64_t size() const { return ends_.size(); }
  // Valid as long as the list. REQUIRES: index < size()
  std::string_view operator[](std::uint64_t index) const {
    const std::uint64_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(text_).substr(begin, ends_[index] - begin);
  }
  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return text_.capacity() + ends_.capacity() * sizeof(std::uint64_t); }

 private:
  absl::Status CheckDifferent() const;

  std::string path_;
  std::string text_;                 // all names, without separators
  std::vector<std::uint64_t> ends_;  // end of each name in text_
};

}  // namespace octavo
