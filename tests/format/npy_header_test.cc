#include "format/npy_header.h"

#include <cstring>
#include <span>
#include <string>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

// A header with another dictionary, padded as NumPy pads.
std::array<std::byte, kNpyHeaderBytes> WithDictionary(std::string dictionary) {
  auto bytes = EncodeNpyHeader({1, 1});
  dictionary.resize(kNpyHeaderBytes - 10 - 1, ' ');
  dictionary += '\n';
  std::memcpy(bytes.data() + 10, dictionary.data(), dictionary.size());
  return bytes;
}

TEST(NpyHeader, ReadsBackWhatItWrote) {
  for (const NpyShape shape : {NpyShape{0, 1}, NpyShape{3, 4}, NpyShape{14541, 400}, NpyShape{1ULL << 40, 100},
                               NpyShape{3, 4, NpyElement::kBfloat16}}) {
    ASSERT_OK_AND_ASSIGN(const NpyShape read, DecodeNpyHeader(EncodeNpyHeader(shape), "f"));
    EXPECT_EQ(read, shape);
  }
}

TEST(NpyHeader, IsThePreambleThatNumPyReads) {
  const auto bytes = EncodeNpyHeader({3, 4});
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_EQ(text.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(text.substr(8, 2), "\xF6\x0F");  // 4086: the dictionary ends at byte 4,096
  EXPECT_TRUE(text.substr(10).starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"));
  EXPECT_EQ(text.back(), '\n');
  const auto words = EncodeNpyHeader({3, 4, NpyElement::kBfloat16});
  const std::string words_text(reinterpret_cast<const char*>(words.data()), words.size());
  EXPECT_TRUE(words_text.substr(10).starts_with("{'descr': '<u2', 'fortran_order': False, 'shape': (3, 4), }"));
}

TEST(NpyHeader, RefusesOtherTypesOrdersAndShapes) {
  for (const char* dictionary : {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }",
                                 "{'descr': '>f4', 'fortran_order': False, 'shape': (3, 4), }",
                                 "{'descr': '>u2', 'fortran_order': False, 'shape': (3, 4), }",
                                 "{'descr': '<f2', 'fortran_order': False, 'shape': (3, 4), }",
                                 "{'descr': '<u4', 'fortran_order': False, 'shape': (3, 4), }",
                                 "{'descr': '<u2', 'fortran_order': False, 'shape': (9223372036854775807, 1), }",
                                 "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 4), }",
                                 "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
                                 "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4, 5), }",
                                 "{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 4), }",
                                 "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 4), }",
                                 "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
                                 "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } x", ""}) {
    EXPECT_ERROR(DecodeNpyHeader(WithDictionary(dictionary), "e.npy"), kCorrupt, "e.npy: ") << dictionary;
  }
  EXPECT_OK(DecodeNpyHeader(WithDictionary("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}"), "e.npy"));
}

// As numpy.save pads it: to a multiple of 64 bytes.
TEST(NpyHeader, ReadsTheHeadersOfOtherPrograms) {
  std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
  dictionary.resize(117, ' ');
  const std::string text = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + dictionary + "\n";
  const auto bytes = std::as_bytes(std::span(text));
  ASSERT_OK_AND_ASSIGN(const NpyLayout layout, DecodeForeignNpyHeader(bytes, "e.npy"));
  EXPECT_EQ(layout.shape, (NpyShape{3, 4}));
  EXPECT_EQ(layout.data_offset, 128U);
  EXPECT_ERROR(DecodeForeignNpyHeader(bytes.first(127), "e.npy"), kInput, "e.npy: header length 128");
  EXPECT_ERROR(DecodeForeignNpyHeader(bytes.first(9), "e.npy"), kInput, "e.npy: 9 bytes");
  EXPECT_ERROR(
      DecodeForeignNpyHeader(WithDictionary("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }"), "e.npy"),
      kInput, "<f8");
  ASSERT_OK_AND_ASSIGN(const NpyLayout own, DecodeForeignNpyHeader(EncodeNpyHeader({5, 6}), "e.npy"));
  EXPECT_EQ(own.data_offset, kNpyHeaderBytes);
}

TEST(NpyHeader, RefusesShortAndForeignFiles) {
  const auto bytes = EncodeNpyHeader({3, 4});
  for (const std::size_t size : {0UL, 1UL, 9UL, 10UL, 4095UL}) {
    EXPECT_ERROR(DecodeNpyHeader(std::span(bytes).first(size), "f"), kCorrupt, "bytes of header");
  }
  auto version = bytes;
  version[6] = std::byte{2};
  EXPECT_ERROR(DecodeNpyHeader(version, "f"), kCorrupt, "first bytes");
  auto length = bytes;
  length[8] = std::byte{0};
  EXPECT_ERROR(DecodeNpyHeader(length, "f"), kCorrupt, "header length");
}

TEST(NpyFileBytes, IsCheckedForOverflow) {
  EXPECT_EQ(*NpyFileBytes({3, 4}), 4096U + 48U);
  EXPECT_EQ(*NpyFileBytes({0, 4}), 4096U);
  EXPECT_EQ(*NpyFileBytes({3, 4, NpyElement::kBfloat16}), 4096U + 24U);
  EXPECT_ERROR(NpyFileBytes({1ULL << 62, 1}), kUsage, "too large");
  EXPECT_ERROR(NpyFileBytes({1ULL << 40, 1ULL << 40}), kUsage, "too large");
}

// A header as numpy.save writes it: the dictionary padded with blanks to a multiple of 64 bytes.
std::string NumPyHeader(const std::string& dictionary, char major = 1) {
  const std::size_t preamble = major == 1 ? 10 : 12;
  std::size_t length = preamble + dictionary.size() + 1;
  length += (64 - length % 64) % 64 - preamble;
  std::string out = "\x93NUMPY" + std::string(1, major) + std::string(1, '\0');
  for (std::size_t i = 8; i < preamble; ++i) out += static_cast<char>(length >> (8 * (i - 8)) & 0xFF);
  out += dictionary;
  out.resize(preamble + length - 1, ' ');
  return out + "\n";
}

TEST(NpyIntegers, AreReadFromAnyVersionAndLength) {
  for (const char major : {'\1', '\2', '\3'}) {
    const std::string header = NumPyHeader("{'descr': '<u4', 'fortran_order': False, 'shape': (70000, 3), }", major);
    ASSERT_OK_AND_ASSIGN(const std::size_t length, NpyHeaderLength(header.substr(0, kNpyPreambleBytes), "f"));
    EXPECT_EQ(length, header.size());
    ASSERT_OK_AND_ASSIGN(const NpyIntegers array, DecodeNpyIntegers(header, "f"));
    EXPECT_EQ(array, (NpyIntegers{.rows = 70000, .columns = 3, .value_bytes = 4, .is_signed = false}));
  }
  for (const auto& [type, expected] : {std::pair("<i4", NpyIntegers{1, 2, 4, true}),
                                       {"<i8", NpyIntegers{1, 2, 8, true}},
                                       {"<u8", NpyIntegers{1, 2, 8, false}}}) {
    const std::string dictionary = std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (1, 2)}";
    EXPECT_EQ(DecodeNpyIntegers(NumPyHeader(dictionary), "f").value(), expected) << type;
  }
}

