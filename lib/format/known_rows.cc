#include "format/known_rows.h"

#include <xxhash.h>

#include <array>
#include <bit>
#include <cstring>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

static_assert(std::endian::native == std::endian::little, "words are written in memory order");

struct Header {
  std::array<char, 8> magic{'O', 'C', 'T', 'V', 'K', 'N', 'W', 'N'};
  std::uint32_t version = 1;
  std::uint32_t reserved = 0;
  std::uint64_t nodes = 0;
  std::uint64_t relation_rows = 0;
  std::uint64_t data_checksum = 0;
  std::array<std::uint64_t, 2> reserved_words{};
  std::uint64_t header_checksum = 0;
};
static_assert(sizeof(Header) == 64);

std::uint64_t HeaderChecksum(const Header& header) {
  return XXH3_64bits(&header, sizeof(Header) - sizeof(header.header_checksum));
}

std::string_view Text(std::span<const std::uint64_t> words) {
  return {reinterpret_cast<const char*>(words.data()), words.size_bytes()};
}

}  // namespace

std::uint64_t RowMarks::Count() const {
  std::uint64_t count = 0;
  for (const std::uint64_t word : words_) count += static_cast<std::uint64_t>(std::popcount(word));
  return count;
}

std::uint64_t KnownRows::FileBytes(std::uint64_t nodes, std::uint64_t relation_rows) {
  return sizeof(Header) + (nodes / 64 + (nodes % 64 > 0) + relation_rows / 64 + (relation_rows % 64 > 0)) * 8;
}

std::string EncodeKnownRows(const KnownRows& known) {
  std::string bytes(sizeof(Header), '\0');
  bytes += Text(known.nodes.words());
  bytes += Text(known.relations.words());
  Header header;
  header.nodes = known.nodes.rows();
  header.relation_rows = known.relations.rows();
  header.data_checksum = XXH3_64bits(bytes.data() + sizeof(Header), bytes.size() - sizeof(Header));
  header.header_checksum = HeaderChecksum(header);
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

absl::StatusOr<KnownRows> DecodeKnownRows(std::string_view bytes, std::uint64_t nodes, std::uint64_t relation_rows,
                                          std::string_view file_name) {
  const auto fail = [&](std::string_view found, std::string_view expected) {
    return CorruptError(fmt::format("{}: {}; expected {}", file_name, found, expected));
  };
  Header header;
  if (bytes.size() < sizeof(header)) return fail(fmt::format("{} bytes", bytes.size()), "a header of 64");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != Header().magic)
    return fail("wrong first bytes", "a file of known rows, which begins with \"OCTVKNWN\"");
  if (header.version != 1) return fail(fmt::format("version {}", header.version), "1");
  if (header.header_checksum != HeaderChecksum(header))
    return fail("a header whose checksum does not match", "an undamaged one");
  if (header.nodes != nodes || header.relation_rows != relation_rows) {
    return fail(fmt::format("marks of {} nodes and {} relation rows", header.nodes, header.relation_rows),
                fmt::format("{} and {}, as the run has", nodes, relation_rows));
  }
  if (bytes.size() != KnownRows::FileBytes(nodes, relation_rows)) {
    return fail(fmt::format("{} bytes", bytes.size()), fmt::format("{}", KnownRows::FileBytes(nodes, relation_rows)));
  }
  const std::string_view data = bytes.substr(sizeof(header));
  const std::uint64_t checksum = XXH3_64bits(data.data(), data.size());
  if (checksum != header.data_checksum) {
    return fail(fmt::format("byte {} on: checksum {:016x}", sizeof(header), checksum),
                fmt::format("{:016x}", header.data_checksum));
  }
  KnownRows known = {.nodes = RowMarks(nodes), .relations = RowMarks(relation_rows)};
  const std::size_t node_bytes = known.nodes.words().size_bytes();
  std::memcpy(known.nodes.words().data(), data.data(), node_bytes);
  std::memcpy(known.relations.words().data(), data.data() + node_bytes, data.size() - node_bytes);
  return known;
}

}  // namespace octavo
