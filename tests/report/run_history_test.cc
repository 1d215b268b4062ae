#include "report/run_history.h"

#include <cmath>

#include "base/status.h"
#include "format/sealed_lines.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

using ::testing::HasSubstr;

class RunHistoryTest : public ::testing::Test {
 protected:
  absl::StatusOr<RunHistory> Read(const std::string& text, std::uint64_t committed = UINT64_MAX) {
    WriteFileBytes(path_, text);
    return ReadRunHistory(path_, committed);
  }
  void ExpectCorrupt(const std::string& text, const std::string& message) {
    const absl::StatusOr<RunHistory> history = Read(text);
    ASSERT_FALSE(history.ok()) << text;
    EXPECT_EQ(KindOf(history.status()), ErrorKind::kCorrupt);
    EXPECT_THAT(std::string(MessageOf(history.status())), HasSubstr(path_.string() + message));
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "metrics.jsonl";
};

TEST_F(RunHistoryTest, ReadsWhatTheLogWrites) {
  EpochEvent epoch;
  epoch.epoch = 3;
  epoch.loss = 0.1;
  epoch.read_bytes = std::uint64_t{1} << 60;
  epoch.memory_bytes = 7;
  ValidationEvent validation;
  validation.epoch = 3;
  validation.scores.hits_at_10 = 0.75;
  ASSERT_OK_AND_ASSIGN(const RunHistory history, Read(ToJson(epoch) + "\n" + ToJson(validation) + "\n"));
  ASSERT_EQ(history.epochs.size(), 1U);
  ASSERT_EQ(history.validations.size(), 1U);
  EXPECT_EQ(ToJson(history.epochs[0]), ToJson(epoch));
  EXPECT_EQ(ToJson(history.validations[0]), ToJson(validation));
}

TEST_F(RunHistoryTest, AChangedEventIsCorrupt) {
  const std::string first = SealLine(R"({"event":"epoch","epoch":1,"loss":0.5})", 0);
  const std::string both = first + SealLine(R"({"event":"epoch","epoch":2,"loss":0.25})", first.size());
  ASSERT_OK_AND_ASSIGN(const RunHistory history, Read(both));
  EXPECT_EQ(history.epochs.size(), 2U);
  std::string changed = both;
  changed.replace(changed.find("0.25"), 4, "0.35");
  ExpectCorrupt(changed, ":2: checksum ");
}

TEST_F(RunHistoryTest, PassesOverWhatItDoesNotKnowAndWhatIsNotCommitted) {
  const std::string known = R"({"event":"epoch","epoch":1,"loss":null,"new":[1]})"
                            "\n";
  ASSERT_OK_AND_ASSIGN(const RunHistory history, Read(R"({"event":"probe","epoch":"x"})"
                                                      "\n" +
                                                      known));
  ASSERT_EQ(history.epochs.size(), 1U);
  EXPECT_TRUE(std::isnan(history.epochs[0].loss));
  EXPECT_EQ(history.epochs[0].read_bytes, 0U);
  ASSERT_OK_AND_ASSIGN(const RunHistory committed, Read(known + R"({"event":"epo)", known.size()));
  EXPECT_EQ(committed.epochs.size(), 1U);
  ASSERT_OK_AND_ASSIGN(const RunHistory none, ReadRunHistory(folder_ / "none", 100));
  EXPECT_TRUE(none.epochs.empty());
}

TEST_F(RunHistoryTest, NamesTheDamagedLine) {
  const std::string good = R"({"event":"epoch","epoch":1,"loss":2})"
                           "\n";
  ExpectCorrupt(good + "{\"event\"\n", ":2: found \"{\\\"event\\\"\"; expected a JSON object");
  ExpectCorrupt(good + good + "\n", ":3: found \"\"");
  ExpectCorrupt(good + R"({"event":"epoch","loss":1})", ":2: no \"epoch\"");
  ExpectCorrupt(R"({"event":"epoch","epoch":1,"loss":"low"})", ":1: \"loss\" is \\\"low\\\"; expected a number");
  ExpectCorrupt(R"({"event":"epoch","epoch":-1,"loss":1})", ":1: \"epoch\" is -1; expected a whole number");
  ExpectCorrupt(R"({"event":"validation","epoch":1,"mrr":[]})", ":1: \"mrr\" is array; expected a number");
  // Too deep for a recursive reader.
  ExpectCorrupt(R"({"event":"epoch","loss":1,"epoch":)" + std::string(1 << 20, '[') + std::string(1 << 20, ']') + "}",
                ":1: \"epoch\" is array; expected a whole number");
  ExpectCorrupt("[]", ":1: found \"[]\"");
}

}  // namespace
}  // namespace octavo
