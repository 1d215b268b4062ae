#include "evaluate/known_answers.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "base/parallel.h"
#include "base/status.h"
#include "oneapi/tbb/enumerable_thread_specific.h"

namespace octavo {
namespace {

constexpr std::size_t kGroupBlocks = 8;  // that one task reads: up to half a MiB
constexpr Split kSplits[] = {Split::kTrain, Split::kValid, Split::kTest};

struct Answer {
  std::uint32_t question = 0;
  std::uint64_t node = 0;

  friend auto operator<=>(const Answer&, const Answer&) = default;
};

// Which cells can hold answers.
struct CellFilter {
  NodeRange nodes;
  std::uint32_t first = 0;  // partitions with those nodes
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

// The scratch of one thread.
struct Worker {
  std::vector<Edge> edges;
  std::vector<std::byte> scratch;
  std::vector<Answer> answers;
};

CellFilter MakeCellFilter(const Graph& graph, const QuestionIndex& questions, const NodeRange& nodes) {
  const std::size_t partitions = graph.description().partition_count;
  const std::uint64_t rows = graph.description().partition_rows;
  CellFilter filter{nodes, static_cast<std::uint32_t>(nodes.first / rows),
                    static_cast<std::uint32_t>((nodes.last + rows - 1) / rows), std::vector<bool>(partitions),
                    std::vector<bool>(partitions)};
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const std::uint64_t partition = Value(questions[i].known) / rows;
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
    if (tail_answers && filter.nodes.Contains(edge.tail)) {
      const std::uint32_t question = questions.Find({edge.head, edge.relation, Side::kTail});
      if (question != QuestionIndex::kAbsent) worker.answers.push_back({question, Value(edge.tail)});
    }
    if (head_answers && filter.nodes.Contains(edge.head)) {
      const std::uint32_t question = questions.Find({edge.tail, edge.relation, Side::kHead});
      if (question != QuestionIndex::kAbsent) worker.answers.push_back({question, Value(edge.head)});
    }
  }
  return absl::OkStatus();
}

// Reads all blocks of one split, in parallel, until more than `room` answers were found; takes those found from it.
absl::Status ReadSplit(const CellReader& cells, const CellFilter& filter, const QuestionIndex& questions,
                       tbb::enumerable_thread_specific<Worker>& workers, std::atomic<std::int64_t>& room) {
  std::mutex mutex;
  absl::Status status;  // guarded by mutex: the first error met
  ParallelEach(0, (cells.block_count() + kGroupBlocks - 1) / kGroupBlocks, [&](std::size_t group) {
    const std::size_t first = group * kGroupBlocks;
    const std::size_t last = std::min(first + kGroupBlocks, cells.block_count());
    Worker& worker = workers.local();
    const auto wanted = [&](std::size_t block) {
      return filter.HasTailAnswers(cells.block(block)) || filter.HasHeadAnswers(cells.block(block));
    };
    if (wanted(first) && wanted(last - 1)) cells.WillRead(first, last);
    for (std::size_t block = first; block < last; ++block) {
      // Relaxed: it only ends the reading early. What was found is looked at when all threads are done.
      if (room.load(std::memory_order_relaxed) < 0) break;
      const std::size_t before = worker.answers.size();
      const absl::Status read = ReadAnswers(cells, block, filter, questions, worker);
      room.fetch_sub(static_cast<std::int64_t>(worker.answers.size() - before), std::memory_order_relaxed);
      if (read.ok()) continue;
      const std::lock_guard<std::mutex> lock(mutex);
      status.Update(read);
    }
    cells.Forget(first, last);
  });
  return status;
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

absl::StatusOr<std::optional<KnownAnswers>> KnownAnswers::Gather(const Graph& graph, const QuestionIndex& questions,
                                                                 const NodeRange& nodes, std::uint64_t max_answers) {
  const CellFilter filter = MakeCellFilter(graph, questions, nodes);
  tbb::enumerable_thread_specific<Worker> workers;
  std::atomic<std::int64_t> room{static_cast<std::int64_t>(std::min<std::uint64_t>(max_answers, INT64_MAX))};
  for (const Split split : kSplits) {
    RETURN_IF_ERROR(ReadSplit(graph.Edges(split), filter, questions, workers, room));
    if (room < 0) return std::optional<KnownAnswers>();
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

}  // namespace octavo
