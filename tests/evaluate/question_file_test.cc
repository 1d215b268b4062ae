#include "evaluate/question_file.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/status.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/small_graph.h"

namespace octavo {
namespace {

class QuestionFileTest : public ::testing::Test {
 protected:
  QuestionFileTest() { Write({"0", "1"}); }

  void Write(std::vector<std::string> relations) {
    SmallGraph graph;
    graph.names = {"7", "8", "9", "New York"};
    graph.relations = std::move(relations);
    graph_ = WriteGraph(graph, folder_ / "graph");
  }

  std::string path() const { return (folder_ / "questions").string(); }

  // The questions, one per line; or the error.
  std::string Read(const std::string& text) {
    WriteFileBytes(path(), text);
    auto file = QuestionFile::Open(*graph_, path());
    if (!file.ok()) return std::string(MessageOf(file.status()));
    std::string all;
    while (true) {
      const auto question = file->Next();
      if (!question.ok()) return std::string(MessageOf(question.status()));
      if (!*question) break;
      const auto name = [&](NodeId node) { return std::string(graph_->nodes().Name(node)); };
      all += std::string((*question)->side == Side::kTail ? "tail of " : "head of ") + name((*question)->anchor) + " " +
             std::string(graph_->RelationName((*question)->relation)) + ": " + name((*question)->answer) + " not";
      for (const NodeId node : (*question)->candidates) all += " " + name(node);
      all += "\n";
    }
    if (file->unknown_questions().lines > 0) all += "unknown question: " + file->unknown_questions().first + "\n";
    if (file->unknown_candidates().lines > 0) all += "unknown candidate: " + file->unknown_candidates().first + "\n";
    return all;
  }

  // A NumPy array of 64-bit or 32-bit integers.
  template <typename Integer>
  static std::string Array(std::size_t rows, const std::vector<Integer>& values) {
    std::string header = "{'descr': '<i" + std::to_string(sizeof(Integer)) + "', 'fortran_order': False, 'shape': (" +
                         std::to_string(rows) + ", " + std::to_string(values.size() / rows) + "), }";
    header.resize(118 - 1, ' ');
    header += '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size());
    bytes += '\0';
    bytes += header;
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Integer));
    return bytes;
  }

  TemporaryFolder folder_;
  std::unique_ptr<Graph> graph_;
};

TEST_F(QuestionFileTest, ReadsBothSides) {
  EXPECT_EQ(Read("# two\n7\t0\t?\t8\t9\tNew York\r\n\n?\t1\tNew York\t9\t9\t7\t7\n"),
            "tail of 7 0: 8 not 9 New York\nhead of New York 1: 9 not 9 7 7\n");
}

TEST_F(QuestionFileTest, LeavesOutUnknownNames) {
  EXPECT_EQ(Read("x\t0\t?\t8\t9\n7\t0\t?\t8\ty\t9\n7\t2\t?\t8\t9\n7\t0\t?\tz\t9\n"),
            "tail of 7 0: 8 not 9\nunknown question: x\nunknown candidate: y\n");
}

TEST_F(QuestionFileTest, ReadsArrays) {
  EXPECT_EQ(Read(Array<std::int64_t>(2, {7, 0, -1, 8, 9, 9, -1, 1, 9, 8, 7, 100})),
            "tail of 7 0: 8 not 9 9\nhead of 9 1: 8 not 7\nunknown candidate: 100\n");
  EXPECT_EQ(Read(Array<std::int32_t>(1, {7, 0, -1, 8, 9})), "tail of 7 0: 8 not 9\n");
  std::string cut = Array<std::int32_t>(1, {7, 0, -1, 8, 9});
  cut.pop_back();
  EXPECT_EQ(Read(cut), path() + ": 147 bytes; expected 148 for a shape of (1, 5)");
  EXPECT_EQ(Read(Array<std::int32_t>(1, {7, 0, 1, 8, 9})).substr(0, path().size() + 36),
            path() + ": row 0: found 5 fields, \"7\\t0\\t1\\t8");
}

TEST_F(QuestionFileTest, OneRelationNeedNotBeNamed) {
  Write({"0"});
  EXPECT_EQ(Read("7\t?\t8\t9\n?\t7\t8\t9\t9\n7\t0\t?\t8\t9\n?\t0\t7\t8\t9\n"),
            "tail of 7 0: 8 not 9\nhead of 7 0: 8 not 9 9\ntail of 7 0: 8 not 9\nhead of 7 0: 8 not 9\n");
}

TEST_F(QuestionFileTest, NamesTheMalformedLine) {
  for (const char* line : {"7\t0\t9\t8\t9", "7", "7\t0\t?\t8", "7\t0\t?", "?\t0", "7\t?\t8\t9", "?", "?\t0\t7\t8"}) {
    const std::string error = Read("7\t0\t?\t8\t9\n" + std::string(line) + "\n");
    EXPECT_EQ(error.find(path() + ":2: found "), 0U) << line << ": " << error;
    EXPECT_NE(error.find("expected HEAD<TAB>RELATION<TAB>?<TAB>ANSWER<TAB>CANDIDATE"), std::string::npos) << error;
  }
}

TEST_F(QuestionFileTest, IsToldFromAListOfNames) {
  for (const auto& [text, expected] : {std::pair<std::string, bool>("7\n8\n", false),
                                       {"", false},
                                       {"# a\tb\nNew York\n", false},
                                       {"# a\n7\t0\t?\t8\t9\n", true},
                                       {Array<std::int32_t>(1, {7, 0, -1, 8, 9}), true}}) {
    WriteFileBytes(path(), text);
    ASSERT_OK_AND_ASSIGN(const bool is, QuestionFile::Is(path()));
    EXPECT_EQ(is, expected) << text;
  }
}

}  // namespace
}  // namespace octavo
