#include "tune/search_log.h"

#include <filesystem>
#include <string>

#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

using Kind = SearchEvent::Kind;

class SearchLogTest : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return folder_ / "tune.jsonl"; }
  absl::StatusOr<SearchLog> Open() const { return SearchLog::Open(path(), arguments_); }

  const TemporaryFolder folder_;
  const SearchArguments arguments_ = {{"--trials", "16"}, {"dim in --space", "[8, 16]"}};
  const SearchEvent result_ = {
      .kind = Kind::kResult,
      .trial = 3,
      .rung = 1,
      .epoch = 9,
      .scores =
          {.mrr = 1.0 / 3, .hits_at_1 = 0.1, .hits_at_3 = 0.2, .hits_at_10 = 2.0 / 3, .mean_rank = 12.5, .triples = 77},
      .seconds = 0.5,
      .fixed_seconds = 0.375};
  const SearchEvent failed_ = {
      .kind = Kind::kFailed, .trial = 4, .reason = "not finite at \"n\\1\"\n", .seconds = 0.25};
  const SearchEvent paused_ = {.kind = Kind::kPaused, .trial = 5, .seconds = 0.125, .fixed_seconds = 0.0625};
};

TEST_F(SearchLogTest, GivesBackCandidatesAndDecisions) {
  LoggedCandidates candidates = {
      .options = {TrainOptions(), TrainOptions()}, .note = "smaller", .seconds = 2, .larger_seconds = 9.5};
  candidates.options[1].negatives = 0;
  candidates.options[1].margin = 3.5;
  candidates.options[1].reciprocal = true;
  {
    ASSERT_OK_AND_ASSIGN(SearchLog log, Open());
    EXPECT_FALSE(log.candidates());
    ASSERT_OK(log.AppendCandidates(candidates));
    ASSERT_OK(log.Append({.kind = Kind::kBegun, .trial = 1}));
    ASSERT_OK(log.Append({.kind = Kind::kLeft, .trial = 2, .reason = "no time", .seconds = 0.5}));
  }
  ASSERT_OK_AND_ASSIGN(const SearchLog log, Open());
  EXPECT_EQ(log.seconds(), 2.5);
  ASSERT_TRUE(log.candidates());
  EXPECT_EQ(log.candidates()->note, "smaller");
  EXPECT_EQ(log.candidates()->larger_seconds, 9.5);
  ASSERT_EQ(log.candidates()->options.size(), 2U);
  for (const OptionField& field : TrainOptionFields()) {
    for (const std::size_t i : {0U, 1U}) {
      EXPECT_EQ(field.format(log.candidates()->options[i]), field.format(candidates.options[i])) << field.name;
    }
  }
  ASSERT_EQ(log.events().size(), 2U);
  EXPECT_EQ(log.events()[0].kind, Kind::kBegun);
  EXPECT_EQ(log.events()[1].kind, Kind::kLeft);
  EXPECT_EQ(log.events()[1].reason, "no time");
}

TEST_F(SearchLogTest, RefusesDamagedCandidates) {
  ASSERT_OK(Open());
  const std::string head = FileBytes(path());
  for (const std::string line :
       {R"({"event":"candidates"})", R"({"event":"candidates","note":"","seconds":1,"candidates":[]})",
        R"({"event":"candidates","note":"","seconds":1,"candidates":[{"dims":3}]})",
        R"({"event":"candidates","note":"","seconds":1,"candidates":[{"dim":-3}]})",
        R"({"event":"candidates","note":3,"seconds":1,"candidates":[{}]})",
        R"({"event":"candidates","note":"","seconds":1,"larger_seconds":"3","candidates":[{}]})",
        R"({"event":"candidates","note":"","seconds":1,"candidates":[7]})"}) {
    WriteFileBytes(path(), head + line + "\n");
    EXPECT_ERROR(Open(), kCorrupt, "tune.jsonl:2: expected the candidates of a search");
  }
}

