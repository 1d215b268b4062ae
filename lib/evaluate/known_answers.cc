#include "evaluate/known_answers.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/parallel.h"
#include "base/status.h"
#include "oneapi/tbb/enumerable_thread_specific.h"

namespace octavo {
namespace {

constexpr Split kSplits[] = {Split::kTrain, Split::kValid, Split::kTest};

struct Answer {
  std::uint32_t question = 0;
  std::uint64_t node = 0;

  friend auto operator<=>(const Answer&, const Answer&) = default;
};

// Which cells can hold answers, and the scratch of one worker that reads them.
struct CellFilter {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::vector<bool> heads;  // partitions of the known nodes of Side::kTail
  std::vector<bool> tails;  // of Side::kHead

  bool Wanted(std::uint32_t partition) const { return partition >= first && partition < last; }
  bool HasTailAnswers(const BlockRecord& block) const {
    return Wanted(block.tail_partition) && heads[block.head_partition];
  }
  bool HasHeadAnswers(const BlockRecord& block) const {
    return Wanted(block.head_partition) && tails[block.tail_partition];
  }
};

struct Worker {
  std::vector<Edge> edges;
  std::vector<std::byte> scratch;
  std::vector<Answer> answers;
};

CellFilter MakeCellFilter(const Graph& graph, const QuestionIndex& questions, std::uint32_t first, std::uint32_t last) {
  const std::size_t partitions = graph.description().partition_count;
  CellFilter filter{first, last, std::vector<bool>(partitions), std::vector<bool>(partitions)};
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const std::uint64_t partition = Value(questions[i].known) / graph.description().partition_rows;
    (questions[i].side == Side::kTail ? filter.heads : filter.tails)[partition] = true;
  }
  return filter;
}

absl::Status ReadAnswers(const CellReader& cells, std::size_t block, const CellFilter& filter,
                         const QuestionIndex& questions, Worker& worker) {
  const BlockRecord& record = cells.block(block);
  const bool tail_answers = filter.HasTailAnswers(record);
  const bool head_answers = filter.HasHeadAnswers(record);
  if (!tail_answers && !head_answers) return absl::OkStatus();
  worker.edges.resize(record.edges);
  RETURN_IF_ERROR(cells.ReadBlock(block, worker.edges, worker.scratch));
  for (const Edge& edge : worker.edges) {
    if (tail_answers) {
      const std::uint32_t question = questions.Find({edge.head, edge.relation, Side::kTail});
      if (question != QuestionIndex::kAbsent) worker.answers.push_back({question, Value(edge.tail)});
    }
    if (head_answers) {
      const std::uint32_t question = questions.Find({edge.tail, edge.relation, Side::kHead});
      if (question != QuestionIndex::kAbsent) worker.answers.push_back({question, Value(edge.head)});
    }
  }
  return absl::OkStatus();
}

// Sorts each part, in parallel, and merges them pair by pair.
std::vector<Answer> SortAndMerge(std::vector<std::vector<Answer>> parts) {
  ParallelEach(0, parts.size(), [&](std::size_t i) { std::sort(parts[i].begin(), parts[i].end()); });
  while (parts.size() > 1) {
    std::vector<std::vector<Answer>> merged((parts.size() + 1) / 2);
    ParallelEach(0, merged.size(), [&](std::size_t i) {
      merged[i] = std::move(parts[2 * i]);
      if (2 * i + 1 == parts.size()) return;
      const auto middle = static_cast<std::ptrdiff_t>(merged[i].size());
      merged[i].insert(merged[i].end(), parts[2 * i + 1].begin(), parts[2 * i + 1].end());
      std::inplace_merge(merged[i].begin(), merged[i].begin() + middle, merged[i].end());
    });
    parts = std::move(merged);
  }
  return parts.empty() ? std::vector<Answer>() : std::move(parts.front());
}

}  // namespace

QuestionIndex::QuestionIndex(std::vector<LinkQuestion> questions) : questions_(std::move(questions)) {
  std::sort(questions_.begin(), questions_.end());
  questions_.erase(std::unique(questions_.begin(), questions_.end()), questions_.end());
  index_.reserve(questions_.size());
  for (std::size_t i = 0; i < questions_.size(); ++i) index_.emplace(questions_[i], static_cast<std::uint32_t>(i));
}

std::uint32_t QuestionIndex::Find(const LinkQuestion& question) const {
  const auto found = index_.find(question);
  return found == index_.end() ? kAbsent : found->second;
}

absl::StatusOr<KnownAnswers> KnownAnswers::Gather(const Graph& graph, const QuestionIndex& questions,
                                                  std::uint32_t first_partition, std::uint32_t last_partition) {
  const CellFilter filter = MakeCellFilter(graph, questions, first_partition, last_partition);
  tbb::enumerable_thread_specific<Worker> workers;
  std::mutex mutex;
  absl::Status status;  // guarded by mutex: the first error met
  for (const Split split : kSplits) {
    const CellReader& cells = graph.Edges(split);
    ParallelEach(0, cells.block_count(), [&](std::size_t block) {
      const absl::Status read = ReadAnswers(cells, block, filter, questions, workers.local());
      if (read.ok()) return;
      const std::lock_guard<std::mutex> lock(mutex);
      status.Update(read);
    });
    RETURN_IF_ERROR(status);
  }

  std::vector<std::vector<Answer>> parts;
  for (Worker& worker : workers) parts.push_back(std::move(worker.answers));
  std::vector<Answer> answers = SortAndMerge(std::move(parts));
  answers.erase(std::unique(answers.begin(), answers.end()), answers.end());

  KnownAnswers known;
  known.offsets_.assign(questions.size() + 1, 0);
  known.nodes_.reserve(answers.size());
  for (const Answer& answer : answers) {
    ++known.offsets_[answer.question + 1];
    known.nodes_.push_back(answer.node);
  }
  for (std::size_t i = 0; i < questions.size(); ++i) known.offsets_[i + 1] += known.offsets_[i];
  return known;
}

std::uint64_t EdgesOfPartitions(const Graph& graph, std::uint32_t first_partition, std::uint32_t last_partition) {
  const auto wanted = [&](std::uint32_t partition) {
    return partition >= first_partition && partition < last_partition;
  };
  std::uint64_t edges = 0;
  for (const Split split : kSplits) {
    const CellReader& cells = graph.Edges(split);
    for (std::size_t block = 0; block < cells.block_count(); ++block) {
      const BlockRecord& record = cells.block(block);
      if (wanted(record.head_partition) || wanted(record.tail_partition)) edges += record.edges;
    }
  }
  return edges;
}

}  // namespace octavo
