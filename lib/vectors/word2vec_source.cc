#include "vectors/word2vec_source.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/count_text.h"
#include "base/escape.h"
#include "base/number.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

static_assert(std::endian::native == std::endian::little, "floats are read in file order");

// The limit of an import; far above any word.
constexpr std::size_t kMaxNameBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxColumns = 65536;
constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

absl::Status HeaderError(std::string_view place, std::string_view line) {
  return InputError(
      fmt::format("{}: found \"{}\"; expected the first line of a word2vec file: the number of vectors, "
                  "a blank, and how many numbers each has",
                  place, Escape(line, 80)));
}

// Parses a decimal at the head of `text` and removes it. `value` is the nearest float.
bool TakeNumber(std::string_view& text, float& value) {
  const char* const end = text.data() + text.size();
  std::from_chars_result result = std::from_chars(text.data(), end, value);
  if (result.ec == std::errc::result_out_of_range) {  // underflow becomes 0; infinity is rejected by the caller
    double wide = 0;
    result = std::from_chars(text.data(), end, wide);
    value = static_cast<float>(wide);
  }
  text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  return result.ec == std::errc();
}

void SkipBlanks(std::string_view& text) { text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size())); }

}  // namespace

std::optional<Word2VecHeader> Word2VecHeader::Parse(std::string_view line) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(blank + 1);
  while (rest.ends_with(' ') || rest.ends_with('\r')) rest.remove_suffix(1);
  const auto rows = ParseWholeNumber(line.substr(0, blank));
  const auto columns = ParseWholeNumber(rest);
  if (!rows || !columns || *columns < 1 || *columns > kMaxColumns) return std::nullopt;
  return Word2VecHeader{.rows = *rows, .columns = *columns};
}

absl::StatusOr<std::unique_ptr<Word2VecText>> Word2VecText::Open(const std::string& path) {
  ASSIGN_OR_RETURN(LineReader lines, LineReader::Open(path));
  ASSIGN_OR_RETURN(const std::optional<std::string_view> line, lines.NextLine());
  const auto header = Word2VecHeader::Parse(line.value_or(""));
  if (!header) return HeaderError(path + ":1", line.value_or(""));
  return std::unique_ptr<Word2VecText>(new Word2VecText(path, std::move(lines), *header));
}

std::string Word2VecText::PlaceOf(std::uint64_t number) const { return fmt::format("{}:{}", path_, number + 2); }

absl::StatusOr<std::optional<NamedVector>> Word2VecText::Read() {
  ASSIGN_OR_RETURN(const std::optional<std::string_view> line, lines_.NextLine());
  if (!line && count() == header_.rows) return std::nullopt;
  const auto fail = [&](std::string_view found, std::string_view expected) {
    return InputError(fmt::format("{}: found {}; expected {}", PlaceOf(count()), found, expected));
  };
  if (!line || count() == header_.rows) {
    return fail(line ? "another line" : "the end", CountText(header_.rows, "vector") + ", as the first line says");
  }
  const std::size_t blank = line->find(' ');
  if (blank == 0 || blank == std::string_view::npos) {
    return fail(fmt::format("\"{}\"", Escape(*line, 80)), "a name, a blank, and numbers");
  }
  const std::string_view name = line->substr(0, blank);
  std::string_view rest = line->substr(blank);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    SkipBlanks(rest);
    if (!TakeNumber(rest, values_[i])) {
      return fail(fmt::format("\"{}\" for number {} of \"{}\"", Escape(rest.substr(0, rest.find(' ')), 40), i + 1,
                              Escape(name)),
                  fmt::format("{} numbers", values_.size()));
    }
  }
  SkipBlanks(rest);
  if (!rest.empty()) {
    return fail(fmt::format("\"{}\" after number {} of \"{}\"", Escape(rest, 40), values_.size(), Escape(name)),
                fmt::format("{} numbers", values_.size()));
  }
  return NamedVector{name, values_};
}

absl::StatusOr<std::unique_ptr<Word2VecBinary>> Word2VecBinary::Open(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<CompressedInput> input, CompressedInput::Open(path));
  auto source = std::unique_ptr<Word2VecBinary>(new Word2VecBinary(std::move(input)));
  RETURN_IF_ERROR(source->Fill(kPieceBytes));
  const std::string_view line = source->at_hand().substr(0, source->at_hand().find('\n'));
  const auto header = Word2VecHeader::Parse(line);
  if (!header) return HeaderError(path + ":1", line);
  source->header_ = *header;
  source->values_.resize(header->columns);
  source->begin_ = std::min(line.size() + 1, source->text_.size());
  return source;
}

absl::Status Word2VecBinary::Fill(std::size_t bytes) {
  if (at_hand().size() >= bytes || ended_) return absl::OkStatus();
  text_.erase(0, std::exchange(begin_, 0));
  const std::size_t before = text_.size();
  const std::size_t room = std::max(bytes, kPieceBytes);
  text_.resize(before + room);
  ASSIGN_OR_RETURN(const std::size_t got, input_->Read(std::span(text_).subspan(before)));
  text_.resize(before + got);
  ended_ = got < room;
  return absl::OkStatus();
}

std::string Word2VecBinary::PlaceOf(std::uint64_t number) const {
  return fmt::format("{}: vector {}", input_->name(), number + 1);
}

absl::StatusOr<std::optional<NamedVector>> Word2VecBinary::Read() {
  const std::size_t row_bytes = values_.size() * sizeof(float);
  RETURN_IF_ERROR(Fill(1 + kMaxNameBytes + 1 + row_bytes));
  if (at_hand().starts_with('\n')) ++begin_;
  if (at_hand().empty() && count() == header_.rows) return std::nullopt;
  const auto fail = [&](std::string_view found, std::string_view expected) {
    return InputError(fmt::format("{}: found {}; expected {}", PlaceOf(count()), found, expected));
  };
  if (at_hand().empty() || count() == header_.rows) {
    return fail(at_hand().empty() ? "the end" : "more bytes",
                CountText(header_.rows, "vector") + ", as the first line says");
  }
  const std::size_t blank = at_hand().substr(0, kMaxNameBytes + 1).find(' ');
  if (blank == 0 || blank == std::string_view::npos) {
    return fail(fmt::format("\"{}\"", Escape(at_hand().substr(0, 40))), "a name and a blank");
  }
  name_ = at_hand().substr(0, blank);
  begin_ += blank + 1;
  if (at_hand().size() < row_bytes) {
    return fail(fmt::format("{} bytes after \"{}\"", at_hand().size(), Escape(name_)),
                fmt::format("{}, of {} floats", row_bytes, values_.size()));
  }
  std::memcpy(values_.data(), at_hand().data(), row_bytes);
  begin_ += row_bytes;
  return NamedVector{name_, values_};
}

}  // namespace octavo
