#include "io/compressed_output.h"

#include <string>

#include "gtest/gtest.h"
#include "io/compressed_input.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

TEST(CompressionOfExtension, GoesByTheEndOfTheName) {
  EXPECT_EQ(CompressionOfExtension("a.tsv.gz"), Compression::kGzip);
  EXPECT_EQ(CompressionOfExtension("a.zst"), Compression::kZstd);
  EXPECT_EQ(CompressionOfExtension("a.tsv"), Compression::kNone);
  EXPECT_EQ(CompressionOfExtension("gz"), Compression::kNone);
  EXPECT_EQ(CompressionOfExtension("-"), Compression::kNone);
}

TEST(CompressPiece, ConsecutivePiecesAreReadAsOneText) {
  const TemporaryFolder folder;
  const std::string first(100'000, 'a');
  const std::string second = "the second piece\n";
  for (const Compression compression : {Compression::kNone, Compression::kGzip, Compression::kZstd}) {
    std::string bytes;
    for (const std::string& piece : {first, second, std::string()}) {
      ASSERT_OK_AND_ASSIGN(const std::string compressed, CompressPiece(compression, piece));
      bytes += compressed;
    }
    EXPECT_EQ(bytes.size() < 2000, compression != Compression::kNone);
    const std::string path = (folder.path() / "pieces").string();
    WriteFileBytes(path, bytes);
    ASSERT_OK_AND_ASSIGN(const auto input, CompressedInput::Open(path));
    std::string text(first.size() + second.size() + 10, '\0');
    ASSERT_OK_AND_ASSIGN(const std::size_t got, input->Read(text));
    EXPECT_EQ(text.substr(0, got), first + second);
  }
}

}  // namespace
}  // namespace octavo
