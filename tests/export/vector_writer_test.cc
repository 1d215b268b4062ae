#include "export/vector_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/random.h"
#include "base/status.h"
#include "format/npy_header.h"
#include "oneapi/tbb/global_control.h"
#include "tests/support/small_graph.h"

namespace octavo {
namespace {

class VectorWriterTest : public testing::Test {
 protected:
  static constexpr std::size_t kColumns = 5;

  VectorWriterTest() : values_(2500 * kColumns) {
    std::vector<std::string> names = NumberedNames(2499);
    names.push_back("with a blank");
    graph_ = WriteGraph({.names = names}, folder_.path() / "graph");
    RandomStream random(4, RandomPurpose::kSplit, 0, 0);
    for (float& value : values_) value = random.NextNormal();
    std::fill_n(values_.begin() + 40, kColumns, 0.0F);
    reader_.emplace(WriteTable(values_, kColumns, kPartitionRowQuantum, folder_.path()));
  }

  std::string Write(const WriteOptions& options, std::uint64_t* names_changed = nullptr) {
    const std::string path = (folder_.path() / "out").string();
    auto output = OutputFile::Open(path);
    const auto report = WriteVectors(NodeVectors(*graph_, *reader_), options, *output);
    EXPECT_TRUE(report.ok());
    if (names_changed != nullptr) *names_changed = report->names_changed;
    EXPECT_TRUE(output->Commit().ok());
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryFolder folder_;
  std::unique_ptr<Graph> graph_;
  std::vector<float> values_;
  std::optional<TableReader> reader_;
};

TEST_F(VectorWriterTest, NpyIsTheTableItself) {
  std::ifstream file(folder_.path() / "embeddings.npy", std::ios::binary);
  const std::string table{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(Write({.format = VectorFormat::kNpy}), table);
}

TEST_F(VectorWriterTest, SameBytesForAnyBlockAndThreads) {
  for (const VectorFormat format :
       {VectorFormat::kNpy, VectorFormat::kWord2Vec, VectorFormat::kTsv, VectorFormat::kProjector,
        VectorFormat::kJsonLines, VectorFormat::kHdf5, VectorFormat::kCsv, VectorFormat::kSafetensors}) {
    const std::string first = Write({.format = format});
    for (const std::uint64_t bytes : {1U, 100U, 5000U})
      EXPECT_EQ(Write({.format = format, .block_bytes = bytes}), first);
    for (const std::size_t threads : {1U, 2U, 4U}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      EXPECT_EQ(Write({.format = format}), first);
    }
  }
}

TEST_F(VectorWriterTest, Word2VecTextReadsBack) {
  std::uint64_t changed = 0;
  std::istringstream text(Write({.format = VectorFormat::kWord2Vec}, &changed));
  EXPECT_EQ(changed, 1U);
  std::size_t rows = 0;
  std::size_t columns = 0;
  text >> rows >> columns;
  ASSERT_EQ(rows, 2500U);
  ASSERT_EQ(columns, kColumns);
  for (std::uint64_t row = 0; row < rows; ++row) {
    std::string name;
    text >> name;
    const std::string_view expected = graph_->nodes().Name(NodeId{row});
    EXPECT_EQ(name, expected == "with a blank" ? "with_a_blank" : expected);
    for (std::size_t i = 0; i < columns; ++i) {
      std::string number;
      text >> number;
      EXPECT_EQ(std::stof(number), values_[row * kColumns + i]);
    }
  }
  std::string rest;
  EXPECT_FALSE(text >> rest);
}

TEST_F(VectorWriterTest, NormalizesRowsButZeros) {
  const std::string npy = Write({.format = VectorFormat::kNpy, .normalize = true});
  std::vector<float> rows(values_.size());
  std::memcpy(rows.data(), npy.data() + npy.size() - rows.size() * sizeof(float), rows.size() * sizeof(float));
  for (std::size_t row = 0; row < 2500; ++row) {
    double sum = 0;
    double product = 0;
    double before = 0;
    for (std::size_t i = 0; i < kColumns; ++i) {
      const double x = rows[row * kColumns + i];
      const double old = values_[row * kColumns + i];
      sum += x * x;
      product += x * old;
      before += old * old;
    }
    EXPECT_NEAR(sum, row == 8 ? 0.0 : 1.0, 1e-6) << row;
    EXPECT_NEAR(product, std::sqrt(before), 1e-5) << row;  // the direction is kept
  }
}

TEST_F(VectorWriterTest, Int8HasAScaleARow) {
  const std::string path = (folder_.path() / "scales").string();
  auto scales = OutputFile::Open(path);
  const std::string rows = Write({.element = VectorElement::kInt8, .scales = &*scales, .block_bytes = 1000});
  ASSERT_TRUE(scales->Commit().ok());
  ASSERT_EQ(rows.size(), kNpyHeaderBytes + values_.size());
  std::ifstream file(path, std::ios::binary);
  file.seekg(kNpyHeaderBytes);
  for (std::size_t row = 0; row < 2500; ++row) {
    float scale = 0;
    ASSERT_TRUE(file.read(reinterpret_cast<char*>(&scale), sizeof(scale)));
    for (std::size_t i = row * kColumns; i < (row + 1) * kColumns; ++i) {
      const double value = static_cast<double>(static_cast<signed char>(rows[kNpyHeaderBytes + i])) * scale;
      EXPECT_LE(std::abs(value - values_[i]), scale * 0.5001) << row;
    }
  }
  EXPECT_EQ(file.get(), EOF);
}

TEST_F(VectorWriterTest, NumbersThatAFormatLacksAreErrors) {
  values_[7 * kColumns + 2] = std::nanf("");
  values_[9 * kColumns] = 70'000.0F;
  reader_.emplace(WriteTable(values_, kColumns, kPartitionRowQuantum, folder_.path()));
  const VectorTable table = NodeVectors(*graph_, *reader_);
  auto output = OutputFile::Open((folder_.path() / "out").string());
  auto scales = OutputFile::Open((folder_.path() / "scales").string());
  for (const WriteOptions& options : {WriteOptions{.format = VectorFormat::kJsonLines},
                                      WriteOptions{.element = VectorElement::kInt8, .scales = &*scales}}) {
    const auto report = WriteVectors(table, options, *output);
    ASSERT_FALSE(report.ok());
    EXPECT_THAT(std::string(report.status().message()), testing::HasSubstr("row 7 (\""));
    EXPECT_THAT(std::string(report.status().message()), testing::HasSubstr("column 2: found nan"));
  }
  const auto halves = WriteVectors(table, {.element = VectorElement::kFloat16}, *output);
  ASSERT_TRUE(halves.ok());
  EXPECT_EQ(halves->values_overflowed, 1U);
}

TEST_F(VectorWriterTest, NamesOneALine) {
  const std::string path = (folder_.path() / "names").string();
  auto output = OutputFile::Open(path);
  EXPECT_EQ(*WriteNames(NodeVectors(*graph_, *reader_), NamesForm::kLines, false, *output), 0U);
  ASSERT_TRUE(output->Commit().ok());
  std::ifstream file(path);
  std::string line;
  std::uint64_t row = 0;
  for (; std::getline(file, line); ++row) EXPECT_EQ(line, graph_->nodes().Name(NodeId{row}));
  EXPECT_EQ(row, 2500U);
}

TEST_F(VectorWriterTest, ReportsProgressAndErrors) {
  std::uint64_t last = 0;
  Write({.block_bytes = 10'000, .progress = [&](std::uint64_t rows) { last = rows; }});
  EXPECT_EQ(last, 2500U);
  std::filesystem::resize_file(folder_.path() / "embeddings.npy", 4096 + 100);
  auto output = OutputFile::Open((folder_.path() / "out2").string());
  const auto report = WriteVectors(NodeVectors(*graph_, *reader_), {}, *output);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(KindOf(report.status()), ErrorKind::kCorrupt);
}

}  // namespace
}  // namespace octavo
