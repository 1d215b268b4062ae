#include "io/line_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/status.h"
#include "io/compressed_output.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

struct Lines {
  std::vector<std::string> text;
  std::vector<std::string> places;
  absl::Status status;
};

Lines ReadLines(const std::filesystem::path& path) {
  Lines lines;
  absl::StatusOr<LineReader> reader = LineReader::Open(path.string());
  if (!reader.ok()) return {{}, {}, reader.status()};
  while (true) {
    const absl::StatusOr<std::optional<std::string_view>> line = reader->Next();
    if (!line.ok()) lines.status = line.status();
    if (!line.ok() || !line->has_value()) return lines;
    lines.text.emplace_back(**line);
    lines.places.push_back(reader->Place().substr(path.string().size()));
  }
}

class LineReaderTest : public ::testing::Test {
 protected:
  Lines Read(const std::string& text) {
    WriteFileBytes(folder_ / "lines", text);
    return ReadLines(folder_ / "lines");
  }

  TemporaryFolder folder_;
};

TEST_F(LineReaderTest, GivesDataLinesWithTheirNumbers) {
  const Lines lines = Read(
      "\xEF\xBB\xBF"
      "a\tb\r\n\n# comment\n \t\n%\n  c \nlast");
  EXPECT_OK(lines.status);
  EXPECT_EQ(lines.text, (std::vector<std::string>{"a\tb", "  c ", "last"}));
  EXPECT_EQ(lines.places, (std::vector<std::string>{":1", ":6", ":7"}));
  EXPECT_TRUE(Read("").text.empty());
  EXPECT_TRUE(Read("\n\n").text.empty());
}

TEST_F(LineReaderTest, LinesAcrossPieces) {
  std::string text;
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < 3000; ++i) {
    expected.push_back(std::string(i % 211, 'x') + std::to_string(i));
    text += expected.back() + "\n";
  }
  expected.push_back(std::string(LineReader::kMaxLineBytes, 'y'));
  text += expected.back() + "\n";
  expected.push_back(std::string(LineReader::kPieceBytes - 1, 'z'));
  text += expected.back();
  const Lines lines = Read(text);
  EXPECT_OK(lines.status);
  EXPECT_EQ(lines.text, expected);
}

TEST_F(LineReaderTest, RefusesWhatIsNoText) {
  EXPECT_ERROR(Read("a\n" + std::string(LineReader::kMaxLineBytes + 1, 'x') + "\nb\n").status, kInput,
               "lines:2: found a line of more than 1048576 bytes");
  EXPECT_ERROR(Read(std::string(3 * LineReader::kMaxLineBytes, 'x')).status, kInput, "lines:1: found a line of more");
  EXPECT_ERROR(Read("a\n\nb" + std::string(1, '\0') + "c\n").status, kInput,
               "lines:3: found a NUL byte in \"b\\x00c\"");
  EXPECT_ERROR(ReadLines(folder_ / "none").status, kUsage, "none");
}

}  // namespace
}  // namespace octavo
