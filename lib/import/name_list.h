// The names of indexes: a text file with one name a line, line i + 1 for index i, as nodes.names is.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace octavo {

// Constant once it is read; any thread.
class NameList {
 public:
  // Reads `path`, plain, .gz or .zst; every line is a name, whatever it begins with. A name that is empty, too long,
  // has a NUL byte or stands twice is an input error with file and line; more than `max_bytes` a usage error. `stop` is
  // that of CompressedInput::Open.
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
  std::string text_;                 // all names, nothing between them
  std::vector<std::uint64_t> ends_;  // of each in text_
};

}  // namespace octavo
