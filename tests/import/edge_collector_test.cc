#include "import/edge_collector.h"

#include <string>
#include <vector>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "oneapi/tbb/global_control.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

class CollectEdgesTest : public ::testing::Test {
 protected:
  InputFile Write(const std::string& name, const std::string& text, EdgeSplit split = EdgeSplit::kTrain) {
    WriteFileBytes(folder_ / name, text);
    return {(folder_ / name).string(), split};
  }
  // Every edge as text, in input order.
  static std::vector<std::string> Texts(const CollectedEdges& collected) {
    std::vector<std::string> texts;
    for (const auto& chunk : collected.chunks) {
      for (const EdgeRecord& record : chunk) {
        const std::string relation =
            collected.columns.relation < 0 ? "-" : std::string(collected.relations.Text(record.relation()));
        texts.push_back(fmt::format("{} {} {} {} {}", collected.nodes.Text(record.head), relation,
                                    collected.nodes.Text(record.tail), record.weight,
                                    static_cast<int>(record.split())));
      }
    }
    return texts;
  }
  void TearDown() override { EXPECT_OK(SetFailpoints("")); }
  TemporaryFolder folder_;
  CollectOptions options_;
};

TEST_F(CollectEdgesTest, KeepsTheOrderAndPartsOfTheFiles) {
  CollectedEdges out;
  ASSERT_OK(CollectEdges({Write("a.tsv", "a\tr\tb\nb\ts\tc\n"), Write("b.csv", "c,r,\"d,e\"\n", EdgeSplit::kValid),
                          Write("c.txt", "a s b\n", EdgeSplit::kTest)},
                         options_, out));
  EXPECT_EQ(Texts(out), (std::vector<std::string>{"a r b 1 0", "b s c 1 0", "c r d,e 1 1", "a s b 1 2"}));
  EXPECT_EQ(out.formats, (std::vector<InputFormat>{InputFormat::kTsv, InputFormat::kCsv, InputFormat::kBlank}));
  EXPECT_EQ(out.file_edges, (std::vector<std::uint64_t>{2, 1, 1}));
  EXPECT_EQ(ColumnsText(out.columns), "head,relation,tail");
  EXPECT_EQ(out.lines, 4U);
  EXPECT_EQ(out.nodes.size(), 4U);
  EXPECT_EQ(out.relations.size(), 2U);
}

TEST_F(CollectEdgesTest, ColumnsOfTheFirstFileHoldForAll) {
  CollectedEdges out;
  const InputFile second = Write("b.tsv", "a\tb\n");
  EXPECT_ERROR(CollectEdges({Write("a.tsv", "a\tr\tb\n"), second}, options_, out), kInput,
               second.path + ":1: found 2 tsv columns");
}

TEST_F(CollectEdgesTest, NumbersLinesAcrossChunksAndFiles) {
  // About two megabytes, so four chunks; bad lines in the first and the last one.
  std::string text;
  for (int i = 1; i <= 120000; ++i) text += i == 5 || i == 119999 ? "bad\n" : fmt::format("n{}\tm{}\n", i, i);
  const InputFile first = Write("a.tsv", text);
  const InputFile second = Write("b.tsv", "# comment\nbad\n");
  options_.max_bad_lines = 3;
  CollectedEdges out;
  ASSERT_OK(CollectEdges({first, second}, options_, out));
  EXPECT_EQ(out.bad_lines, 3U);
  ASSERT_EQ(out.bad_line_messages.size(), 3U);
  EXPECT_TRUE(out.bad_line_messages[0].starts_with(first.path + ":5: found")) << out.bad_line_messages[0];
  EXPECT_TRUE(out.bad_line_messages[1].starts_with(first.path + ":119999: found")) << out.bad_line_messages[1];
  EXPECT_TRUE(out.bad_line_messages[2].starts_with(second.path + ":2: found")) << out.bad_line_messages[2];
  EXPECT_EQ(out.file_edges[0], 119998U);
}

TEST_F(CollectEdgesTest, TooManyBadLinesNameTheFirstOnesWhateverTheThreads) {
  std::string text;
  for (int i = 1; i <= 200000; ++i) text += i % 1000 == 0 ? "bad\n" : fmt::format("n{}\tm{}\n", i, i);
  const InputFile file = Write("a.tsv", text);
  std::string first_message;
  for (const std::size_t threads : {1U, 2U, 4U}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    for (int round = 0; round < 5; ++round) {
      CollectedEdges out;
      const absl::Status status = CollectEdges({file}, options_, out);
      EXPECT_ERROR(status, kInput, file.path + ":1000: found 1 tsv column");
      const std::string message(MessageOf(status));
      if (first_message.empty()) first_message = message;
      EXPECT_EQ(message, first_message);
    }
  }
}

TEST_F(CollectEdgesTest, ReadErrorsEndIt) {
  const InputFile file = Write("a.tsv", "a\tb\n");
  CollectedEdges out;
  ASSERT_OK(SetFailpoints("input.read:2=eio"));
  EXPECT_ERROR(CollectEdges({file}, options_, out), kRuntime, "Input/output error");
}

TEST_F(CollectEdgesTest, ReuseKeepsTheMemoryOfEdgesAndCountsIt) {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "aaaaaaaaaa\tbbbbbbbbbbbb\n";
  const std::vector<InputFile> files = {Write("a.tsv", text)};
  CollectedEdges out;
  options_.max_bytes = 1;  // a chunk at a time
  EdgeCollector collector(files, options_, out);
  std::vector<const EdgeRecord*> memory;
  std::uint64_t edges = 0;
  while (!collector.at_end()) {
    ASSERT_OK(collector.Collect());
    for (std::vector<EdgeRecord>& chunk : out.chunks) {
      edges += chunk.size();
      memory.push_back(chunk.data());
      chunk.clear();
    }
    Reuse(out);
    EXPECT_EQ(out.nodes.size(), 0U);
    EXPECT_GE(BytesOf(out), 20000 * sizeof(EdgeRecord));
  }
  EXPECT_EQ(edges, 200000U);
  std::ranges::sort(memory);
  EXPECT_NE(std::ranges::adjacent_find(memory), memory.end());
  Free(out);
  EXPECT_EQ(BytesOf(out), 0U);
}

TEST_F(CollectEdgesTest, StopEndsIt) {
  std::string text;
  for (int i = 0; i < 300000; ++i) text += "aaaaaaaaaa\tbbbbbbbbbbbb\n";
  const InputFile file = Write("a.tsv", text);
  options_.stop = [] { return true; };
  CollectedEdges out;
  EXPECT_TRUE(absl::IsCancelled(CollectEdges({file}, options_, out)));
}

TEST_F(CollectEdgesTest, TellsItsProgress) {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "aaaaaaaaaa\tbbbbbbbbbbbb\n";
  std::vector<std::uint64_t> edges;
  std::uint64_t bytes = 0;
  options_.progress = [&](std::uint64_t so_far, std::uint64_t read) {
    edges.push_back(so_far);
    bytes = read;
  };
  CollectedEdges out;
  ASSERT_OK(CollectEdges({Write("a.tsv", text)}, options_, out));
  EXPECT_GT(edges.size(), 2U);
  EXPECT_TRUE(std::is_sorted(edges.begin(), edges.end()));
  EXPECT_EQ(edges.back(), 200000U);
  EXPECT_EQ(bytes, text.size());
}

}  // namespace
}  // namespace octavo