TEST(NpyIntegers, OthersAreInputErrors) {
  for (const char* dictionary : {"", "{}", "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }",
                                 "{'descr': '>i8', 'fortran_order': False, 'shape': (1, 2), }",
                                 "{'descr': '<i2', 'fortran_order': False, 'shape': (1, 2), }",
                                 "{'descr': '<i8', 'fortran_order': True, 'shape': (1, 2), }",
                                 "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }",
                                 "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 2, 3), }",
                                 "{'descr': '<i8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
                                 "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 2), } x"}) {
    EXPECT_ERROR(DecodeNpyIntegers(NumPyHeader(dictionary), "f"), kInput, "f: found the header \"") << dictionary;
  }
  const std::string preamble = NumPyHeader("{}").substr(0, kNpyPreambleBytes);
  const auto with = [&](std::size_t at, char value) {
    std::string changed = preamble;
    changed[at] = value;
    return changed;
  };
  for (const std::string& wrong :
       {std::string(), preamble.substr(0, 11), with(0, 'x'), with(6, 0), with(6, 4), with(7, 1)}) {
    EXPECT_ERROR(NpyHeaderLength(wrong, "f"), kInput, "f: found the first bytes \"");
  }
  std::string long_header = with(6, 2);
  long_header.replace(8, 4, std::string("\x00\x00\x01\x00", 4));
  EXPECT_ERROR(NpyHeaderLength(long_header, "f"), kInput, "f: found a header of 65548 bytes, expected 12 to 65536");
  std::string no_header = with(8, 0);
  EXPECT_ERROR(NpyHeaderLength(no_header, "f"), kInput, "f: found a header of 10 bytes, expected 12 to 65536");
}

}  // namespace
}  // namespace octavo
