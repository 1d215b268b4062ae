#include "graph/verify_nodes.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/count_text.h"
#include "base/parallel.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/checksum.h"
#include "io/piece_reader.h"

namespace octavo {
namespace {

constexpr std::uint64_t kElementBytes = sizeof(std::uint64_t);

std::uint64_t ElementAt(std::span<const std::byte> bytes, std::size_t i) {
  std::uint64_t value;
  std::memcpy(&value, bytes.data() + i * kElementBytes, kElementBytes);
  return value;
}

std::uint64_t PlaceOf(std::uint64_t element) { return sizeof(ArrayHeader) + element * kElementBytes; }

// Checks an array file: the header, the checksum of the elements, and that they are strictly ascending.
class ArrayCheck {
 public:
  ArrayCheck(std::filesystem::path path, ArrayKind kind, const GraphCheckOptions& options, CheckReport& report)
      : path_(std::move(path)), kind_(kind), options_(options), report_(report) {}

  // Returns the header if it is valid.
  std::optional<ArrayHeader> Run() {
    absl::StatusOr<PieceReader> reader = PieceReader::Open(path_, options_.reading);
    if (!reader.ok()) {
      report_.Fault(path_, "", reader.status());
      return std::nullopt;
    }
    const auto header = [&]() -> absl::StatusOr<ArrayHeader> {
      ASSIGN_OR_RETURN(const auto head, reader->Bytes(0, std::min<std::uint64_t>(reader->size(), sizeof(ArrayHeader))));
      return DecodeArrayHeader(head, kind_, reader->size(), path_.string());
    }();
    if (!header.ok()) {
      report_.Fault(path_, "header", header.status());
      return std::nullopt;
    }
    if (const absl::Status status = CheckElements(*reader, *header); !status.ok()) report_.Fault(path_, "", status);
    report_.Checked(path_, reader->size(), fmt::format("{} {}", header->count, Unit()));
    return *header;
  }

 private:
  std::string_view Unit() const { return kind_ == ArrayKind::kNodeHashes ? "hashes" : "offsets"; }

  absl::Status CheckElements(PieceReader& reader, const ArrayHeader& header) {
    StreamingChecksum64 checksum;
    std::uint64_t next = 0;
    const absl::Status status =
        reader.Read(sizeof(ArrayHeader), reader.size(), [&](std::span<const std::byte> piece) -> absl::Status {
          checksum.Update(piece);
          for (std::size_t i = 0; i < piece.size() / kElementBytes; ++i) CheckOrder(next++, ElementAt(piece, i));
          if (options_.progress) options_.progress(piece.size());
          return absl::OkStatus();
        });
    RETURN_IF_ERROR(status);
    if (const std::uint64_t found = checksum.Digest(); found != header.data_checksum) {
      report_.Damage(path_, fmt::format("{}, byte {} on", Unit(), sizeof(ArrayHeader)),
                     fmt::format("checksum {:016x}", found), fmt::format("{:016x}", header.data_checksum));
    }
    return absl::OkStatus();
  }

  void CheckOrder(std::uint64_t element, std::uint64_t value) {
    if (element == 0 && kind_ == ArrayKind::kNodeOffsets && value != 0) {
      report_.Damage(path_, fmt::format("offset 0 at byte {}", PlaceOf(0)), fmt::format("{}", value), "0");
    } else if (element > 0 && value <= last_) {
      report_.Damage(path_, fmt::format("number {} at byte {}", element, PlaceOf(element)),
                     fmt::format("{} after {}", value, last_), "ascending numbers");
    }
    last_ = value;
  }

  const std::filesystem::path path_;
  const ArrayKind kind_;
  const GraphCheckOptions& options_;
  CheckReport& report_;
  std::uint64_t last_ = 0;
};

// Checks the names of nodes [first, last) against undamaged offsets and hashes. One thread.
class NameCheck {
 public:
  NameCheck(const GraphPaths& paths, const GraphCheckOptions& options, std::uint64_t seed, CheckReport& report)
      : paths_(paths), options_(options), seed_(seed), report_(report) {}

  absl::Status Run(std::uint64_t first, std::uint64_t last) {
    ASSIGN_OR_RETURN(PieceReader names, PieceReader::Open(paths_.NodeNames(), options_.reading));
    ASSIGN_OR_RETURN(PieceReader hashes, PieceReader::Open(paths_.NodeHashes(), options_.reading));
    ASSIGN_OR_RETURN(PieceReader offsets, PieceReader::Open(paths_.NodeOffsets(), options_.reading));
    std::uint64_t bytes = 0;
    for (std::uint64_t node = first; node < last; ++node) {
      ASSIGN_OR_RETURN(const auto place, offsets.Bytes(PlaceOf(node), PlaceOf(node + 2)));
      ASSIGN_OR_RETURN(const auto hash, hashes.Bytes(PlaceOf(node), PlaceOf(node + 1)));
      const std::uint64_t begin = ElementAt(place, 0);
      const std::uint64_t end = ElementAt(place, 1);
      if (begin >= end || end > names.size()) continue;  // names.size() was compared with the last offset
      RETURN_IF_ERROR(CheckName(names, node, begin, end, ElementAt(hash, 0)));
      bytes += end - begin;
    }
    if (options_.progress) options_.progress(bytes);
    return absl::OkStatus();
  }

