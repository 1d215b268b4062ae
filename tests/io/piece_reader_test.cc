#include "io/piece_reader.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/support/cached_bytes.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

std::string TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class PieceReaderTest : public ::testing::Test {
 protected:
  PieceReaderTest() {
    for (std::size_t i = 0; i < 50'021; ++i) text_ += static_cast<char>(i * 131 >> 3);
    WriteFileBytes(path_, text_);
    SyncFile(path_);
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "file";
  std::string text_;
};

TEST_F(PieceReaderTest, ReadsAnyRangeInPiecesOfAnySize) {
  for (const bool deep : {false, true}) {
    for (const std::size_t piece : {4096U, 5000U, 16384U, 1U << 20}) {
      ASSERT_OK_AND_ASSIGN(PieceReader reader, PieceReader::Open(path_, {.piece_bytes = piece, .deep = deep}));
      EXPECT_EQ(reader.size(), text_.size());
      for (const auto& [begin, end] : {std::pair(0U, 50'021U), {1U, 4096U}, {64U, 50'000U}, {4095U, 4097U}, {7U, 7U}}) {
        std::string found;
        ASSERT_OK(reader.Read(begin, end, [&](std::span<const std::byte> bytes) {
          EXPECT_LE(bytes.size(), piece);
          EXPECT_FALSE(bytes.empty());
          found += TextOf(bytes);
          return absl::OkStatus();
        }));
        EXPECT_EQ(found, text_.substr(begin, end - begin)) << piece << " " << begin;
      }
    }
  }
}

TEST_F(PieceReaderTest, GivesWindowsForwardsAndBackwards) {
  ASSERT_OK_AND_ASSIGN(PieceReader reader, PieceReader::Open(path_, {.piece_bytes = 4096}));
  for (const std::uint64_t begin : {0U, 10U, 4000U, 8191U, 45'925U, 12'288U, 3U}) {
    ASSERT_OK_AND_ASSIGN(const auto window, reader.Bytes(begin, begin + 4096));
    EXPECT_EQ(TextOf(window), text_.substr(begin, 4096)) << begin;
  }
}

TEST_F(PieceReaderTest, TheEndOfTheFileIsACorruptError) {
  ASSERT_OK_AND_ASSIGN(PieceReader reader, PieceReader::Open(path_, {}));
  EXPECT_ERROR(reader.Bytes(50'000, 50'022), kCorrupt, "ends at byte 50021");
  std::filesystem::resize_file(path_, 100);
  EXPECT_ERROR(reader.Bytes(0, 200), kCorrupt, "ends at byte 100");
  EXPECT_ERROR(reader.Bytes(0, 200), kCorrupt, "ends at byte 100") << "nothing of the failed read stays";
  EXPECT_ERROR(PieceReader::Open(folder_ / "absent", {}), kUsage, "absent");
}

TEST_F(PieceReaderTest, StopsAtTheErrorOfTheVisitor) {
  ASSERT_OK_AND_ASSIGN(PieceReader reader, PieceReader::Open(path_, {.piece_bytes = 4096}));
  int calls = 0;
  EXPECT_ERROR(
      reader.Read(0, 50'021,
                  [&](std::span<const std::byte>) { return ++calls == 3 ? RuntimeError("enough") : absl::OkStatus(); }),
      kRuntime, "enough");
  EXPECT_EQ(calls, 3);
}

TEST_F(PieceReaderTest, DeepReadsPastThePageCache) {
  OCTAVO_REQUIRE_DISK(folder_.path());
  const auto read = [&](const PieceOptions& options) {
    ASSERT_OK_AND_ASSIGN(PieceReader reader, PieceReader::Open(path_, options));
    ASSERT_OK(reader.Read(0, reader.size(), [](std::span<const std::byte>) { return absl::OkStatus(); }));
  };
  read({});
  EXPECT_GE(CachedBytes(path_), text_.size());
  read({.piece_bytes = 8192, .deep = true});
  EXPECT_EQ(CachedBytes(path_), 0U);
  read({});
  read({.piece_bytes = 8192, .drop_behind = true});
  EXPECT_EQ(CachedBytes(path_), 0U);
}

}  // namespace
}  // namespace octavo
