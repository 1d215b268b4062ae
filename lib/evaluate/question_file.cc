#include "evaluate/question_file.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "format/npy_header.h"
#include "io/file.h"
#include "io/line_reader.h"

namespace octavo {
namespace {

constexpr std::string_view kAsked = "?";
constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 20;
constexpr std::string_view kExpected =
    "expected HEAD<TAB>RELATION<TAB>?<TAB>ANSWER<TAB>CANDIDATE... or ?<TAB>RELATION<TAB>TAIL<TAB>ANSWER<TAB>CANDIDATE"
    "..., and at least one candidate";

}  // namespace

// The fields of one question after the other.
class QuestionFile::Fields {
 public:
  Fields() = default;
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;
  virtual ~Fields() = default;

  // Returns the fields, valid until the next call; empty at the end.
  virtual absl::StatusOr<std::span<const std::string_view>> Next() = 0;
  virtual std::string Place() const = 0;
};

class QuestionFile::Lines : public QuestionFile::Fields {
 public:
  explicit Lines(LineReader reader) : reader_(std::move(reader)) {}

  absl::StatusOr<std::span<const std::string_view>> Next() override {
    fields_.clear();
    ASSIGN_OR_RETURN(std::optional<std::string_view> line, reader_.Next());
    while (line) {
      const std::size_t tab = line->find('\t');
      fields_.push_back(line->substr(0, tab));
      if (tab == std::string_view::npos) break;
      line->remove_prefix(tab + 1);
    }
    return std::span<const std::string_view>(fields_);
  }
  std::string Place() const override { return reader_.Place(); }

 private:
  LineReader reader_;
  std::vector<std::string_view> fields_;
};

class QuestionFile::Rows : public QuestionFile::Fields {
 public:
  Rows(File file, std::uint64_t data_offset, const NpyIntegers& array)
      : file_(std::move(file)), data_offset_(data_offset), array_(array) {}

  absl::StatusOr<std::span<const std::string_view>> Next() override {
    fields_.clear();
    if (next_ == array_.rows) return std::span<const std::string_view>();
    if (next_ == first_ + rows_) RETURN_IF_ERROR(ReadBlock());
    text_.clear();
    std::vector<std::size_t>& ends = ends_;
    ends.clear();
    const std::byte* const row = bytes_.data() + (next_++ - first_) * RowBytes();
    for (std::uint64_t column = 0; column < array_.columns; ++column) {
      Append(row + column * array_.value_bytes);
      ends.push_back(text_.size());
    }
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      fields_.push_back(std::string_view(text_).substr(begin, end - begin));
      begin = end;
    }
    return std::span<const std::string_view>(fields_);
  }
  std::string Place() const override { return fmt::format("{}: row {}", file_.path().string(), next_ - 1); }

 private:
  std::uint64_t RowBytes() const { return array_.columns * array_.value_bytes; }

  absl::Status ReadBlock() {
    first_ += rows_;
    rows_ = std::min(std::max<std::uint64_t>(1, kBlockBytes / std::max<std::uint64_t>(1, RowBytes())),
                     array_.rows - first_);
    bytes_.resize(rows_ * RowBytes());
    const std::uint64_t offset = data_offset_ + first_ * RowBytes();
    RETURN_IF_ERROR(file_.ReadAt(offset, bytes_));
    file_.DropBehind(offset, bytes_.size());
    return absl::OkStatus();
  }

  // The number in decimal, and -1 as ?.
  void Append(const std::byte* value) {
    std::uint64_t number = 0;
    std::memcpy(&number, value, array_.value_bytes);
    const std::uint64_t sign = std::uint64_t{1} << (8 * array_.value_bytes - 1);
    const bool negative = array_.is_signed && (number & sign) != 0;
    if (negative) number = sign - (number ^ sign);  // its absolute value
    if (negative && number == 1) {
      text_ += kAsked;
    } else {
      fmt::format_to(std::back_inserter(text_), "{}{}", negative ? "-" : "", number);
    }
  }

  File file_;
  const std::uint64_t data_offset_;
  const NpyIntegers array_;
  std::uint64_t next_ = 0;
  std::uint64_t first_ = 0;  // first row of the block
  std::uint64_t rows_ = 0;
  std::vector<std::byte> bytes_;
  std::string text_;
  std::vector<std::size_t> ends_;
  std::vector<std::string_view> fields_;
};

namespace {

// Whether the file begins as a NumPy array does.
absl::StatusOr<bool> IsArray(const std::string& path) {
  ASSIGN_OR_RETURN(const File file, File::OpenRead(path));
  ASSIGN_OR_RETURN(const std::uint64_t size, file.Size());
  if (size < kNpyMagic.size()) return false;
  std::string head(kNpyMagic.size(), '\0');
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(head))));
  return head == kNpyMagic;
}

struct OpenedArray {
  File file;
  std::uint64_t data_offset = 0;
  NpyIntegers shape;
};

