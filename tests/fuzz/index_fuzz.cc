// Indexes. After an 'h' come the bytes of a header; after an 'i' nodes, dim, m and ef-construction, one byte each, and
// the bytes of a file, whose size and checksum are set correctly: an attacker can do that.
#include <cstdint>
#include <string_view>

#include "format/index_header.h"
#include "index/cosine_index.h"
#include "io/checksum.h"
#include "tests/fuzz/fuzz.h"

namespace octavo {
namespace {

void RunHeader(std::string_view bytes) {
  const auto header = DecodeIndexHeader(BytesOf(bytes), "index.octavo");
  if (!header.ok()) return CheckError(header.status(), {ErrorKind::kCorrupt});
  const auto again = EncodeIndexHeader(*header);
  MUST(std::equal(again.begin(), again.end(), BytesOf(bytes).begin()));
}

// An accepted index can be searched from every node.
void RunIndex(FuzzInput input) {
  IndexHeader header;
  header.nodes = 1 + input.Value<std::uint8_t>() % 64U;
  header.dim = 1 + input.Value<std::uint8_t>() % 16U;
  header.m = 2 + input.Value<std::uint8_t>() % 15U;
  header.ef_construction = 1 + input.Value<std::uint8_t>();
  const std::string_view bytes = input.Take(std::size_t{1} << 20);
  header.file_bytes = bytes.size();
  header.file_checksum = Checksum64(BytesOf(bytes));
  static MemoryFile file;
  file.Fill(bytes);
  const auto index = CosineIndex::Load(file.path(), header, /*drop_behind=*/false);
  if (!index.ok()) return CheckError(index.status(), {ErrorKind::kCorrupt});
  for (std::uint64_t node = 0; node < header.nodes; ++node) {
    for (const ScoredNode& found : index->Nearest(NodeId{node}, 5, 10)) {
      MUST(Value(found.node) < header.nodes && Value(found.node) != node);
    }
  }
}

}  // namespace
}  // namespace octavo

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  octavo::FuzzInput input(data, size);
  const char kind = input.Value<char>();
  if (kind == 'h') octavo::RunHeader(input.Take(size));
  if (kind == 'i') octavo::RunIndex(input);
  return 0;
}
