// octavo query batch: answers the questions of a file, one per line.

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/count_text.h"
#include "base/escape.h"
#include "base/status.h"
#include "cmd/query.h"
#include "fmt/format.h"
#include "io/line_reader.h"
#include "query/answer_json.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kWindowBytes = 8 << 20;  // of a zstd frame: what every decoder should support (RFC 8878)
// One line, raw and parsed.
constexpr std::uint64_t kReaderBytes = kWindowBytes + 4 * LineReader::kMaxLineBytes;
// Searching for similar names takes up to a second and a quarter in a large graph. Whoever has more wrong names than
// this has the wrong graph.
constexpr std::uint64_t kSuggesting = 20;

absl::StatusOr<Question> ParseQuestion(std::string_view line) {
  Question question;
  std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) {
    question.words[0] = line;
    return question;
  }
  const std::string_view kind = line.substr(0, tab);
  std::vector<std::string_view> words;
  while (tab != std::string_view::npos && words.size() <= question.words.size()) {
    line.remove_prefix(tab + 1);
    tab = line.find('\t');
    words.push_back(line.substr(0, tab));
  }
  const bool predict = kind == "predict" && (words.size() == 2 || words.size() == 3);
  if (!predict && (kind != "neighbors" || words.size() != 1)) {
    return UsageError(
        fmt::format("found \"{}\" and {} field{} after it; expected neighbors<TAB>NAME, "
                    "predict<TAB>HEAD<TAB>RELATION<TAB>? or, without a tab, NAME",
                    Escape(kind), words.size(), words.size() == 1 ? "" : "s"));
  }
  if (predict) question.kind = Question::Kind::kPredict;
  std::copy(words.begin(), words.end(), question.words.begin());
  return question;
}

// Answers the lines in order and counts them.
class Batch {
 public:
  Batch(Program& program, const QueryFlags& flags, Answerer& answerer)
      : program_(program), flags_(flags), answerer_(answerer) {}

  absl::Status Run(LineReader& reader) {
    while (true) {
      ASSIGN_OR_RETURN(const std::optional<std::string_view> line, reader.NextLine());
      if (!line) return absl::OkStatus();
      ++line_;
      if (line->find_first_not_of(" \t") == std::string_view::npos) continue;
      ++questions_;
      const absl::StatusOr<Answer> answer = AnswerTo(*line);
      if (!answer.ok() && KindOf(answer.status()) != ErrorKind::kUsage) return answer.status();
      Print(*line, answer, reader);
    }
  }

  std::uint64_t questions() const { return questions_; }
  std::uint64_t refused() const { return refused_; }

 private:
  absl::StatusOr<Answer> AnswerTo(std::string_view line) {
    ASSIGN_OR_RETURN(const Question question, ParseQuestion(line));
    absl::StatusOr<Answer> answer = answerer_.Ask(question, flags_.k);
    // A name may contain blanks, so this is valid, but probably not intended.
    const bool as_typed =
        line.find('\t') == line.npos && (line.starts_with("neighbors ") || line.starts_with("predict "));
    if (answer.ok() || !as_typed || KindOf(answer.status()) != ErrorKind::kUsage) return answer;
    return UsageError(
        fmt::format("{}; the words of a question are separated by tabs here", MessageOf(answer.status())));
  }

  void Print(std::string_view line, const absl::StatusOr<Answer>& answer, const LineReader& reader) {
    if (!answer.ok()) ++refused_;
    if (!flags_.json) {
      if (!answer.ok()) {
        program_.reporter.Warning(fmt::format("{}: {}", reader.Place(), MessageOf(answer.status())));
        return;
      }
      if (std::exchange(printed_, true)) fmt::print("\n");
      PrintAnswer(*answer);
      return;
    }
    Json object = {{"question", line}, {"line", line_}};
    if (answer.ok()) {
      AddAnswer(*answer, object);
    } else {
      object["error"] = MessageOf(answer.status());
    }
    PrintObject(object);
  }

  Program& program_;
  const QueryFlags& flags_;
  Answerer& answerer_;
  std::uint64_t line_ = 0;
  std::uint64_t questions_ = 0;
  std::uint64_t refused_ = 0;
  bool printed_ = false;
};

}  // namespace

absl::Status RunBatch(Program& program, const QueryFlags& flags, const std::string& path) {
  ASSIGN_OR_RETURN(LineReader reader, LineReader::Open(path, {kWindowBytes, 0}));
  AnswerLimits limits;
  limits.most_answers = flags.k;
  limits.other_bytes = kReaderBytes;
  limits.suggesting = kSuggesting;
  ASSIGN_OR_RETURN(Answerer answerer, OpenAnswerer(program, flags, limits));
  Batch batch(program, flags, answerer);
  RETURN_IF_ERROR(batch.Run(reader));
  RETURN_IF_ERROR(CommitWarning(program, flags.run, answerer).Show());
  if (batch.refused() > 0) {
    program.reporter.Error(fmt::format("{}: {} of {} could not be answered", path == "-" ? "<stdin>" : path,
                                       batch.refused(), CountText(batch.questions(), "question")));
    program.exit_code = static_cast<int>(ErrorKind::kInput);
  }
  return absl::OkStatus();
}

}  // namespace octavo
