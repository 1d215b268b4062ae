#include "export/selection.h"

#include <re2/re2.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/line_reader.h"

namespace octavo {
namespace {

constexpr std::uint64_t kNamesAhead = 16'384;          // names read at a time, if all are read
constexpr std::uint64_t kNameReadings = 1024;          // otherwise: reads between two drops of their pages
constexpr std::uint64_t kPageBytes = 4096;             // of the page cache
constexpr std::uint64_t kReadThroughBytes = 64 << 10;  // a fast disk reads this much in the time of one random read
constexpr std::uint64_t kMaxReadBytes = 1 << 20;

absl::StatusOr<std::unique_ptr<RE2>> Compile(const std::string& match) {
  RE2::Options options;
  options.set_log_errors(false);  // it would print errors
  auto expression = std::make_unique<RE2>(match, options);
  if (expression->ok()) return expression;
  return UsageError(
      fmt::format("found the expression \"{}\": {}; expected one of RE2's syntax", Escape(match), expression->error()));
}

bool Matches(const RE2& expression, std::string_view name) {
  return RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), expression);
}

absl::Status Add(std::uint64_t row, const SelectionOptions& options, RowSelection& selection) {
  if ((selection.rows.size() + 1) * RowSelection::kRowBytes > options.max_bytes) {
    return UsageError(fmt::format(
        "the selection has more than {} rows, and the {} that --memory leaves for it hold no more; expected a larger "
        "--memory",
        selection.rows.size(), FormatByteSize(options.max_bytes)));
  }
  selection.rows.push_back(row);
  return absl::OkStatus();
}

absl::Status SelectListed(const VectorTable& table, const SelectionOptions& options, const RE2& expression,
                          RowSelection& selection) {
  constexpr std::uint64_t kWindowBytes = 8 << 20;  // of a zstd frame: what every decoder should support (RFC 8878)
  ASSIGN_OR_RETURN(LineReader reader, LineReader::Open(options.list, {kWindowBytes, 0}));
  std::uint64_t names = 0;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<std::string_view> name, reader.NextLine());
    if (!name) break;
    if (++names % kNameReadings == 0 && table.done) table.done(0, table.rows);
    const std::optional<std::uint64_t> row = table.find(*name);
    if (!row && !options.skip_unknown) {
      return InputError(
          fmt::format("{}: found \"{}\", which names no row; expected names of the graph, or --unknown "
                      "skip to leave out the others",
                      reader.Place(), Escape(*name)));
    }
    if (!row && selection.unknown++ == 0) selection.first_unknown = std::string(*name);
    if (row && Matches(expression, *name)) RETURN_IF_ERROR(Add(*row, options, selection));
  }
  if (!selection.rows.empty()) return absl::OkStatus();
  return InputError(fmt::format("{}: found no row for its {} name{}; expected names of the graph, one per line",
                                options.list, names, names == 1 ? "" : "s"));
}

absl::Status SelectMatching(const VectorTable& table, const SelectionOptions& options, const RE2& expression,
                            RowSelection& selection) {
  for (std::uint64_t first = 0; first < table.rows; first += kNamesAhead) {
    const std::uint64_t count = std::min(kNamesAhead, table.rows - first);
    if (table.will_name) table.will_name(first, count);
    for (std::uint64_t row = first; row < first + count; ++row) {
      if (Matches(expression, table.name(row))) RETURN_IF_ERROR(Add(row, options, selection));
    }
    if (table.done) table.done(first, count);
  }
  if (!selection.rows.empty()) return absl::OkStatus();
  return UsageError(fmt::format("the expression \"{}\" matches none of {} names", Escape(options.match), table.rows));
}

// Reads rows in any order; rows close to each other with one read.
class RowPicker {
 public:
  RowPicker(VectorTable whole, RowSelection selection) : whole_(std::move(whole)), selection_(std::move(selection)) {}

  std::uint64_t size() const { return selection_.rows.size(); }

  // Any thread.
  std::string_view Name(std::uint64_t i) {
    if (readings_.fetch_add(1, std::memory_order_relaxed) % kNameReadings == kNameReadings - 1) Forget();
    return whole_.name(selection_.rows[i]);
  }

  absl::Status Read(std::uint64_t first, std::span<float> values) {
    const std::size_t columns = whole_.columns;
    const std::uint64_t row_bytes = columns * sizeof(float);
    const auto row_of = [&](std::uint64_t i) { return selection_.rows[first + i]; };
    order_.resize(values.size() / columns);
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](std::uint64_t a, std::uint64_t b) { return row_of(a) < row_of(b); });
    for (std::size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
      const std::uint64_t low = row_of(order_[begin]);
      std::uint64_t high = low;
      for (end = begin + 1; end < order_.size(); ++end) {
        const std::uint64_t next = row_of(order_[end]);
        const bool near = (next - high) * row_bytes <= kReadThroughBytes || next <= high + 1;
        if (!near || (next - low) * row_bytes >= kMaxReadBytes) break;
        high = next;
      }
      buffer_.resize((high - low + 1) * columns);
      RETURN_IF_ERROR(whole_.read(low, buffer_));
      for (std::size_t i = begin; i < end; ++i) {
        std::copy_n(&buffer_[(row_of(order_[i]) - low) * columns], columns, &values[order_[i] * columns]);
      }
      // A read fills whole pages, many more than were requested.
      cached_bytes_ += buffer_.size() * sizeof(float) + 2 * kPageBytes;
      if (cached_bytes_ > kMaxReadBytes) ForgetAll();
    }
    return absl::OkStatus();
  }

  bool HasLabels() const { return static_cast<bool>(whole_.label); }
  std::string_view Label(std::uint64_t row) const { return whole_.label(selection_.rows[row]); }

  // Only called by the reading thread.
  void ForgetAll() {
    Forget();
    cached_bytes_ = 0;
  }

 private:
  // Any thread.
  void Forget() const {
    if (whole_.done) whole_.done(0, whole_.rows);
  }

  const VectorTable whole_;
  const RowSelection selection_;
  std::atomic<std::uint64_t> readings_ = 0;  // only a count: relaxed
  // Used by the reading thread only.
  std::vector<std::uint64_t> order_;
  std::vector<float> buffer_;
  std::uint64_t cached_bytes_ = 0;
};

}  // namespace

absl::StatusOr<RowSelection> SelectRows(const VectorTable& table, const SelectionOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<RE2> expression, Compile(options.match));
  RowSelection selection;
  RETURN_IF_ERROR(options.list.empty() ? SelectMatching(table, options, *expression, selection)
                                       : SelectListed(table, options, *expression, selection));
  return selection;
}

VectorTable SelectedRows(VectorTable whole, RowSelection selection) {
  const std::size_t columns = whole.columns;
  // Shared, because std::function requires its functions to be copyable.
  const auto picker = std::make_shared<RowPicker>(std::move(whole), std::move(selection));
  VectorTable rows = {
      .rows = picker->size(),
      .columns = columns,
      .name = [picker](std::uint64_t row) { return picker->Name(row); },
      .read = [picker](std::uint64_t first, std::span<float> values) { return picker->Read(first, values); },
      .done = [picker](std::uint64_t, std::uint64_t) { picker->ForgetAll(); }};
  if (picker->HasLabels()) rows.label = [picker](std::uint64_t row) { return picker->Label(row); };
  return rows;
}

}  // namespace octavo
