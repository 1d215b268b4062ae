#include "io/checksum.h"

#include <algorithm>
#include <string>

#include "fmt/format.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span<const char>(text)); }

// Known answers of xxHash's own test suite for the empty input, seed 0.
TEST(Checksum, GivesThePublishedAnswers) {
  EXPECT_EQ(Checksum64({}), 0x2D06800538D394C2U);
  std::string hex;
  for (const std::byte b : Checksum128({})) hex += fmt::format("{:02x}", static_cast<unsigned>(b));
  EXPECT_EQ(hex, "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(HashName("", 0), 0x2D06800538D394C2U);
}

TEST(Checksum, HashNameDependsOnNameAndSeed) {
  EXPECT_NE(HashName("a", 0), HashName("b", 0));
  EXPECT_NE(HashName("a", 0), HashName("a", 1));
  EXPECT_EQ(HashName("a", 0), Checksum64(Bytes("a")));
}

TEST(Checksum, StreamingGivesTheSameForAnyCuts) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += static_cast<char>(i * 7);
  for (const std::size_t piece : {1, 63, 64, 1000, 5000}) {
    StreamingChecksum64 streaming;
    for (std::size_t at = 0; at < text.size(); at += piece) streaming.Update(Bytes(text.substr(at, piece)));
    EXPECT_EQ(streaming.Digest(), Checksum64(Bytes(text))) << piece;
  }
  for (const std::size_t size : {0, 1, 200, 300, 5000}) {
    StreamingChecksum64 streaming(77);
    for (std::size_t at = 0; at < size; at += 63)
      streaming.Update(Bytes(text.substr(at, std::min(size - at, std::size_t{63}))));
    EXPECT_EQ(streaming.Digest(), HashName(text.substr(0, size), 77)) << size;
  }
}

TEST(Checksum, SeesEveryFlippedBit) {
  std::string text(100, 'x');
  const std::uint64_t whole = Checksum64(Bytes(text));
  for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_NE(Checksum64(Bytes(text)), whole) << bit;
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
  }
}

}  // namespace
}  // namespace octavo
