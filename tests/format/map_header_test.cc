#include "format/map_header.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/status.h"

namespace octavo {
namespace {

constexpr MapHeader kMapHeader{.run_id = {1, 2}, .generation = 3, .nodes = 4, .file_bytes = 6};

TEST(MapHeader, ComesBack) {
  const auto header = DecodeMapHeader(EncodeMapHeader(kMapHeader), "map.octavo");
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(EncodeMapHeader(*header), EncodeMapHeader(kMapHeader));
  EXPECT_EQ(header->run_id, kMapHeader.run_id);
  EXPECT_EQ(header->generation, 3U);
  EXPECT_EQ(MapHeaderPath("a/b.npy"), "a/b.npy.octavo");
}

TEST(MapHeader, AnyDamageIsRefused) {
  const auto whole = EncodeMapHeader(kMapHeader);
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    auto bytes = whole;
    bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    const auto header = DecodeMapHeader(bytes, "map.octavo");
    ASSERT_FALSE(header.ok()) << bit;
    EXPECT_EQ(KindOf(header.status()), ErrorKind::kCorrupt);
  }
  for (const std::size_t size : {0U, 1U, 127U}) EXPECT_FALSE(DecodeMapHeader(std::span(whole).first(size), "m").ok());
}

TEST(MapHeader, LimitsHold) {
  for (const MapHeader& header :
       {MapHeader{.nodes = 0}, MapHeader{.kind = static_cast<MapKind>(2), .nodes = 1},
        MapHeader{.nodes = 1, .variance_shares = {1.5, 0}}, MapHeader{.nodes = 1, .variance_shares = {0, NAN}}}) {
    EXPECT_FALSE(DecodeMapHeader(EncodeMapHeader(header), "map.octavo").ok());
  }
}

}  // namespace
}  // namespace octavo
