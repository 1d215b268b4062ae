#include "vectors/vector_file.h"

#include <algorithm>
#include <string>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "format/npy_header.h"
#include "io/compressed_input.h"
#include "vectors/npy_source.h"
#include "vectors/word2vec_source.h"

namespace octavo {
namespace {

// Enough for the first line, the longest name and the bytes after it that distinguish text from binary.
constexpr std::size_t kHeadBytes = std::size_t{128} << 10;

// `rows`: the bytes after the first line. In text, a number follows the name and a blank. The first byte of a binary
// row can be a line end.
bool IsText(std::string_view rows, const Word2VecHeader& header) {
  constexpr std::size_t kLooked = 64;
  const std::size_t blank = rows.find(' ');
  if (blank == std::string_view::npos) return true;
  const std::string_view values = rows.substr(blank + 1, std::min(kLooked, header.columns * sizeof(float)));
  const std::string_view line = values.substr(0, values.find('\n'));
  return !line.empty() && line.find_first_not_of(" \t\r+-.0123456789eEinfINFatyATY") == std::string_view::npos;
}

}  // namespace

absl::StatusOr<std::unique_ptr<VectorSource>> OpenVectorFile(const std::filesystem::path& path,
                                                             const std::filesystem::path& names) {
  std::string head(kHeadBytes, '\0');
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<CompressedInput> input, CompressedInput::Open(path.string()));
    ASSIGN_OR_RETURN(const std::size_t got, input->Read(head));
    head.resize(got);
  }
  if (std::string_view(head).starts_with(kNpyMagic)) {
    if (names.empty())
      return UsageError(fmt::format("{}: a .npy file has no names; expected a file with them", path.string()));
    return NpySource::Open(path, names);
  }
  const std::string_view line = std::string_view(head).substr(0, head.find('\n'));
  const auto header = Word2VecHeader::Parse(line);
  if (!header) {
    return InputError(
        fmt::format("{}:1: found \"{}\"; expected a run folder, a .npy file, or a word2vec file, which "
                    "begins with the number of vectors and of their numbers",
                    path.string(), Escape(line, 80)));
  }
  if (!names.empty()) {
    return UsageError(fmt::format("{}: a word2vec file has its own names; expected no file with names", path.string()));
  }
  if (IsText(std::string_view(head).substr(std::min(line.size() + 1, head.size())), *header)) {
    return Word2VecText::Open(path.string());
  }
  return Word2VecBinary::Open(path.string());
}

}  // namespace octavo
