// Questions of a benchmark, each with its answer and its candidates, read one by one from a file.
//
// Text, plain, .gz or .zst: lines "HEAD<TAB>RELATION<TAB>?<TAB>ANSWER<TAB>CANDIDATE<TAB>CANDIDATE..." ask for a tail,
// lines "?<TAB>RELATION<TAB>TAIL<TAB>ANSWER<TAB>CANDIDATE..." for a head. Or a NumPy array (.npy) of integers with
// these columns, in which -1 stands for ? and other numbers are names. In a graph of one relation its column may be
// left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "evaluate/node_labels.h"
#include "graph/graph.h"
#include "model/model_spec.h"

namespace octavo {

struct GivenQuestion {
  Side side = Side::kTail;
  NodeId anchor{};
  RelationId relation{};
  NodeId answer{};
  std::vector<NodeId> candidates;  // in the order of the file
};

// One reader; not for concurrent use.
class QuestionFile {
 public:
  // Whether a file has questions and is no list of names: it begins as an array does, or has a tab in its first line.
  // Standard input ("-") is a list.
  static absl::StatusOr<bool> Is(const std::string& path);

  // `graph` must outlive the reader.
  static absl::StatusOr<QuestionFile> Open(const Graph& graph, const std::string& path);
  QuestionFile(QuestionFile&&) noexcept;
  ~QuestionFile();

  // Returns the next question; empty at the end. Skips questions with an unknown name other than a candidate's, and
  // leaves out unknown candidates. A malformed line is an input error "file:line: found, expected".
  absl::StatusOr<std::optional<GivenQuestion>> Next();

  const UnknownNames& unknown_questions() const { return unknown_questions_; }
  const UnknownNames& unknown_candidates() const { return unknown_candidates_; }

  // What a reader holds, apart from the window of a zstd frame.
  static constexpr std::uint64_t kBytes = std::uint64_t{4} << 20;

 private:
  class Fields;
  class Lines;
  class Rows;
  QuestionFile(const Graph& graph, std::unique_ptr<Fields> fields);
  void CountUnknown(UnknownNames& unknown, std::string_view name);

  const Graph* graph_;
  std::unique_ptr<Fields> fields_;
  UnknownNames unknown_questions_;   // "lines" are questions
  UnknownNames unknown_candidates_;  // "lines" are candidates
  std::uint64_t names_read_ = 0;
};

}  // namespace octavo