absl::StatusOr<OpenedArray> OpenArray(const std::string& path) {
  ASSIGN_OR_RETURN(File file, File::OpenRead(path));
  ASSIGN_OR_RETURN(const std::uint64_t size, file.Size());
  std::string head(std::min<std::uint64_t>(size, kNpyPreambleBytes), '\0');
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(head))));
  ASSIGN_OR_RETURN(const std::size_t length, NpyHeaderLength(head, path));
  if (length > size) {
    return InputError(fmt::format("{}: {} bytes; expected a header of {}", path, size, length));
  }
  head.resize(length);
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(head))));
  ASSIGN_OR_RETURN(const NpyIntegers shape, DecodeNpyIntegers(head, path));
  const std::uint64_t expected = length + shape.rows * shape.columns * shape.value_bytes;
  if (size != expected) {
    return InputError(fmt::format("{}: {} bytes; expected {} for a shape of ({}, {})", path, size, expected, shape.rows,
                                  shape.columns));
  }
  return OpenedArray{std::move(file), length, shape};
}

}  // namespace

absl::StatusOr<bool> QuestionFile::Is(const std::string& path) {
  if (path == "-") return false;
  ASSIGN_OR_RETURN(const bool array, IsArray(path));
  if (array) return true;
  ASSIGN_OR_RETURN(LineReader reader, LineReader::Open(path));
  ASSIGN_OR_RETURN(const std::optional<std::string_view> line, reader.Next());
  return line && line->find('\t') != std::string_view::npos;
}

absl::StatusOr<QuestionFile> QuestionFile::Open(const Graph& graph, const std::string& path) {
  ASSIGN_OR_RETURN(const bool array, IsArray(path));
  if (array) {
    ASSIGN_OR_RETURN(OpenedArray opened, OpenArray(path));
    return QuestionFile(graph, std::make_unique<Rows>(std::move(opened.file), opened.data_offset, opened.shape));
  }
  ASSIGN_OR_RETURN(LineReader reader, LineReader::Open(path));
  return QuestionFile(graph, std::make_unique<Lines>(std::move(reader)));
}

QuestionFile::QuestionFile(const Graph& graph, std::unique_ptr<Fields> fields)
    : graph_(&graph), fields_(std::move(fields)) {}
QuestionFile::QuestionFile(QuestionFile&&) noexcept = default;
QuestionFile::~QuestionFile() = default;

void QuestionFile::CountUnknown(UnknownNames& unknown, std::string_view name) {
  if (unknown.lines++ == 0) unknown.first = std::string(name);
}

absl::StatusOr<std::optional<GivenQuestion>> QuestionFile::Next() {
  while (true) {
    ASSIGN_OR_RETURN(std::span<const std::string_view> fields, fields_->Next());
    if (fields.empty()) return std::optional<GivenQuestion>();
    // The places of head, tail and answer, and the relation between the former or not.
    const bool one_relation = graph_->relation_count() == 1;
    const bool tail = fields[0] != kAsked;
    const std::size_t asked_tail = 2 < fields.size() && fields[2] == kAsked ? 2 : 1;
    const bool names_relation =
        tail ? asked_tail == 2
             : !one_relation || graph_->FindRelation(fields[std::min<std::size_t>(1, fields.size() - 1)]);
    const std::size_t answer = names_relation ? 3 : 2;
    const bool asks = tail ? fields[std::min(asked_tail, fields.size() - 1)] == kAsked : true;
    if (!asks || fields.size() < answer + 2 || (!names_relation && !one_relation)) {
      std::string text;
      for (const std::string_view field : fields.first(std::min<std::size_t>(fields.size(), 5))) {
        fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : "\t", field);
      }
      return InputError(fmt::format("{}: found {} field{}, \"{}\"; {}", fields_->Place(), fields.size(),
                                    fields.size() == 1 ? "" : "s", Escape(text, 60), kExpected));
    }
    constexpr std::uint64_t kNames = std::uint64_t{1} << 20;  // between two drops of the pages of names from the cache
    names_read_ += fields.size();
    if (names_read_ >= kNames) {
      graph_->nodes().Forget(0, graph_->node_count());
      names_read_ = 0;
    }
    const std::string_view anchor_name = tail ? fields[0] : fields[answer - 1];
    const std::optional<NodeId> anchor = graph_->nodes().Find(anchor_name);
    const std::optional<NodeId> true_answer = graph_->nodes().Find(fields[answer]);
    const std::optional<RelationId> relation = names_relation ? graph_->FindRelation(fields[1]) : RelationId{0};
    if (!anchor || !true_answer || !relation) {
      CountUnknown(unknown_questions_, !anchor ? anchor_name : !relation ? fields[1] : fields[answer]);
      continue;
    }
    GivenQuestion question{tail ? Side::kTail : Side::kHead, *anchor, *relation, *true_answer, {}};
    question.candidates.reserve(fields.size() - answer - 1);
    for (const std::string_view name : fields.subspan(answer + 1)) {
      if (const std::optional<NodeId> node = graph_->nodes().Find(name)) {
        question.candidates.push_back(*node);
      } else {
        CountUnknown(unknown_candidates_, name);
      }
    }
    RETURN_IF_ERROR(graph_->nodes().status());
    return question;
  }
}

}  // namespace octavo