 private:
  absl::Status CheckName(PieceReader& names, std::uint64_t node, std::uint64_t begin, std::uint64_t end,
                         std::uint64_t expected) {
    const auto damage = [&](std::string found, std::string wanted) {
      report_.Damage(paths_.NodeNames(), fmt::format("line {} at byte {}", node + 1, begin), std::move(found),
                     std::move(wanted));
    };
    std::uint64_t found = 0;
    bool line_end_inside = false;
    if (end - begin <= options_.reading.piece_bytes) {
      ASSIGN_OR_RETURN(const auto bytes, names.Bytes(begin, end));
      const std::string_view name(reinterpret_cast<const char*>(bytes.data()), bytes.size() - 1);
      found = HashName(name, seed_);
      line_end_inside = name.find('\n') != std::string_view::npos;
    } else {
      StreamingChecksum64 checksum(seed_);
      RETURN_IF_ERROR(names.Read(begin, end - 1, [&](std::span<const std::byte> piece) {
        checksum.Update(piece);
        line_end_inside = line_end_inside || std::ranges::find(piece, std::byte{'\n'}) != piece.end();
        return absl::OkStatus();
      }));
      found = checksum.Digest();
    }
    ASSIGN_OR_RETURN(const auto last, names.Bytes(end - 1, end));
    if (last[0] != std::byte{'\n'}) {
      damage(fmt::format("byte {} is {:#04x}", end - 1, static_cast<unsigned>(last[0])), "the end of the line");
    }
    if (line_end_inside) damage("a line end within the name", fmt::format("one at byte {}", end - 1));
    if (found != expected) {
      damage(fmt::format("a name with hash {:016x}", found), fmt::format("{:016x}, as nodes.hash says", expected));
    }
    return absl::OkStatus();
  }

  const GraphPaths& paths_;
  const GraphCheckOptions& options_;
  const std::uint64_t seed_;
  CheckReport& report_;
};

// Checks the length of nodes.names and each name. REQUIRES: nodes.hash and nodes.offsets are undamaged
absl::Status VerifyNames(const GraphPaths& paths, const CheckedNodes& nodes, const GraphCheckOptions& options,
                         CheckReport& report) {
  const std::uint64_t count = nodes.hashes->count;
  ASSIGN_OR_RETURN(PieceReader names, PieceReader::Open(paths.NodeNames(), options.reading));
  ASSIGN_OR_RETURN(PieceReader offsets, PieceReader::Open(paths.NodeOffsets(), options.reading));
  ASSIGN_OR_RETURN(const auto last, offsets.Bytes(PlaceOf(count), PlaceOf(count + 1)));
  if (const std::uint64_t expected = ElementAt(last, 0); names.size() != expected) {
    report.Damage(paths.NodeNames(), "", fmt::format("{} bytes", names.size()),
                  fmt::format("{}, the last number of nodes.offsets", expected));
  }
  const std::uint64_t step = std::max<std::uint64_t>(1, options.reading.piece_bytes / kElementBytes / 2);
  ParallelEach(0, (count + step - 1) / step, [&](std::size_t part) {
    NameCheck check(paths, options, nodes.hashes->hash_seed, report);
    const std::uint64_t first = part * step;
    if (const absl::Status status = check.Run(first, std::min(first + step, count)); !status.ok()) {
      report.Fault(paths.NodeNames(), fmt::format("lines {} on", first + 1), status);
    }
  });
  report.Checked(paths.NodeNames(), names.size(), CountText(count, "name"));
  return absl::OkStatus();
}

}  // namespace

CheckedNodes VerifyNodes(const GraphPaths& paths, const GraphCheckOptions& options, CheckReport& report) {
  CheckedNodes nodes;
  nodes.hashes = ArrayCheck(paths.NodeHashes(), ArrayKind::kNodeHashes, options, report).Run();
  nodes.offsets = ArrayCheck(paths.NodeOffsets(), ArrayKind::kNodeOffsets, options, report).Run();
  if (nodes.hashes && nodes.offsets && nodes.offsets->count != nodes.hashes->count + 1) {
    report.Damage(paths.NodeOffsets(), "", fmt::format("{} offsets", nodes.offsets->count),
                  fmt::format("{}, one more than there are hashes", nodes.hashes->count + 1));
  }
  std::error_code error;
  if (!std::filesystem::exists(paths.NodeNames(), error)) {
    report.Damage(paths.NodeNames(), "", "no such file", "the names of the nodes");
  } else if (report.HasFindings(paths.NodeHashes()) || report.HasFindings(paths.NodeOffsets())) {
    report.Note(fmt::format("{}: not checked, as this needs intact hashes and offsets", paths.NodeNames().string()));
  } else if (const absl::Status status = VerifyNames(paths, nodes, options, report); !status.ok()) {
    report.Fault(paths.NodeNames(), "", status);
  }
  return nodes;
}

}  // namespace octavo
