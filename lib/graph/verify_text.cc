#include "graph/verify_text.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/count_text.h"
#include "base/parallel.h"
#include "base/status.h"
#include "fmt/format.h"
#include "graph/verify_array.h"
#include "io/checksum.h"
#include "io/piece_reader.h"

namespace octavo {
namespace {

// Checks lines [first, last). One thread.
class LineCheck {
 public:
  LineCheck(const TextFiles& files, const GraphCheckOptions& options, CheckReport& report)
      : files_(files), options_(options), report_(report) {}

  absl::Status Run(std::uint64_t first, std::uint64_t last) {
    ASSIGN_OR_RETURN(PieceReader text, PieceReader::Open(files_.text, options_.reading));
    ASSIGN_OR_RETURN(PieceReader hashes, PieceReader::Open(files_.hashes, options_.reading));
    ASSIGN_OR_RETURN(PieceReader offsets, PieceReader::Open(files_.offsets, options_.reading));
    std::uint64_t bytes = 0;
    for (std::uint64_t line = first; line < last; ++line) {
      ASSIGN_OR_RETURN(const auto place, offsets.Bytes(ArrayPlaceOf(line), ArrayPlaceOf(line + 2)));
      ASSIGN_OR_RETURN(const auto hash, hashes.Bytes(ArrayPlaceOf(line), ArrayPlaceOf(line + 1)));
      const std::uint64_t begin = ArrayElementAt(place, 0);
      const std::uint64_t end = ArrayElementAt(place, 1);
      if (begin >= end || end > text.size()) continue;  // its size was compared with the last offset
      RETURN_IF_ERROR(CheckLine(text, line, begin, end, ArrayElementAt(hash, 0)));
      bytes += end - begin;
    }
    if (options_.progress) options_.progress(bytes);
    return absl::OkStatus();
  }

 private:
  absl::Status CheckLine(PieceReader& text, std::uint64_t number, std::uint64_t begin, std::uint64_t end,
                         std::uint64_t expected) {
    const auto damage = [&](std::string found, std::string wanted) {
      report_.Damage(files_.text, fmt::format("line {} at byte {}", number + 1, begin), std::move(found),
                     std::move(wanted));
    };
    std::uint64_t found = 0;
    bool line_end_inside = false;
    if (end - begin <= options_.reading.piece_bytes) {
      ASSIGN_OR_RETURN(const auto bytes, text.Bytes(begin, end));
      const std::string_view line(reinterpret_cast<const char*>(bytes.data()), bytes.size() - 1);
      found = HashName(line, files_.seed);
      line_end_inside = line.find('\n') != std::string_view::npos;
    } else {
      StreamingChecksum64 checksum(files_.seed);
      RETURN_IF_ERROR(text.Read(begin, end - 1, [&](std::span<const std::byte> piece) {
        checksum.Update(piece);
        line_end_inside = line_end_inside || std::ranges::find(piece, std::byte{'\n'}) != piece.end();
        return absl::OkStatus();
      }));
      found = checksum.Digest();
    }
    ASSIGN_OR_RETURN(const auto last, text.Bytes(end - 1, end));
    if (last[0] != std::byte{'\n'}) {
      damage(fmt::format("byte {} is {:#04x}", end - 1, static_cast<unsigned>(last[0])), "the end of the line");
    }
    if (line_end_inside)
      damage(fmt::format("a line end within the {}", files_.unit), fmt::format("one at byte {}", end - 1));
    if (found != expected) {
      damage(fmt::format("a {} with hash {:016x}", files_.unit, found),
             fmt::format("{:016x}, as {} says", expected, files_.hashes.filename().string()));
    }
    return absl::OkStatus();
  }

  const TextFiles& files_;
  const GraphCheckOptions& options_;
  CheckReport& report_;
};

}  // namespace

absl::Status VerifyText(const TextFiles& files, const GraphCheckOptions& options, CheckReport& report) {
  ASSIGN_OR_RETURN(PieceReader text, PieceReader::Open(files.text, options.reading));
  ASSIGN_OR_RETURN(PieceReader offsets, PieceReader::Open(files.offsets, options.reading));
  ASSIGN_OR_RETURN(const auto last, offsets.Bytes(ArrayPlaceOf(files.count), ArrayPlaceOf(files.count + 1)));
  if (const std::uint64_t expected = ArrayElementAt(last, 0); text.size() != expected) {
    report.Damage(files.text, "", fmt::format("{} bytes", text.size()),
                  fmt::format("{}, the last number of {}", expected, files.offsets.filename().string()));
  }
  const std::uint64_t step = std::max<std::uint64_t>(1, options.reading.piece_bytes / kArrayElementBytes / 2);
  ParallelEach(0, (files.count + step - 1) / step, [&](std::size_t part) {
    LineCheck check(files, options, report);
    const std::uint64_t first = part * step;
    if (const absl::Status status = check.Run(first, std::min(first + step, files.count)); !status.ok()) {
      report.Fault(files.text, fmt::format("lines {} on", first + 1), status);
    }
  });
  report.Checked(files.text, text.size(), CountText(files.count, files.unit));
  return absl::OkStatus();
}

}  // namespace octavo
