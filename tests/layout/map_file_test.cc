#include "layout/map_file.h"

#include <cmath>
#include <span>
#include <vector>

#include "base/random.h"
#include "format/npy_header.h"
#include "gtest/gtest.h"
#include "io/checksum.h"
#include "tests/support/damage.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

constexpr MapHeader kHeader = {
    .kind = MapKind::kNeighbors, .run_id = {11, 12}, .generation = 3, .seed = 4, .epochs = 5, .neighbors = 6};

class MapFileTest : public testing::Test {
 protected:
  MapFileTest() {
    RandomStream random(1, RandomPurpose::kGenerate, 0, 0);
    for (MapPoint& point : points_) point = {random.NextNormal(), random.NextNormal()};
    Write();
  }
  void Write() {
    auto output = OutputFile::Open(path_.string());
    ASSERT_OK(output);
    ASSERT_OK_AND_ASSIGN(header_, WriteMap(points_, kHeader, *output));
    ASSERT_OK(output->Commit());
    WriteHeader(header_);
  }
  void WriteHeader(const MapHeader& header) const {
    const auto bytes = EncodeMapHeader(header);
    WriteFileBytes(MapHeaderPath(path_), std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "map.npy";
  std::vector<MapPoint> points_ = std::vector<MapPoint>(300);
  MapHeader header_;
};

TEST_F(MapFileTest, ComesBack) {
  ASSERT_OK_AND_ASSIGN(const MapFile map, MapFile::Open(path_));
  EXPECT_TRUE(std::ranges::equal(map.points(), points_));
  map.ForgetPoints();
  EXPECT_TRUE(std::ranges::equal(map.points(), points_));
  EXPECT_EQ(map.path(), path_);
  EXPECT_EQ(map.header().kind, MapKind::kNeighbors);
  EXPECT_EQ(map.header().nodes, 300U);
  EXPECT_EQ(map.header().seed, 4U);
  EXPECT_EQ(map.header().epochs, 5U);
  EXPECT_EQ(map.header().neighbors, 6U);
  const std::string bytes = FileBytes(path_);
  ASSERT_OK_AND_ASSIGN(const NpyShape shape,
                       DecodeNpyHeader(std::as_bytes(std::span(bytes)).first(kNpyHeaderBytes), "map.npy"));
  EXPECT_EQ(shape, (NpyShape{.rows = 300, .columns = 2}));
  EXPECT_EQ(bytes.size(), kNpyHeaderBytes + 300 * 8);
}

TEST_F(MapFileTest, KnowsWhatItIsOf) {
  ASSERT_OK_AND_ASSIGN(const MapFile map, MapFile::Open(path_));
  EXPECT_EQ(map.Match({11, 12}, 3, 300), MapMatch::kCurrent);
  EXPECT_OK(map.CheckCurrent({11, 12}, 3, 300, "run"));
  EXPECT_EQ(map.Match({11, 12}, 4, 300), MapMatch::kStale);
  EXPECT_ERROR(map.CheckCurrent({11, 12}, 4, 300, "run"), kCorrupt,
               "map.npy: is of generation 3 of the run; run has generation 4; make the map again");
  EXPECT_EQ(map.Match({11, 13}, 3, 300), MapMatch::kForeign);
  EXPECT_EQ(map.Match({11, 12}, 3, 301), MapMatch::kForeign);
  EXPECT_ERROR(map.CheckCurrent({1, 12}, 3, 300, "run"), kCorrupt, "map.npy: is not a map of run run; make one with");
}

TEST_F(MapFileTest, AnyDamageIsRefused) {
  for (const std::filesystem::path& path : {path_, MapHeaderPath(path_)}) {
    ForEachDamage(path, path == path_ ? 128 : 128, 100, [&](const std::string& what, const std::string&) {
      const auto map = MapFile::Open(path_);
      ASSERT_FALSE(map.ok()) << what;
      // A longer header file is refused before it is read.
      if (what.find("longer") == std::string::npos) {
        EXPECT_EQ(KindOf(map.status()), ErrorKind::kCorrupt) << what;
      }
      EXPECT_NE(map.status().message().find(path_.string()), std::string::npos) << what;
    });
  }
}

TEST_F(MapFileTest, WhatIsMissingIsNamed) {
  std::filesystem::remove(MapHeaderPath(path_));
  EXPECT_ERROR(MapFile::Open(path_), kUsage, "map.npy.octavo: no such file");
  std::filesystem::remove(path_);
  EXPECT_ERROR(MapFile::Open(path_), kUsage, "map.npy: no such file");
}

// A forged file can have a valid checksum.
TEST_F(MapFileTest, WhatIsMadeUpIsRefused) {
  points_[7][1] = std::nanf("");
  Write();
  EXPECT_ERROR(MapFile::Open(path_), kCorrupt, "byte 4152: the point of node 7 is not finite");
  points_[7][1] = 0;
  Write();
  MapHeader header = header_;
  header.nodes = 299;
  WriteHeader(header);
  EXPECT_ERROR(MapFile::Open(path_), kCorrupt, "expected float32 [299, 2]");
  header.nodes = UINT64_MAX;
  WriteHeader(header);
  EXPECT_ERROR(MapFile::Open(path_), kCorrupt, "");
  const std::string bytes = FileBytes(path_);
  const auto head = EncodeNpyHeader({.rows = 600, .columns = 1});
  const std::string flat =
      std::string(reinterpret_cast<const char*>(head.data()), head.size()) + bytes.substr(head.size());
  WriteFileBytes(path_, flat);
  header = header_;
  header.file_checksum = Checksum64(std::as_bytes(std::span<const char>(flat)));
  WriteHeader(header);
  EXPECT_ERROR(MapFile::Open(path_), kCorrupt, "float32 [600, 1]; expected float32 [300, 2]");
}

}  // namespace
}  // namespace octavo