TEST_F(SearchLogTest, GivesBackWhatWasAppended) {
  {
    ASSERT_OK_AND_ASSIGN(SearchLog log, Open());
    EXPECT_TRUE(log.events().empty());
    for (const SearchEvent& event : {result_, failed_, paused_}) ASSERT_OK(log.Append(event));
    EXPECT_EQ(log.seconds(), 0.875);
  }
  ASSERT_OK_AND_ASSIGN(const SearchLog log, Open());
  ASSERT_EQ(log.events().size(), 3U);
  EXPECT_EQ(log.seconds(), 0.875);
  const SearchEvent& result = log.events()[0];
  EXPECT_EQ(result.kind, Kind::kResult);
  EXPECT_EQ(result.trial, 3U);
  EXPECT_EQ(result.rung, 1U);
  EXPECT_EQ(result.epoch, 9U);
  EXPECT_EQ(result.scores.mrr, 1.0 / 3) << "to the last bit";
  EXPECT_EQ(result.scores.hits_at_10, 2.0 / 3);
  EXPECT_EQ(result.scores.mean_rank, 12.5);
  EXPECT_EQ(result.scores.triples, 77U);
  EXPECT_EQ(result.fixed_seconds, 0.375);
  EXPECT_EQ(log.events()[1].kind, Kind::kFailed);
  EXPECT_EQ(log.events()[1].reason, failed_.reason);
  EXPECT_EQ(log.events()[2].kind, Kind::kPaused);
  EXPECT_EQ(log.events()[2].trial, 5U);
  EXPECT_EQ(log.events()[2].fixed_seconds, 0.0625);
}

// A kill can truncate the last line anywhere.
TEST_F(SearchLogTest, ACutLineIsRemoved) {
  {
    ASSERT_OK_AND_ASSIGN(SearchLog log, Open());
    ASSERT_OK(log.Append(result_));
  }
  const std::string whole = FileBytes(path());
  const std::size_t head = whole.find('\n') + 1;
  for (std::size_t bytes = head; bytes < whole.size(); ++bytes) {
    WriteFileBytes(path(), whole.substr(0, bytes));
    ASSERT_OK_AND_ASSIGN(SearchLog log, Open());
    EXPECT_TRUE(log.events().empty());
    EXPECT_EQ(FileBytes(path()), whole.substr(0, head));
    ASSERT_OK(log.Append(result_));
    EXPECT_EQ(FileBytes(path()), whole);
  }
}

TEST_F(SearchLogTest, OtherArgumentsAreRefusedWithWhatDiffers) {
  ASSERT_OK(Open());
  const std::string before = FileBytes(path());
  const auto open = [&](const SearchArguments& arguments) { return SearchLog::Open(path(), arguments).status(); };
  EXPECT_ERROR(open({{"--trials", "8"}, {"dim in --space", "[8, 16]"}}), kUsage,
               "has a search with another --trials: found 8, expected 16");
  EXPECT_ERROR(open({{"--trials", "16"}, {"dim in --space", "[8]"}}), kUsage, "found [8], expected [8, 16]");
  EXPECT_ERROR(open({{"--trials", "16"}}), kUsage, "another dim in --space: found none, expected [8, 16]");
  EXPECT_ERROR(open({{"--trials", "16"}, {"batch in --space", "4"}, {"dim in --space", "[8, 16]"}}), kUsage,
               "another batch in --space: found 4, expected none");
  EXPECT_EQ(FileBytes(path()), before);
}

