#include "parse/input_reader.h"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "format/npy_header.h"
#include "parse/base_edges.h"
#include "parse/format_guess.h"
#include "parse/header_line.h"
#include "parse/line_chunker.h"
#include "parse/matrix_market.h"
#include "parse/unsupported_rdf.h"

namespace octavo {
namespace {

// Returns the format of the lines of `text`; empty while none has data. A stated format is kept even if the first lines
// contradict it: a matrix without a banner is an error later.
std::optional<FileFormat> Decide(const std::optional<FileFormat>& stated, std::string_view text) {
  const std::optional<InputFormat> guess = GuessFormat(text);
  if (!stated) {
    if (!guess) return std::nullopt;
    return FileFormat{.format = *guess, .reason = FileFormat::Reason::kContent, .looks_like = {}};
  }
  FileFormat format = *stated;
  // A file of triples is also one of quads.
  const bool agree =
      guess == stated->format || (guess == InputFormat::kNtriples && stated->format == InputFormat::kNquads);
  if (guess && !agree && guess != InputFormat::kBlank) format.looks_like = guess;
  return format;
}

// Returns the format by flag, extension, or magic bytes in `head`.
std::optional<FileFormat> StatedFormat(const std::optional<InputFormat>& flag, const std::string& path,
                                       std::string_view head) {
  if (flag) return FileFormat{.format = *flag, .reason = FileFormat::Reason::kFlag, .looks_like = {}};
  if (const auto format = FormatOfExtension(path)) {
    return FileFormat{.format = *format, .reason = FileFormat::Reason::kExtension, .looks_like = {}};
  }
  if (!head.starts_with(kNpyMagic)) return std::nullopt;
  return FileFormat{.format = InputFormat::kNpy, .reason = FileFormat::Reason::kContent, .looks_like = {}};
}

// Reads the bytes that may contain NumPy's magic.
absl::StatusOr<std::string> ReadHead(CompressedInput& input) {
  std::string head(kNpyPreambleBytes, '\0');
  ASSIGN_OR_RETURN(const std::size_t got, input.Read(head));
  head.resize(got);
  return head;
}

// Removes up to `count` lines from the head of `text` and returns how many there were.
std::uint64_t SkipLines(std::string_view& text, std::uint64_t count) {
  std::uint64_t skipped = 0;
  for (; skipped < count && !text.empty(); ++skipped) TakeLine(text);
  return skipped;
}

// Returns the column titles at the head of `text`, which begins after `lines_before` lines of its file.
std::optional<HeaderLine> TitlesOf(std::string_view text, const FileFormat& format, const Columns& columns,
                                   std::uint64_t lines_before) {
  if (!HasFields(format.format) || columns.count == 0) return std::nullopt;
  std::optional<HeaderLine> titles = FindHeaderLine(text, format.format, columns, format.separator);
  if (titles) titles->line += lines_before;
  return titles;
}

// Adds to `format` what its first lines look like, unless the user has said what they are.
void Remark(std::string_view text, const LayoutRequest& request, const Columns& columns, std::uint64_t lines_before,
            FileFormat& format) {
  format.blank_names = format.format == InputFormat::kCsv && columns.count > 0 &&
                       HasNamesAfterBlanks(text, format.format, columns, format.separator);
  if (request.choice.by_title) return;
  format.titles = TitlesOf(text, format, columns, lines_before);
  const bool guessed = HasFields(format.format) && request.columns.count == 0 && !request.choice.given() &&
                       (columns == DefaultColumns(3) || columns == DefaultColumns(4));
  if (guessed && HasNumericTails(text, format.format, columns, format.separator)) {
    format.numeric_tails = columns.count;
  }
  format.timed_weights =
      guessed && columns.weight >= 0 && HasTimesAsWeights(text, format.format, columns, format.separator);
}

void SetSeparator(std::string_view text, const LayoutRequest& request, FileFormat& format) {
  if (format.format != InputFormat::kCsv) return;
  format.separator = request.separator != '\0' ? request.separator : GuessCsvSeparator(text);
}

// --columns by number or title is only for lines of fields.
absl::Status RefuseChoice(const LayoutRequest& request, InputFormat format, std::string_view name) {
  if (!request.choice.given() || HasFields(format)) return absl::OkStatus();
  return UsageError(
      fmt::format("{}: found --columns by number or title for {}, expected none: they are for tsv, csv and "
                  "blank",
                  name, InputFormatTitle(format)));
}

// --skip-lines is only for formats whose header lines cannot be recognised.
absl::Status RefuseSkippedLines(const LayoutRequest& request, InputFormat format, std::string_view name) {
  if (request.skip_lines == 0 || HasFields(format)) return absl::OkStatus();
  return UsageError(fmt::format("{}: found --skip-lines for {}, expected none: it is only for tsv, csv and blank", name,
                                InputFormatTitle(format)));
}

// Adds the format to an error in the head of a file.
absl::Status Explain(const absl::Status& status, const FileFormat& format) {
  if (status.ok() || KindOf(status) != ErrorKind::kInput) return status;
  return InputError(fmt::format("{}; read as {}", MessageOf(status), FileFormatText(format)));
}

}  // namespace

// Makes the same decisions as ReadFile, from the first chunk only.
absl::StatusOr<std::optional<FileFormat>> PeekFormat(const std::string& path, const LayoutRequest& layout,
                                                     const InputLimits& limits) {
  ASSIGN_OR_RETURN(std::unique_ptr<CompressedInput> input, CompressedInput::Open(path, nullptr, limits));
  if (!layout.format) RETURN_IF_ERROR(RefuseOtherSyntax(path, std::nullopt));
  ASSIGN_OR_RETURN(std::string head, ReadHead(*input));
  const std::optional<FileFormat> stated = StatedFormat(layout.format, path, head);
  if (stated) RETURN_IF_ERROR(RefuseSkippedLines(layout, stated->format, path));
  if (stated) RETURN_IF_ERROR(RefuseChoice(layout, stated->format, path));
  if (stated && stated->format == InputFormat::kNpy) return stated;
  LineChunker chunker(std::move(input), std::move(head));
  ASSIGN_OR_RETURN(const std::optional<std::string> text, chunker.Next());
  if (!text) return stated;
  std::string_view data = *text;
  const std::uint64_t skipped = SkipLines(data, layout.skip_lines);
  if (!layout.format) RETURN_IF_ERROR(RefuseOtherSyntax(path, data));
  std::optional<FileFormat> format = Decide(stated, data);
  if (!format) return stated;
  RETURN_IF_ERROR(RefuseSkippedLines(layout, format->format, path));
  RETURN_IF_ERROR(RefuseChoice(layout, format->format, path));
  SetSeparator(data, layout, *format);
  Columns columns = layout.columns;
  if (layout.choice.given()) {
    ASSIGN_OR_RETURN(const ChosenColumns chosen, FindColumns(layout.choice, data, *format, skipped, path));
    columns = chosen.columns;
  } else if (columns.count == 0 && HasFields(format->format)) {
    columns = GuessColumns(data, format->format, format->separator);
  }
  Remark(data, layout, columns, skipped, *format);
  return format;
}

InputReader::InputReader(std::vector<InputFile> files, const LayoutRequest& layout, std::size_t ahead,
                         const InputLimits& limits, std::function<bool()> stop)
    : files_(std::move(files)),
      request_(layout),
      ahead_(ahead),
      limits_(limits),
      stop_(std::move(stop)),
      columns_(layout.columns),
      thread_([this] { Run(); }) {}

InputReader::~InputReader() {
  {
    const MutexLock lock(mutex_);  // so that a waiting Push sees the flag
    abandoned_.store(true, std::memory_order_relaxed);
  }
  thread_.join();
}

void InputReader::Run() {
  absl::Status status;
  try {
    for (std::size_t file = 0; file < files_.size() && status.ok(); ++file) status = ReadFile(file);
  } catch (const std::bad_alloc&) {
    status = RuntimeError("out of memory while reading the input");
  }
  const MutexLock lock(mutex_);
  result_ = std::move(status);
  ended_ = true;
}

// Reads the edges of the graph that is added to; their layout is known.
absl::Status InputReader::ReadBase(std::size_t file) {
  const Graph& base = *files_[file].base;
  BaseEdges edges(base, static_cast<Split>(files_[file].split));
  const LineLayout layout = BaseEdges::LayoutOf(base.description());
  promised_edges_.emplace_back();
  const std::uint64_t bytes_before = bytes_read();
  while (true) {
    if (stop_ && stop_()) return absl::CancelledError("interrupted");
    ASSIGN_OR_RETURN(std::optional<std::string> records, edges.Next());
    bytes_read_.store(bytes_before + edges.bytes_read(), std::memory_order_relaxed);
    if (!records) return absl::OkStatus();
    if (!Push({.file = file, .text = std::move(*records), .layout = layout, .opened = {}}))
      return absl::CancelledError("abandoned");
  }
}

absl::Status InputReader::ReadFile(std::size_t file) {
  if (files_[file].base != nullptr) return ReadBase(file);
  const auto stop = [this] { return abandoned_.load(std::memory_order_relaxed) || (stop_ && stop_()); };
  ASSIGN_OR_RETURN(std::unique_ptr<CompressedInput> input, CompressedInput::Open(files_[file].path, stop, limits_));
  promised_edges_.emplace_back();
  if (!request_.format) RETURN_IF_ERROR(RefuseOtherSyntax(files_[file].path, std::nullopt));
  ASSIGN_OR_RETURN(std::string head, ReadHead(*input));
  const std::optional<FileFormat> stated = StatedFormat(request_.format, files_[file].path, head);
  if (stated && stated->format == InputFormat::kNpy) {
    // An empty file is reported later, as an input without edges, whatever its extension.
    if (!head.empty()) RETURN_IF_ERROR(ReadArray(file, *input, std::move(head), *stated));
    formats_.push_back(InputFormat::kNpy);
    return absl::OkStatus();
  }
  LineChunker chunker(std::move(input), std::move(head));
  return ReadLines(file, chunker, stated);
}

absl::Status InputReader::ReadArray(std::size_t file, CompressedInput& input, std::string head,
                                    const FileFormat& format) {
  const std::string& name = input.name();
  RETURN_IF_ERROR(RefuseSkippedLines(request_, InputFormat::kNpy, name));
  RETURN_IF_ERROR(RefuseChoice(request_, InputFormat::kNpy, name));
  const std::uint64_t bytes_before = bytes_read();
  const absl::StatusOr<std::size_t> header_bytes = NpyHeaderLength(head, name);
  if (!header_bytes.ok()) return Explain(header_bytes.status(), format);
  const std::size_t begin = head.size();
  head.resize(*header_bytes);
  ASSIGN_OR_RETURN(const std::size_t got, input.Read(std::span(head).subspan(begin)));
  if (begin + got < *header_bytes) {
    return InputError(fmt::format("{}: found {} bytes, expected a header of {}; was the file cut?", name, begin + got,
                                  *header_bytes));
  }
  ASSIGN_OR_RETURN(const NpyIntegers array, DecodeNpyIntegers(head, name));
  const Columns columns = request_.columns.count > 0 ? request_.columns : DefaultColumns(array.columns);
  if (array.columns > 3 && request_.columns.count == 0) {
    const bool lies = array.rows == 2 || array.rows == 3;  // heads in one row, tails in another
    return InputError(fmt::format(
        "{}: found the shape [{}, {}], expected 2 columns (head,tail) or 3 (head,relation,tail); {}", name, array.rows,
        array.columns, lies ? "numpy.ascontiguousarray(array.T) has its rows as columns" : "--columns names others"));
  }
  if (array.columns == 0 || columns.count != array.columns || columns.weight >= 0) {
    return InputError(fmt::format("{}: found the shape [{}, {}], expected {} columns of indexes ({})", name, array.rows,
                                  array.columns, columns.count == 0 ? 2 : columns.count,
                                  columns.count == 0 ? "head,tail" : ColumnsText(columns)));
  }
  RETURN_IF_ERROR(AgreeOn(columns, name));
  if (request_.relation_names != nullptr && columns.relation < 0) {
    return UsageError(fmt::format("{}: found --relation-names for the columns {}, expected a column of relations", name,
                                  ColumnsText(columns)));
  }
  const LineLayout layout = {.format = InputFormat::kNpy,
                             .columns = columns,
                             .indexes = {.value_bytes = array.value_bytes,
                                         .is_signed = array.is_signed,
                                         .nodes = request_.node_names,
                                         .relations = request_.relation_names}};
  const std::size_t row_bytes = array.columns * array.value_bytes;
  std::optional<FileFormat> opened = format;
  // Whole rows, in chunks of the usual size.
  for (std::uint64_t row = 0; row < array.rows;) {
    const std::uint64_t rows = std::min<std::uint64_t>(array.rows - row, LineChunker::kChunkBytes / row_bytes);
    TextChunk chunk = {.file = file, .text = Spare(), .layout = layout, .opened = {}};
    chunk.text.resize(rows * row_bytes);
    ASSIGN_OR_RETURN(const std::size_t bytes, input.Read(chunk.text));
    bytes_read_.store(bytes_before + input.compressed_bytes_read(), std::memory_order_relaxed);
    if (bytes < chunk.text.size()) {
      return InputError(
          fmt::format("{}: found {} rows, expected {}; was the file cut?", name, row + bytes / row_bytes, array.rows));
    }
    row += rows;
    chunk.opened = std::exchange(opened, std::nullopt);
    if (!Push(std::move(chunk))) return absl::CancelledError("abandoned");
  }
  char more = 0;
  ASSIGN_OR_RETURN(const std::size_t trailing, input.Read(std::span(&more, 1)));
  if (trailing == 0) return absl::OkStatus();
  return InputError(fmt::format("{}: found bytes after row {}, the last one, expected the end", name, array.rows));
}

absl::Status InputReader::ReadLines(std::size_t file, LineChunker& chunker, std::optional<FileFormat> stated) {
  const std::uint64_t bytes_before = bytes_read();
  std::optional<FileFormat> format;  // set with the layout, at the first data line
  LineLayout layout;
  std::uint64_t to_skip = request_.skip_lines;
  std::uint64_t lines_before = 0;  // lines of the chunks before the one with the first data line
  // The first chunk with a data line determines format and layout. Chunks before it have only comments and blank lines;
  // chunks after it use the same layout without header lines.
  while (true) {
    ASSIGN_OR_RETURN(std::optional<std::string> text, chunker.Next(Spare()));
    bytes_read_.store(bytes_before + chunker.input().compressed_bytes_read(), std::memory_order_relaxed);
    if (!text) break;
    TextChunk chunk = {.file = file, .text = std::move(*text), .layout = {}, .opened = {}};
    std::string_view data = chunk.text;
    const std::uint64_t skipped = SkipLines(data, to_skip);
    to_skip -= skipped;
    const bool begins = !format;
    if (begins) {
      if (!request_.format) RETURN_IF_ERROR(RefuseOtherSyntax(files_[file].path, data));
      format = Decide(stated, data);
      if (format) {
        SetSeparator(data, request_, *format);
        const absl::StatusOr<LineLayout> decided =
            LayoutOf(file, data, *format, lines_before + skipped, chunker.input().name());
        if (!decided.ok()) return Explain(decided.status(), *format);
        layout = *decided;
      } else {
        // Only comments and blank lines so far: no layout needed.
        layout = {.format = InputFormat::kBlank, .columns = columns_};
      }
    }
    if (format && columns_.count == 0) {
      layout.columns = columns_ = GuessColumns(data, format->format, format->separator);
    }
    if (begins && format) {
      Remark(data, request_, layout.columns, lines_before + skipped, *format);
      chunk.opened = format;
    } else if (begins) {
      lines_before += static_cast<std::uint64_t>(std::ranges::count(chunk.text, '\n'));
    }
    chunk.layout = layout;
    chunk.layout.header_lines += skipped;
    layout.header_lines = 0;
    if (!Push(std::move(chunk))) return absl::CancelledError("abandoned");
  }
  formats_.push_back(format ? format->format : stated ? stated->format : InputFormat::kBlank);
  return absl::OkStatus();
}

absl::StatusOr<LineLayout> InputReader::LayoutOf(std::size_t file, std::string_view text, const FileFormat& decided,
                                                 std::uint64_t lines_before, std::string_view name) {
  const InputFormat format = decided.format;
  const bool is_matrix = format == InputFormat::kMatrixMarket;
  RETURN_IF_ERROR(RefuseSkippedLines(request_, format, name));
  RETURN_IF_ERROR(RefuseChoice(request_, format, name));
  if (request_.node_names != nullptr || request_.relation_names != nullptr) {
    return UsageError(
        fmt::format("{}: found {}, expected a NumPy array: --node-names and "
                    "--relation-names are only for its indexes",
                    name, InputFormatTitle(format)));
  }
  if (is_matrix) return LayoutOfMatrix(file, text, name);
  if (request_.choice.given()) {
    ASSIGN_OR_RETURN(const ChosenColumns chosen, FindColumns(request_.choice, text, decided, lines_before, name));
    RETURN_IF_ERROR(AgreeOn(chosen.columns, name));
    return LineLayout{.format = format,
                      .columns = chosen.columns,
                      .separator = decided.separator,
                      .header_lines = chosen.header_lines};
  }
  if (!IsTriples(format)) return LineLayout{.format = format, .columns = columns_, .separator = decided.separator};
  if (request_.columns.count > 0) {
    return UsageError(
        fmt::format("{}: found --columns for {}, expected none: a statement always has subject, predicate, "
                    "object as head, relation, tail",
                    name, InputFormatTitle(format)));
  }
  RETURN_IF_ERROR(AgreeOn(DefaultColumns(3), name));
  return LineLayout{.format = format,
                    .columns = DefaultColumns(3),
                    .keep_literals = request_.keep_literals,
                    .labels = request_.labels};
}

absl::StatusOr<LineLayout> InputReader::LayoutOfMatrix(std::size_t file, std::string_view text, std::string_view name) {
  ASSIGN_OR_RETURN(const MatrixMarketHead head, ParseMatrixMarketHead(text, name));
  ASSIGN_OR_RETURN(const Columns columns, MatrixMarketColumns(head, request_.columns, name));
  if (head.one_triangle && request_.splits_directions) {
    return UsageError(
        fmt::format("{}: found a symmetric matrix and --split, expected --undirected as well, so that "
                    "both directions of an edge go to the same split",
                    name));
  }
  RETURN_IF_ERROR(AgreeOn(columns, name));
  promised_edges_[file] = head.entries;
  return LineLayout{.format = InputFormat::kMatrixMarket,
                    .columns = columns,
                    .header_lines = head.lines,
                    .matrix_rows = head.rows,
                    .both_directions = head.one_triangle};
}

// Files may differ in their columns, but either all have relations or none has, and only if the first one has weights
// may later ones have them.
absl::Status InputReader::AgreeOn(const Columns& columns, std::string_view name) {
  if (columns_.count == 0) columns_ = columns;
  const bool agree =
      (columns_.relation >= 0) == (columns.relation >= 0) && (columns_.weight >= 0 || columns.weight < 0);
  if (agree) return absl::OkStatus();
  return InputError(fmt::format("{}: found the columns {}, expected {}, as the files before it have", name,
                                ColumnsText(columns), ColumnsText(columns_)));
}

bool InputReader::Push(TextChunk chunk) {
  const MutexLock lock(mutex_);
  mutex_.Await([this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return chunks_.size() < ahead_ || abandoned_.load(std::memory_order_relaxed);
  });
  if (abandoned_.load(std::memory_order_relaxed)) return false;
  chunks_.push_back(std::move(chunk));
  return true;
}

std::optional<TextChunk> InputReader::Next() {
  const MutexLock lock(mutex_);
  mutex_.Await([this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !chunks_.empty() || ended_; });
  if (chunks_.empty()) return std::nullopt;
  TextChunk chunk = std::move(chunks_.front());
  chunks_.pop_front();
  return chunk;
}

void InputReader::Reuse(std::string text) {
  const MutexLock lock(spare_mutex_);
  if (spare_.size() < ahead_) spare_.push_back(std::move(text));
}

std::string InputReader::Spare() {
  const MutexLock lock(spare_mutex_);
  if (spare_.empty()) return {};
  std::string text = std::move(spare_.back());
  spare_.pop_back();
  return text;
}

absl::Status InputReader::status() const {
  const MutexLock lock(mutex_);
  return result_;
}

}  // namespace octavo
