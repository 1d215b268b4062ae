#include "format/array_header.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

constexpr std::uint64_t kFileBytes = 64 + 3 * 8;

ArrayHeader Sample() {
  ArrayHeader header;
  header.kind = ArrayKind::kNodeHashes;
  header.count = 3;
  header.hash_seed = 2;
  header.data_checksum = 77;
  return header;
}

TEST(ArrayHeader, ReadsBackWhatItWrote) {
  ASSERT_OK_AND_ASSIGN(const ArrayHeader header,
                       DecodeArrayHeader(EncodeArrayHeader(Sample()), ArrayKind::kNodeHashes, kFileBytes, "f"));
  EXPECT_EQ(header.count, 3U);
  EXPECT_EQ(header.hash_seed, 2U);
  EXPECT_EQ(header.data_checksum, 77U);
}

TEST(ArrayHeader, EveryFlippedBitIsACorruptFile) {
  auto bytes = EncodeArrayHeader(Sample());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_ERROR(DecodeArrayHeader(bytes, ArrayKind::kNodeHashes, kFileBytes, "nodes.hash"), kCorrupt, "nodes.hash: ")
        << bit;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

TEST(ArrayHeader, ChecksKindAndSizes) {
  const auto bytes = EncodeArrayHeader(Sample());
  EXPECT_ERROR(DecodeArrayHeader(bytes, ArrayKind::kNodeOffsets, kFileBytes, "f"), kCorrupt, "kind 1; expected kind 2");
  for (const std::uint64_t size : {std::uint64_t{0}, kFileBytes - 1, kFileBytes + 1}) {
    EXPECT_ERROR(DecodeArrayHeader(bytes, ArrayKind::kNodeHashes, size, "f"), kCorrupt, "was it cut?") << size;
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_ERROR(DecodeArrayHeader(std::span(bytes).first(size), ArrayKind::kNodeHashes, size, "f"), kCorrupt,
                 "at least the 64 bytes");
  }
}

TEST(ArrayHeader, CountsThatOverflowAreCaught) {
  ArrayHeader header = Sample();
  for (const std::uint64_t count : {UINT64_MAX, (std::uint64_t{1} << 61) + 3, std::uint64_t{1} << 61}) {
    header.count = count;
    EXPECT_ERROR(DecodeArrayHeader(EncodeArrayHeader(header), ArrayKind::kNodeHashes, kFileBytes, "f"), kCorrupt, "")
        << count;
  }
}

}  // namespace
}  // namespace octavo
