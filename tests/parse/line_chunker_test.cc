#include "parse/line_chunker.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "parse/record_parser.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

// The memory of `spare` is used for each chunk.
std::vector<std::string> Chunks(const std::string& text, const std::string& spare = {}) {
  TemporaryFolder folder;
  WriteFileBytes(folder / "input", text);
  LineChunker chunker(CompressedInput::Open((folder / "input").string()).value());
  std::vector<std::string> chunks;
  while (true) {
    std::optional<std::string> chunk = chunker.Next(spare).value();
    if (!chunk) return chunks;
    chunks.push_back(std::move(*chunk));
  }
}

std::string Joined(const std::vector<std::string>& chunks) {
  std::string text;
  for (const std::string& chunk : chunks) text += chunk;
  return text;
}

TEST(LineChunker, CutsAtLineEndsAndLosesNothing) {
  std::string text;
  for (int i = 0; text.size() < 3 * LineChunker::kChunkBytes; ++i)
    text += std::string(static_cast<std::size_t>(i % 90), 'x') + "\n";
  for (const std::string& ending : {std::string(), std::string("no line end")}) {
    const std::vector<std::string> chunks = Chunks(text + ending);
    EXPECT_GT(chunks.size(), 2U);
    EXPECT_TRUE(Joined(chunks) == text + ending);
    for (std::size_t i = 0; i + 1 < chunks.size(); ++i) EXPECT_EQ(chunks[i].back(), '\n');
  }
}

TEST(LineChunker, WritesOverWhatItsMemoryHeld) {
  std::string text;
  for (std::uint64_t i = 0; text.size() < 2 * LineChunker::kChunkBytes + 1000; ++i)
    text += std::to_string(i * i) + "\n";
  for (const std::size_t size : {std::size_t{1}, LineChunker::kChunkBytes, 3 * LineChunker::kChunkBytes}) {
    EXPECT_TRUE(Chunks(text, std::string(size, '\n')) == Chunks(text)) << size;
    EXPECT_TRUE(Chunks("", std::string(size, '\n')).empty());
  }
}

TEST(LineChunker, HandlesSizesAroundTheChunk) {
  for (const std::size_t size :
       {LineChunker::kChunkBytes - 1, LineChunker::kChunkBytes, LineChunker::kChunkBytes + 1}) {
    std::string text(size, 'x');
    text[size / 2] = '\n';
    EXPECT_TRUE(Joined(Chunks(text)) == text) << size;
    text.back() = '\n';
    EXPECT_TRUE(Joined(Chunks(text)) == text) << size;
  }
  EXPECT_TRUE(Chunks("").empty());
}

TEST(LineChunker, TakesOffAByteOrderMark) {
  EXPECT_EQ(Joined(Chunks("\xEF\xBB\xBF"
                          "a\tb\n")),
            "a\tb\n");
  EXPECT_EQ(Joined(Chunks("a\n\xEF\xBB\xBF"
                          "b\n")),
            "a\n\xEF\xBB\xBF"
            "b\n");
  EXPECT_TRUE(Chunks("\xEF\xBB\xBF").empty());
}

TEST(LineChunker, ShortensLinesFarAboveTheCapButKeepsThemAboveIt) {
  const std::string text = "first\n" + std::string(20 << 20, 'x') + "\nlast\n";
  const std::string joined = Joined(Chunks(text));
  EXPECT_LT(joined.size(), kMaxLineBytes + 2 * LineChunker::kChunkBytes);
  const std::size_t begin = joined.find('\n') + 1;
  const std::size_t end = joined.find('\n', begin);
  EXPECT_GT(end - begin, kMaxLineBytes);
  EXPECT_EQ(joined.substr(end), "\nlast\n");
  const std::string longest = std::string(kMaxLineBytes, 'x') + "\n";
  EXPECT_TRUE(Joined(Chunks(longest)) == longest);
}

// A device or a zstd bomb without a line end was read for ever.
TEST(LineChunker, ALineWithoutEndIsAnError) {
  TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/zero", folder / "endless");
  LineChunker chunker(CompressedInput::Open((folder / "endless").string()).value());
  EXPECT_ERROR(chunker.Next(), kInput, "endless: a line of more than 268435456 bytes, \"\\x00");
  // The position counts what was returned before.
  WriteFileBytes(folder / "input", "ab\n" + std::string(LineChunker::kEndlessLineBytes + (1 << 20), 'x'));
  LineChunker second(CompressedInput::Open((folder / "input").string()).value());
  EXPECT_EQ(*second.Next().value(), "ab\n");
  EXPECT_ERROR(second.Next(), kInput, "from byte 3 of the text on");
}

}  // namespace
}  // namespace octavo
