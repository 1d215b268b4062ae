#include "format/index_header.h"

#include <gtest/gtest.h>

#include "base/status.h"

namespace octavo {
namespace {

constexpr IndexHeader kIndexHeader{.m = 16, .run_id = {1, 2}, .generation = 3, .nodes = 4, .dim = 5, .file_bytes = 6};

TEST(IndexHeader, ComesBack) {
  const auto header = DecodeIndexHeader(EncodeIndexHeader(kIndexHeader), "index.octavo");
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(EncodeIndexHeader(*header), EncodeIndexHeader(kIndexHeader));
  EXPECT_EQ(header->run_id, kIndexHeader.run_id);
  EXPECT_EQ(header->generation, 3U);
  EXPECT_EQ(IndexHeaderPath("a/b.hnsw"), "a/b.hnsw.octavo");
}

TEST(IndexHeader, AnyDamageIsRefused) {
  const auto whole = EncodeIndexHeader(kIndexHeader);
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    auto bytes = whole;
    bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    const auto header = DecodeIndexHeader(bytes, "index.octavo");
    ASSERT_FALSE(header.ok()) << bit;
    EXPECT_EQ(KindOf(header.status()), ErrorKind::kCorrupt);
  }
  for (const std::size_t size : {0U, 1U, 127U}) EXPECT_FALSE(DecodeIndexHeader(std::span(whole).first(size), "i").ok());
}

TEST(IndexHeader, LimitsHold) {
  for (IndexHeader header : {IndexHeader{.m = 1, .nodes = 4}, IndexHeader{.m = 1025, .nodes = 4},
                             IndexHeader{.m = 16, .nodes = 0}, IndexHeader{.m = 16, .nodes = kMaxIndexNodes + 1}}) {
    EXPECT_FALSE(DecodeIndexHeader(EncodeIndexHeader(header), "index.octavo").ok());
  }
}

}  // namespace
}  // namespace octavo
