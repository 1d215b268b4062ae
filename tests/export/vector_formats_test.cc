#include "export/vector_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "base/random.h"
#include "base/status.h"

namespace octavo {
namespace {

std::string Name(VectorFormat format, std::string_view name, bool* changed = nullptr) {
  std::string out;
  const bool was_changed = AppendName(format, name, out);
  if (changed != nullptr) *changed = was_changed;
  return out;
}

TEST(VectorFormat, NamesAndParses) {
  for (const char* name :
       {"npy", "word2vec", "word2vec-binary", "tsv", "projector", "jsonl", "hdf5", "csv", "safetensors"}) {
    const auto format = ParseVectorFormat(name);
    ASSERT_TRUE(format.ok());
    EXPECT_EQ(VectorFormatName(*format), name);
  }
  EXPECT_EQ(*FormatOfEnding("a.b/vectors.npy"), VectorFormat::kNpy);
  EXPECT_EQ(*FormatOfEnding("vectors.txt.gz"), VectorFormat::kWord2Vec);
  EXPECT_EQ(*FormatOfEnding("vectors.vec"), VectorFormat::kWord2Vec);
  EXPECT_EQ(*FormatOfEnding("vectors.bin.zst"), VectorFormat::kWord2VecBinary);
  EXPECT_EQ(*FormatOfEnding("vectors.tsv"), VectorFormat::kTsv);
  EXPECT_EQ(*FormatOfEnding("vectors.jsonl"), VectorFormat::kJsonLines);
  EXPECT_EQ(*FormatOfEnding("vectors.h5"), VectorFormat::kHdf5);
  EXPECT_EQ(*FormatOfEnding("vectors.hdf5"), VectorFormat::kHdf5);
  EXPECT_EQ(*FormatOfEnding("a.txt/vectors"), VectorFormat::kNpy);
  EXPECT_EQ(*FormatOfEnding("-"), VectorFormat::kNpy);
  EXPECT_EQ(*FormatOfEnding("vectors.csv.gz"), VectorFormat::kCsv);
  EXPECT_EQ(*FormatOfEnding("vectors.safetensors"), VectorFormat::kSafetensors);
  for (const char* name : {"vectors.json", "vectors.parquet", "vectors.xyz.gz"}) {
    EXPECT_EQ(KindOf(FormatOfEnding(name).status()), ErrorKind::kUsage) << name;
  }
  const auto unknown = ParseVectorFormat("hdf");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(KindOf(unknown.status()), ErrorKind::kUsage);
}

TEST(AppendName, Word2VecHasNoBlanksAndIsUtf8) {
  const struct {
    std::string_view name;
    std::string_view expected;
  } cases[] = {{"plain", "plain"},
               {"Zürich-東京-🙂", "Zürich-東京-🙂"},
               {"New York", "New_York"},
               {"a\tb\nc\vd\fe\rf", "a_b_c_d_e_f"},
               {"", "_"},
               {" ", "_"},
               {"caf\xE9", "caf\xEF\xBF\xBD"},
               {"\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD"},                  // overlong
               {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},  // a surrogate
               {"\xE2\x82", "\xEF\xBF\xBD\xEF\xBF\xBD"}};                 // cut short
  for (const auto& [name, expected] : cases) {
    for (const VectorFormat format : {VectorFormat::kWord2Vec, VectorFormat::kWord2VecBinary}) {
      bool changed = false;
      EXPECT_EQ(Name(format, name, &changed), expected);
      EXPECT_EQ(changed, name != expected);
    }
  }
}

TEST(AppendName, TsvKeepsAllButItsDelimiters) {
  bool changed = true;
  EXPECT_EQ(Name(VectorFormat::kTsv, "New York \xE9", &changed), "New York \xE9");
  EXPECT_FALSE(changed);
  EXPECT_EQ(Name(VectorFormat::kTsv, "a\tb\nc\rd", &changed), "a_b_c_d");
  EXPECT_TRUE(changed);
}

TEST(AppendName, JsonIsEscapedAndUtf8) {
  const struct {
    std::string_view name;
    std::string_view expected;
    bool changed;
  } cases[] = {{"", "\"\"", false},
               {"Zürich 🙂", "\"Zürich 🙂\"", false},
               {"a\"b\\c/", "\"a\\\"b\\\\c/\"", false},
               {"\t\x1F\x7F", "\"\\u0009\\u001f\\u007f\"", false},
               {"\xC2\x9B 31m\xE2\x80\xAE\xC2\xA0", "\"\\u009b 31m\\u202e\xC2\xA0\"", false},
               {"caf\xE9", "\"caf\xEF\xBF\xBD\"", true}};
  for (const auto& [name, expected, was_changed] : cases) {
    for (const VectorFormat format : {VectorFormat::kJsonLines, VectorFormat::kHdf5}) {
      bool changed = !was_changed;
      EXPECT_EQ(Name(format, name, &changed), expected);
      EXPECT_EQ(changed, was_changed) << name;
    }
  }
}

TEST(AppendVector, DecimalsReadBackAsTheSameFloat) {
  std::vector<float> values = {0.0F, -0.0F, 1.0F, 0.1F, -1e-45F, 3.4028235e38F, 1.17549435e-38F, 123456789.0F};
  RandomStream random(1, RandomPurpose::kSplit, 0, 0);
  while (values.size() < 20'000) {
    const std::uint32_t bits = random.Next32();
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    if (std::isfinite(value)) values.push_back(value);
  }
  std::string line;
  AppendVector(VectorFormat::kTsv, "name", values, line);
  ASSERT_EQ(line.substr(0, 5), "name\t");
  const char* text = line.c_str() + 4;
  for (const float value : values) {
    ASSERT_EQ(*text, '\t');
    char* end = nullptr;
    const float read = std::strtof(text + 1, &end);
    EXPECT_EQ(std::memcmp(&read, &value, sizeof(value)), 0) << value;
    text = end;
  }
  EXPECT_STREQ(text, "\n");
}

TEST(AppendVector, LabelsHavePlacesInCsvAndJson) {
  const std::vector<float> row = {0.5F};
  std::string out = VectorHeader(VectorFormat::kCsv, VectorElement::kFloat32, 2, 1, /*labels=*/true).value();
  AppendVector(VectorFormat::kCsv, "Q42", row, out, "Adams, \"D\"");
  AppendVector(VectorFormat::kCsv, "Q5", row, out, "");
  EXPECT_EQ(out, "\"name\",\"label\",v1\n\"Q42\",\"Adams, \"\"D\"\"\",0.5\n\"Q5\",\"\",0.5\n");
  out.clear();
  AppendVector(VectorFormat::kJsonLines, "Q42", row, out, "D\tA");
  EXPECT_EQ(out, "{\"name\":\"Q42\",\"label\":\"D\\u0009A\",\"vector\":[0.5]}\n");
  for (const VectorFormat format : {VectorFormat::kTsv, VectorFormat::kWord2Vec}) {
    out.clear();
    AppendVector(format, "Q42", row, out, "label");
    EXPECT_EQ(out, format == VectorFormat::kTsv ? "Q42\t0.5\n" : "Q42 0.5\n");
  }
}

TEST(AppendVector, EachFormat) {
  const std::vector<float> row = {0.5F, -2.0F};
  const std::string bytes("\x00\x00\x00\x3F\x00\x00\x00\xC0", 8);
  const auto line = [&](VectorFormat format) {
    std::string out;
    EXPECT_EQ(AppendVector(format, "a b", row, out),
              format == VectorFormat::kWord2Vec || format == VectorFormat::kWord2VecBinary);
    return out;
  };
  EXPECT_EQ(line(VectorFormat::kNpy), bytes);
  EXPECT_EQ(line(VectorFormat::kWord2Vec), "a_b 0.5 -2\n");
  EXPECT_EQ(line(VectorFormat::kWord2VecBinary), "a_b " + bytes + "\n");
  EXPECT_EQ(line(VectorFormat::kTsv), "a b\t0.5\t-2\n");
  EXPECT_EQ(line(VectorFormat::kProjector), "0.5\t-2\n");
  EXPECT_EQ(line(VectorFormat::kJsonLines), "{\"name\":\"a b\",\"vector\":[0.5,-2]}\n");
  EXPECT_EQ(line(VectorFormat::kHdf5), bytes);
}

std::string Header(VectorFormat format, VectorElement element = VectorElement::kFloat32) {
  return VectorHeader(format, element, 7, 3).value();
}

TEST(VectorHeader, EachFormat) {
  EXPECT_EQ(Header(VectorFormat::kWord2Vec), "7 3\n");
  EXPECT_EQ(Header(VectorFormat::kWord2VecBinary), "7 3\n");
  for (const VectorFormat format : {VectorFormat::kTsv, VectorFormat::kProjector, VectorFormat::kJsonLines}) {
    EXPECT_EQ(Header(format), "");
  }
  const std::string npy = Header(VectorFormat::kNpy);
  EXPECT_EQ(npy.substr(0, 6), "\x93NUMPY");
  EXPECT_THAT(npy, testing::HasSubstr("(7, 3)"));
  EXPECT_EQ(npy.size() % 64, 0U);
  EXPECT_THAT(Header(VectorFormat::kNpy, VectorElement::kFloat16), testing::HasSubstr("'<f2'"));
  EXPECT_THAT(Header(VectorFormat::kNpy, VectorElement::kInt8), testing::HasSubstr("'|i1'"));
  EXPECT_EQ(Header(VectorFormat::kHdf5).substr(0, 8), "\x89HDF\r\n\x1A\n");
}

// The library's memory must not grow with the rows.
TEST(VectorHeader, OfAnHdf5FileOfManyRows) {
  const auto head = VectorHeader(VectorFormat::kHdf5, VectorElement::kFloat32, 5'000'000'000, 400);
  ASSERT_TRUE(head.ok()) << head.status().message();
  EXPECT_EQ(head->size(), Header(VectorFormat::kHdf5).size());
}

}  // namespace
}  // namespace octavo