TEST_F(SearchLogTest, DamageIsNamedWithItsLine) {
  ASSERT_OK(Open());
  const std::string head = FileBytes(path());
  const auto check = [&](const std::string& text, const std::string& message) {
    WriteFileBytes(path(), text);
    EXPECT_ERROR(Open(), kCorrupt, "tune.jsonl" + message) << text;
  };
  check("", ":0: expected the arguments of a search");
  check("{}\n", ":1: expected the arguments of a search");
  check("[]\n", ":1: expected a JSON object");
  check("{\"event\":\"search\",\"format\":2,\"arguments\":{}}\n", ":1: expected the arguments of a search, format 1");
  check(head + "x\n", ":2: expected a JSON object");
  check(head + "{\"event\":\"other\",\"trial\":0,\"rung\":0,\"seconds\":0}\n", ":2: expected an event");
  check(head + "{\"event\":3,\"trial\":0,\"rung\":0,\"seconds\":0}\n", ":2: expected an event");
  check(head + "{\"event\":\"paused\",\"trial\":-1,\"rung\":0,\"seconds\":0}\n", ":2: expected an event");
  check(head + "{\"event\":\"paused\",\"trial\":0.5,\"rung\":0,\"seconds\":0}\n", ":2: expected an event");
  check(head + "{\"event\":\"paused\",\"trial\":0,\"rung\":0,\"seconds\":\"1\"}\n", ":2: expected an event");
  for (const std::string seconds : {"-1", "\"1\""}) {
    check(head + "{\"event\":\"paused\",\"trial\":0,\"rung\":0,\"seconds\":2,\"fixed_seconds\":" + seconds + "}\n",
          ":2: expected an event");
  }
  check(head + "{\"event\":\"failed\",\"trial\":0,\"rung\":0,\"seconds\":0}\n", ":2: expected an event");
  check(head + "{\"event\":\"result\",\"trial\":0,\"rung\":0,\"seconds\":0}\n", ":2: expected an event");
  check(head + SealLine("{\"event\":\"paused\",\"trial\":0,\"rung\":0,\"seconds\":0}", head.size()) + "\n",
        ":3: expected a JSON object");
}

// A result whose line end was damaged was taken for a line that a kill had cut, and was lost.
TEST_F(SearchLogTest, EveryChangedByteIsNoticed) {
  {
    ASSERT_OK_AND_ASSIGN(SearchLog log, Open());
    for (const SearchEvent& event : {result_, failed_, paused_}) ASSERT_OK(log.Append(event));
  }
  const std::string whole = FileBytes(path());
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    WriteFileBytes(path(), damaged);
    EXPECT_ERROR(Open(), kCorrupt, "tune.jsonl:") << damaged;
    EXPECT_EQ(FileBytes(path()), damaged);
  }
}

TEST_F(SearchLogTest, ALogFromBeforeThereWereChecksumsGoesOn) {
  const std::string head =
      "{\"event\":\"search\",\"format\":1,\"arguments\":{\"--trials\":\"16\",\"dim in --space\":\"[8, 16]\"}}\n";
  const std::string paused = "{\"event\":\"paused\",\"trial\":0,\"rung\":0,\"seconds\":1.0}\n";
  WriteFileBytes(path(), head + paused);
  {
    ASSERT_OK_AND_ASSIGN(SearchLog log, Open());
    ASSERT_OK(log.Append(result_));
  }
  ASSERT_OK_AND_ASSIGN(const SearchLog log, Open());
  EXPECT_EQ(log.events().size(), 2U);
  const std::string whole = FileBytes(path());
  WriteFileBytes(path(), whole + paused);
  EXPECT_ERROR(Open(), kCorrupt, "tune.jsonl:4: no \"checksum\"; expected one");
}

TEST_F(SearchLogTest, AFailedWriteOrSyncIsAnError) {
  ASSERT_OK_AND_ASSIGN(SearchLog log, Open());
  for (const std::string operation : {"tune.append", "file.write", "tune.sync", "file.sync"}) {
    ASSERT_OK(SetFailpoints(operation + "=eio"));
    const absl::Status status = log.Append(result_);
    ASSERT_OK(SetFailpoints(""));
    EXPECT_FALSE(status.ok()) << operation;
  }
}

}  // namespace
}  // namespace octavo
