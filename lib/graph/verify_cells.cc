#include "graph/verify_cells.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/count_text.h"
#include "base/parallel.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/checksum.h"
#include "io/piece_reader.h"

namespace octavo {
namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint32_t);

std::uint64_t RowsOf(const CellsHeader& header, std::uint32_t partition) {
  return std::min(header.partition_rows, header.node_count - partition * header.partition_rows);
}

class CellsCheck {
 public:
  CellsCheck(std::filesystem::path path, const GraphCheckOptions& options,
             std::span<std::atomic<std::uint64_t>> relation_edges, CheckReport& report)
      : path_(std::move(path)), options_(options), relation_edges_(relation_edges), report_(report) {}

  absl::StatusOr<std::optional<CellsHeader>> Run() {
    absl::StatusOr<PieceReader> reader = PieceReader::Open(path_, options_.reading);
    if (!reader.ok()) {
      report_.Fault(path_, "", reader.status());
      return std::nullopt;
    }
    if (const absl::Status status = ReadHeader(*reader); !status.ok()) {
      report_.Fault(path_, "header", status);
      return std::nullopt;
    }
    const std::uint64_t index_bytes = header_.block_count * sizeof(BlockRecord);
    if (index_bytes > options_.whole_bytes) {
      return UsageError(fmt::format("{}: a block index of {}; expected a --memory that holds it", path_.string(),
                                    FormatByteSize(index_bytes)));
    }
    if (const absl::Status status = ReadIndex(*reader); !status.ok()) {
      report_.Fault(path_, fmt::format("block index at byte {}", header_.index_offset), status);
    } else {
      CheckBlocks();
    }
    report_.Checked(
        path_, reader->size(),
        fmt::format("{} in {}", CountText(header_.edge_count, "edge"), CountText(header_.block_count, "block")));
    return header_;
  }

 private:
  absl::Status ReadHeader(PieceReader& reader) {
    ASSIGN_OR_RETURN(const auto head, reader.Bytes(0, std::min<std::uint64_t>(reader.size(), kCellsHeaderBytes)));
    ASSIGN_OR_RETURN(header_, DecodeCellsHeader(head, reader.size(), path_.string()));
    if (options_.progress) options_.progress(head.size());
    return absl::OkStatus();
  }

  absl::Status ReadIndex(PieceReader& reader) {
    records_.resize(header_.block_count);
    std::byte* next = std::as_writable_bytes(std::span(records_)).data();
    RETURN_IF_ERROR(reader.Read(header_.index_offset, reader.size(), [&](std::span<const std::byte> piece) {
      next = std::copy(piece.begin(), piece.end(), next);
      if (options_.progress) options_.progress(piece.size());
      return absl::OkStatus();
    }));
    return CheckBlockRecords(header_, records_, path_.string());
  }

  // Checks all blocks, as many at a time as fit a piece.
  void CheckBlocks() {
    std::vector<std::size_t> begins;
    std::uint64_t bytes = 0;
    for (std::size_t block = 0; block < records_.size(); ++block) {
      const std::uint64_t block_bytes = records_[block].edges * EdgeBytes(header_);
      if (begins.empty() || bytes + block_bytes > options_.reading.piece_bytes) {
        begins.push_back(block);
        bytes = 0;
      }
      bytes += block_bytes;
    }
    begins.push_back(records_.size());
    ParallelEach(0, begins.size() - 1, [&](std::size_t part) { CheckPart(begins[part], begins[part + 1]); });
  }

  void CheckPart(std::size_t first, std::size_t last) {
    absl::StatusOr<PieceReader> reader = PieceReader::Open(path_, options_.reading);
    if (!reader.ok()) {
      report_.Fault(path_, fmt::format("blocks {} on", first), reader.status());
      return;
    }
    std::uint64_t bytes = 0;
    for (std::size_t block = first; block < last; ++block) {
      const BlockRecord& record = records_[block];
      const auto found = reader->Bytes(record.offset, record.offset + record.edges * EdgeBytes(header_));
      if (!found.ok()) {
        report_.Fault(path_, PlaceOf(block), found.status());
        continue;
      }
      CheckBlock(block, *found);
      bytes += found->size();
    }
    if (options_.progress) options_.progress(bytes);
  }

  std::string PlaceOf(std::size_t block) const {
    return fmt::format("block {} at byte {}", block, records_[block].offset);
  }

  void CheckBlock(std::size_t block, std::span<const std::byte> bytes) {
    const BlockRecord& record = records_[block];
    if (const std::uint64_t found = Checksum64(bytes); found != record.checksum) {
      report_.Damage(path_, PlaceOf(block), fmt::format("checksum {:016x}", found),
                     fmt::format("{:016x}", record.checksum));
      return;
    }
    const std::uint64_t bounds[] = {RowsOf(header_, record.head_partition), RowsOf(header_, record.tail_partition),
                                    header_.relation_count};
    constexpr std::string_view kColumns[] = {"head", "tail", "relation"};
    const std::size_t columns = header_.has_relations != 0 ? 3 : 2;
    for (std::size_t i = 0; i < columns * record.edges; ++i) {
      std::uint32_t id;
      std::memcpy(&id, bytes.data() + i * kWordBytes, kWordBytes);
      const std::size_t column = i / record.edges;
      if (id >= bounds[column]) {
        report_.Damage(path_, PlaceOf(block), fmt::format("edge {} has {} {}", i % record.edges, kColumns[column], id),
                       fmt::format("less than {}", bounds[column]));
      } else if (column == 2 && id < relation_edges_.size()) {
        relation_edges_[id].fetch_add(1, std::memory_order_relaxed);  // read after the loop's barrier
      }
    }
    if (columns == 2 && !relation_edges_.empty()) {
      relation_edges_[0].fetch_add(record.edges, std::memory_order_relaxed);
    }
  }

  const std::filesystem::path path_;
  const GraphCheckOptions& options_;
  const std::span<std::atomic<std::uint64_t>> relation_edges_;
  CheckReport& report_;
  CellsHeader header_;
  std::vector<BlockRecord> records_;
};

}  // namespace

absl::StatusOr<std::optional<CellsHeader>> VerifyCells(const std::filesystem::path& path,
                                                       const GraphCheckOptions& options,
                                                       std::span<std::atomic<std::uint64_t>> relation_edges,
                                                       CheckReport& report) {
  return CellsCheck(path, options, relation_edges, report).Run();
}

}  // namespace octavo
