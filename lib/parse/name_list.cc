#include "parse/name_list.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "base/byte_size.h"
#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/compressed_input.h"
#include "parse/input_format.h"
#include "parse/line_chunker.h"
#include "parse/parsed_chunk.h"

namespace octavo {
namespace {

// In addition to its text: an end offset, held three times while the vector grows, and an entry of the table that finds
// duplicates, twice while it grows.
constexpr std::uint64_t kBytesOfName = 3 * sizeof(std::uint64_t) + 64;

}  // namespace

absl::StatusOr<NameList> NameList::Read(const std::string& path, std::uint64_t max_bytes, std::function<bool()> stop) {
  ASSIGN_OR_RETURN(std::unique_ptr<CompressedInput> input, CompressedInput::Open(path, std::move(stop)));
  LineChunker chunker(std::move(input));
  NameList list;
  list.path_ = path;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<std::string> chunk, chunker.Next());
    if (!chunk) break;
    std::string_view text = *chunk;
    while (!text.empty()) {
      const std::string_view name = TakeLine(text);
      const auto refuse = [&](std::string_view expected) {
        return InputError(
            fmt::format("{}:{}: found \"{}\", expected {}", path, list.size() + 1, Escape(name, 40), expected));
      };
      if (name.empty() || name.size() > kMaxNameBytes) {
        return refuse(fmt::format("a name of 1 to {} bytes", kMaxNameBytes));
      }
      if (name.find('\0') != std::string_view::npos) return refuse("text without a NUL byte");
      list.text_ += name;
      list.ends_.push_back(list.text_.size());
    }
    // The text takes up to three times its size while it grows. Checked after every chunk, which is small enough.
    if (3 * list.text_.size() + kBytesOfName * list.size() > max_bytes) {
      return UsageError(fmt::format("{}: the first {} names need more than {} of --memory; expected a larger one", path,
                                    list.size(), FormatByteSize(max_bytes)));
    }
  }
  list.text_.shrink_to_fit();
  list.ends_.shrink_to_fit();
  RETURN_IF_ERROR(list.CheckDifferent());
  return list;
}

absl::Status NameList::CheckDifferent() const {
  absl::flat_hash_map<absl::string_view, std::uint64_t> index_of;
  index_of.reserve(size());
  for (std::uint64_t i = 0; i < size(); ++i) {
    const std::string_view name = (*this)[i];
    const auto [found, added] = index_of.try_emplace(absl::string_view(name.data(), name.size()), i);
    if (added) continue;
    return InputError(fmt::format("{}:{}: found \"{}\", the name of line {}, expected each name once", path_, i + 1,
                                  Escape(name, 40), found->second + 1));
  }
  return absl::OkStatus();
}

}  // namespace octavo
