#include "graph/verify_array.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "io/checksum.h"
#include "io/piece_reader.h"

namespace octavo {
namespace {

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
  bool Offsets() const { return kind_ == ArrayKind::kNodeOffsets || kind_ == ArrayKind::kLabelOffsets; }
  bool Ascends() const { return Offsets() || kind_ == ArrayKind::kNodeHashes; }
  std::string_view Unit() const { return Offsets() ? "offsets" : kind_ == ArrayKind::kLabelOrder ? "nodes" : "hashes"; }

  absl::Status CheckElements(PieceReader& reader, const ArrayHeader& header) {
    StreamingChecksum64 checksum;
    std::uint64_t next = 0;
    const absl::Status status =
        reader.Read(sizeof(ArrayHeader), reader.size(), [&](std::span<const std::byte> piece) -> absl::Status {
          checksum.Update(piece);
          for (std::size_t i = 0; i < piece.size() / kArrayElementBytes; ++i)
            CheckOrder(next++, ArrayElementAt(piece, i));
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
    if (!Ascends()) return;
    if (element == 0 && Offsets() && value != 0) {
      report_.Damage(path_, fmt::format("offset 0 at byte {}", ArrayPlaceOf(0)), fmt::format("{}", value), "0");
    } else if (element > 0 && value <= last_) {
      report_.Damage(path_, fmt::format("number {} at byte {}", element, ArrayPlaceOf(element)),
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

}  // namespace

std::optional<ArrayHeader> VerifyArray(const std::filesystem::path& path, ArrayKind kind,
                                       const GraphCheckOptions& options, CheckReport& report) {
  return ArrayCheck(path, kind, options, report).Run();
}

}  // namespace octavo
