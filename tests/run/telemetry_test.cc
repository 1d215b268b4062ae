#include "run/telemetry.h"

#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

TEST(EpochEventJson, HasTheKeysThatOthersRelyOn) {
  EpochEvent event;
  event.epoch = 3;
  event.loss = 0.25;
  event.edges = 100;
  event.exchange = Loading::kPopulated;
  event.read_bytes = std::uint64_t{1} << 53;
  const std::string line = ToJson(event);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(line);
  EXPECT_EQ(json["event"], "epoch");
  EXPECT_EQ(json["epoch"], 3);
  EXPECT_EQ(json["loss"], 0.25);
  EXPECT_EQ(json["edges"], 100);
  EXPECT_EQ(json["exchange"], "populated");
  EXPECT_EQ(json["read_bytes"], std::uint64_t{1} << 53);
  for (const char* key :
       {"event", "epoch", "loss", "edges", "seconds", "edges_per_second", "fetch_seconds", "compute_seconds",
        "apply_seconds", "stall_seconds", "windows", "prefetched_windows", "partition_loads", "planned_partition_loads",
        "planned_read_bytes", "read_bytes", "written_bytes", "peak_rss_bytes", "memory_bytes"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
}

TEST(MetricsKeys, AreThoseOfEachKind) {
  const EventKeys keys = MetricsKeys();
  EXPECT_EQ(keys.size(), 3U);
  EXPECT_TRUE(keys.at("init").contains("source"));
  EXPECT_TRUE(keys.at("epoch").contains("memory_bytes"));
  EXPECT_TRUE(keys.at("validation").contains("hits@10"));
}

class MetricsLogTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "metrics.jsonl";
};

TEST_F(MetricsLogTest, AppendsLines) {
  ASSERT_OK_AND_ASSIGN(MetricsLog log, MetricsLog::Open(path_, 0));
  EXPECT_EQ(log.bytes(), 0U);
  ASSERT_OK(log.Append(EpochEvent{.epoch = 1}));
  ASSERT_OK(log.Append(EpochEvent{.epoch = 2}));
  ASSERT_OK(log.Sync());
  const std::string first = SealLine(ToJson(EpochEvent{.epoch = 1}), 0);
  EXPECT_EQ(FileBytes(path_), first + SealLine(ToJson(EpochEvent{.epoch = 2}), first.size()));
  EXPECT_EQ(log.bytes(), FileBytes(path_).size());
}

TEST_F(MetricsLogTest, DropsWhatWasNotCommitted) {
  const std::string first = SealLine(ToJson(EpochEvent{.epoch = 1}), 0);
  WriteFileBytes(path_, first + ToJson(EpochEvent{.epoch = 2}) + "\n{\"event\":\"ep");
  ASSERT_OK_AND_ASSIGN(MetricsLog log, MetricsLog::Open(path_, first.size()));
  EXPECT_EQ(FileBytes(path_), first);
  ASSERT_OK(log.Append(EpochEvent{.epoch = 2, .loss = 7}));
  EXPECT_EQ(FileBytes(path_), first + SealLine(ToJson(EpochEvent{.epoch = 2, .loss = 7}), first.size()));
}

TEST_F(MetricsLogTest, RefusesAShorterFileAndLeavesItAsItIs) {
  EXPECT_ERROR(MetricsLog::Open(path_, 1), kCorrupt, "metrics.jsonl: 0 bytes; expected at least the 1 that were");
  EXPECT_FALSE(std::filesystem::exists(path_));
  WriteFileBytes(path_, "{}\n");
  EXPECT_ERROR(MetricsLog::Open(path_, 4), kCorrupt, "metrics.jsonl: 3 bytes; expected at least the 4 that were");
  EXPECT_EQ(FileBytes(path_), "{}\n");
  EXPECT_OK(MetricsLog::Open(path_, 3));
}

TEST_F(MetricsLogTest, ErrorsNameTheFile) {
  EXPECT_ERROR(MetricsLog::Open(folder_ / "absent" / "metrics.jsonl", 0), kRuntime, "metrics.jsonl");
  std::filesystem::create_directory(path_);
  EXPECT_ERROR(MetricsLog::Open(path_, 0), kCorrupt, "metrics.jsonl");
}

TEST(PeakResidentBytes, IsPlausible) {
  EXPECT_GT(PeakResidentBytes(), std::uint64_t{1} << 20);
  EXPECT_LT(PeakResidentBytes(), std::uint64_t{1} << 40);
}

}  // namespace
}  // namespace octavo
