#include "serve/map_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>

#include "base/status.h"
#include "format/npy_header.h"
#include "report/node_survey.h"
#include "tests/evaluate/fixture.h"

namespace octavo {
namespace {

using testing::HasSubstr;

struct Record {
  float x;
  float y;
  std::uint8_t degree_range;
  std::uint8_t type;
  std::uint8_t cluster;
  std::uint8_t node_class;
};
static_assert(sizeof(Record) == kMapRecordBytes);

Record RecordOf(const MapPoints& points, std::uint64_t point) {
  Record record{};
  std::memcpy(&record, points.bytes->data() + point * kMapRecordBytes, sizeof(record));
  return record;
}

const FixtureOptions kOptions = {.nodes = 300, .relations = 3, .edges = {900, 20, 20}};

std::vector<std::uint64_t> Degrees(EmbeddedFixture& fixture) {
  std::vector<std::uint64_t> degrees(kOptions.nodes);
  for (const Edge& edge : fixture.graph().train) {
    ++degrees[Value(edge.head)];
    ++degrees[Value(edge.tail)];
  }
  return degrees;
}

TEST(MapPointsTest, HasEveryNodeWithItsDegreeAndPlace) {
  EmbeddedFixture fixture(kOptions);
  const auto points = MakeMapPoints(fixture.Embedded(), {.most_nodes = 1000});
  ASSERT_TRUE(points.ok()) << points.status();
  EXPECT_EQ(points->count, 300U);
  EXPECT_TRUE(points->nodes.empty());
  EXPECT_EQ(points->layout, "pca");
  ASSERT_EQ(points->bytes->size(), 300 * kMapRecordBytes);
  const std::vector<std::uint64_t> degrees = Degrees(fixture);
  std::map<std::uint64_t, std::map<std::uint64_t, int>> places;  // by node, edges at each side
  for (const Edge& edge : fixture.graph().train) {
    ++places[Value(edge.head)][2 * Value(edge.relation)];
    ++places[Value(edge.tail)][2 * Value(edge.relation) + 1];
  }
  int majorities = 0;
  for (std::uint64_t node = 0; node < 300; ++node) {
    const Record record = RecordOf(*points, node);
    EXPECT_TRUE(std::isfinite(record.x) && std::isfinite(record.y));
    EXPECT_EQ(points->degrees[node], degrees[node]);
    EXPECT_EQ(record.degree_range, DegreeNorms::DegreeRange(degrees[node]));
    ASSERT_LT(record.type, points->types.size());
    EXPECT_EQ(points->types[record.type] == "no edges", degrees[node] == 0);
    for (const auto& [place, count] : places[node]) {
      if (2 * static_cast<std::uint64_t>(count) <= degrees[node]) continue;
      ++majorities;
      EXPECT_EQ(points->types[record.type],
                fmt::format("{} of r{}", place % 2 == 0 ? "head" : "tail", 1000 + place / 2));
    }
  }
  EXPECT_GT(majorities, 20);
}

TEST(MapPointsTest, TakesTheHighestDegreesIfNotAllFit) {
  EmbeddedFixture fixture(kOptions);
  const auto points = MakeMapPoints(fixture.Embedded(), {.most_nodes = 50});
  ASSERT_TRUE(points.ok()) << points.status();
  ASSERT_EQ(points->nodes.size(), 50U);
  EXPECT_TRUE(std::ranges::is_sorted(points->nodes));
  const std::vector<std::uint64_t> degrees = Degrees(fixture);
  std::uint64_t least = UINT64_MAX;
  for (std::uint64_t i = 0; i < 50; ++i) {
    EXPECT_EQ(points->degrees[i], degrees[points->NodeOf(i)]);
    least = std::min(least, degrees[points->NodeOf(i)]);
  }
  for (std::uint64_t node = 0; node < 300; ++node) {
    if (std::ranges::binary_search(points->nodes, node)) continue;
    EXPECT_LE(degrees[node], least);
  }
}

TEST(MapPointsTest, ReadsCoordinates) {
  EmbeddedFixture fixture(kOptions);
  const std::filesystem::path path = fixture.folder().path() / "map.npy";
  std::vector<float> values;
  for (int i = 0; i < 300; ++i) values.insert(values.end(), {static_cast<float>(i), static_cast<float>(-i)});
  const MappedRun run = {.folder = "run", .run_id = {1, 2}, .nodes = 300};
  const auto write = [&](std::uint64_t rows) {
    const auto header = EncodeNpyHeader({rows, 2, NpyElement::kFloat32});
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(header.data()), static_cast<std::streamsize>(header.size()));
    file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(rows * 8));
  };
  write(300);
  const auto points = MakeMapPoints(fixture.Embedded(), {.most_nodes = 40, .run = run, .file = path.string()});
  ASSERT_TRUE(points.ok()) << points.status();
  EXPECT_EQ(points->layout, "file");
  for (std::uint64_t i = 1; i < 40; ++i) {
    // One line, in the order of the ids.
    EXPECT_LT(RecordOf(*points, i - 1).x, RecordOf(*points, i).x);
    EXPECT_NEAR(RecordOf(*points, i).x + RecordOf(*points, i).y, RecordOf(*points, 0).x + RecordOf(*points, 0).y, 1e-5);
  }
  write(299);
  EXPECT_THAT(std::string(MessageOf(
                  MakeMapPoints(fixture.Embedded(), {.most_nodes = 40, .run = run, .file = path.string()}).status())),
              HasSubstr("found float32 [299, 2]; expected float32 [300, 2], a point for each node"));
  values[7] = NAN;
  write(300);
  EXPECT_THAT(std::string(MessageOf(
                  MakeMapPoints(fixture.Embedded(), {.most_nodes = 300, .run = run, .file = path.string()}).status())),
              HasSubstr("node 3: found a coordinate that is not finite"));
}

}  // namespace
}  // namespace octavo
