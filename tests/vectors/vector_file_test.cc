#include "vectors/vector_file.h"

#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "export/vector_formats.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

using Named = std::pair<std::string, std::vector<float>>;

absl::StatusOr<std::vector<Named>> ReadFile(const std::filesystem::path& path,
                                            const std::filesystem::path& names = {}) {
  ASSIGN_OR_RETURN(const auto source, OpenVectorFile(path, names));
  std::vector<Named> list;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<NamedVector> vector, source->Next());
    if (!vector) return list;
    EXPECT_EQ(vector->values.size(), source->columns());
    list.push_back({std::string(vector->name), {vector->values.begin(), vector->values.end()}});
  }
}

class VectorFileTest : public ::testing::Test {
 protected:
  std::filesystem::path Write(const std::string& text, const std::string& name = "vectors") const {
    WriteFileBytes(folder_ / name, text);
    return folder_ / name;
  }
  const TemporaryFolder folder_;
};

TEST_F(VectorFileTest, ReadsWhatExportWrites) {
  const std::vector<Named> vectors = {{"#first", {0.1F, -3e-39F, std::numeric_limits<float>::max()}},
                                      {"%second", {1, 0, -0.0F}},
                                      {"\xC3\xBC\"", {3.14159274F, 1e-45F, 123456.789F}}};
  const auto names = Write("#first\n%second\n\xC3\xBC\"\n", "names");
  for (const VectorFormat format : {VectorFormat::kNpy, VectorFormat::kWord2Vec, VectorFormat::kWord2VecBinary}) {
    ASSERT_OK_AND_ASSIGN(std::string text, VectorHeader(format, VectorElement::kFloat32, vectors.size(), 3));
    for (const auto& [name, values] : vectors) AppendVector(format, name, values, text);
    const auto found = ReadFile(Write(text), format == VectorFormat::kNpy ? names : "");
    ASSERT_OK(found);
    EXPECT_TRUE(*found == vectors) << VectorFormatName(format);
  }
}

// Blanks at the end of a line, no line end after a binary vector, one vector whose bytes are digits, doubles.
TEST_F(VectorFileTest, ReadsTheOtherWaysOfWritingThem) {
  ASSERT_OK_AND_ASSIGN(const auto text, ReadFile(Write("2 2\r\na 1  2 \r\nb 1e-60 0.30000000000000004")));
  EXPECT_EQ(text, (std::vector<Named>{{"a", {1, 2}}, {"b", {0, 0.3F}}}));
  ASSERT_OK_AND_ASSIGN(const auto binary, ReadFile(Write(std::string("2 1\na \0\0\x80\x3F"
                                                                     "b 1234",
                                                                     4 + 6 + 6))));
  ASSERT_EQ(binary.size(), 2U);
  EXPECT_EQ(binary[0].second, (std::vector<float>{1}));
  EXPECT_EQ(binary[1].first, "b");
  // A float whose first byte is a line end.
  ASSERT_OK_AND_ASSIGN(const auto line_end, ReadFile(Write(std::string("1 1\na \n\0\x80\x3F", 10))));
  EXPECT_EQ(line_end, (std::vector<Named>{{"a", {std::bit_cast<float>(0x3F80000AU)}}}));
}

TEST_F(VectorFileTest, RefusesMalformedFilesWithTheirPlace) {
  const std::pair<std::string, std::string> cases[] = {
      {"", ":1: found \"\""},
      {"a b c\n", ":1: found \"a b c\""},
      {"2 70000\n", ":1: found"},
      {"-2 2\n", ":1: found"},
      {"2 2\na 1 2\nb 1\n", ":3: found \"\" for number 2 of \"b\"; expected 2 numbers"},
      {"2 2\na 1 2\nb 1 2 3\n", ":3: found \"3\" after number 2 of \"b\""},
      {"2 2\na 1 2\nb 1 x\n", ":3: found \"x\" for number 2"},
      {"2 2\na 1 2\n", ":3: found the end; expected 2 vectors"},
      {"1 2\na 1 2\nb 1 2\n", ":3: found another line; expected 1 vector,"},
      {"1 2\n 1 2\n", ":2: found \" 1 2\"; expected a name"},
      {"2 2\na 1 2\nb 1 nan\n", ":3: value 2 of \"b\" is nan; expected a finite number"},
      {"1 2\na 1e39 1\n", ":2: value 1 of \"a\" is inf"},
      {std::string("2 1\na \0\0\0\0b \0\0", 14), ": vector 2: found 2 bytes after \"b\"; expected 4"},
      {std::string("2 1\na \0\0\0\0", 10), ": vector 2: found the end"},
      {std::string("1 1\na \0\0\0\0b \0\0\0\0", 16), ": vector 2: found more bytes; expected 1 vector,"},
      {std::string("1 1\na \0\0\xC0\x7F", 10), ": vector 1: value 1 of \"a\" is nan"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_ERROR(ReadFile(Write(text)), kInput, (folder_ / "vectors").string() + message) << text;
  }
  EXPECT_ERROR(ReadFile(Write("1 1\na 1\n"), "names"), kUsage, "its own names");
  EXPECT_ERROR(ReadFile(folder_ / "absent"), kUsage, "absent");
}

TEST_F(VectorFileTest, RefusesArraysThatDoNotFitTheirNames) {
  ASSERT_OK_AND_ASSIGN(std::string text, VectorHeader(VectorFormat::kNpy, VectorElement::kFloat32, 2, 2));
  for (const float value : {1.0F, 2.0F, 3.0F, std::numeric_limits<float>::infinity()}) {
    AppendVector(VectorFormat::kNpy, "", std::vector<float>{value}, text);
  }
  const auto npy = Write(text, "v.npy");
  EXPECT_ERROR(ReadFile(npy), kUsage, "v.npy: a .npy file has no names");
  EXPECT_ERROR(ReadFile(npy, Write("a\n", "names")), kInput, "v.npy");
  EXPECT_ERROR(ReadFile(npy, Write("a\n", "names")), kInput, "names:1: found fewer names than the 2 rows");
  EXPECT_ERROR(ReadFile(npy, Write("a\nb\n", "names")), kInput, "v.npy: row 1: value 2 of \"b\" is inf");
  Write(text.substr(0, text.size() - 1), "v.npy");
  EXPECT_ERROR(ReadFile(npy, folder_ / "names"), kInput, "v.npy: 4111 bytes; expected 4112");
  text.resize(text.size() - 4);
  AppendVector(VectorFormat::kNpy, "", std::vector<float>{4}, text);
  Write(text, "v.npy");
  EXPECT_ERROR(ReadFile(npy, Write("a\nb\nc\n", "names")), kInput, "names:3: found more names than the 2 rows");
  EXPECT_OK(ReadFile(npy, Write("a\nb", "names")));
}

}  // namespace
}  // namespace octavo
