#include "evaluate/known_answers.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/hash/hash.h"
#include "base/parallel.h"
#include "base/status.h"
#include "oneapi/tbb/enumerable_thread_specific.h"
#include "oneapi/tbb/parallel_sort.h"

namespace octavo {
namespace {

constexpr std::size_t kBlocksOfTask = 2;  // blocks that one task reads: up to 128 KiB
constexpr std::size_t kGrain = 1024;      // questions or answers per task
constexpr Split kSplits[] = {Split::kTrain, Split::kValid, Split::kTest};

struct Answer {
  std::uint32_t question = 0;
  std::uint64_t node = 0;
};

// Selects the cells that can hold answers.
struct CellFilter {
  AnswerRange nodes;
  std::uint32_t first = 0;  // partitions of the nodes
  std::uint32_t last = 0;
  std::vector<bool> heads;  // partitions of the anchors of questions with Side::kTail
  std::vector<bool> tails;  // with Side::kHead

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

CellFilter MakeCellFilter(const Graph& graph, const QuestionIndex& questions, const AnswerRange& nodes) {
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

std::size_t TaskCount(const CellReader& cells) { return (cells.block_count() + kBlocksOfTask - 1) / kBlocksOfTask; }

// Reads one task of blocks and subtracts its answers from `room`. Does nothing once `room` is used up.
absl::Status ReadBlocks(const CellReader& cells, std::size_t task, const CellFilter& filter,
                        const QuestionIndex& questions, Worker& worker, std::atomic<std::int64_t>& room) {
  const std::size_t first = task * kBlocksOfTask;
  const std::size_t last = std::min(first + kBlocksOfTask, cells.block_count());
  const auto wanted = [&](std::size_t block) {
    return filter.HasTailAnswers(cells.block(block)) || filter.HasHeadAnswers(cells.block(block));
  };
  if (wanted(first) && wanted(last - 1)) cells.WillRead(first, last);
  absl::Status status;
  for (std::size_t block = first; block < last; ++block) {
    // Relaxed: it only ends the reading early. The result is checked when all threads are done.
    if (room.load(std::memory_order_relaxed) < 0) break;
    const std::size_t before = worker.answers.size();
    status.Update(ReadAnswers(cells, block, filter, questions, worker));
    room.fetch_sub(static_cast<std::int64_t>(worker.answers.size() - before), std::memory_order_relaxed);
  }
  cells.Forget(first, last);
  return status;
}

// Reads all splits in one parallel loop, so that no thread waits for the end of a small split.
absl::Status ReadSplits(const Graph& graph, const CellFilter& filter, const QuestionIndex& questions,
                        tbb::enumerable_thread_specific<Worker>& workers, std::atomic<std::int64_t>& room) {
  std::size_t tasks = 0;
  for (const Split split : kSplits) tasks += TaskCount(graph.Edges(split));
  std::mutex mutex;
  absl::Status status;  // guarded by mutex: the first error met
  ParallelEach(0, tasks, [&](std::size_t task) {
    auto split = std::begin(kSplits);
    for (; task >= TaskCount(graph.Edges(*split)); ++split) task -= TaskCount(graph.Edges(*split));
    const absl::Status read = ReadBlocks(graph.Edges(*split), task, filter, questions, workers.local(), room);
    if (read.ok()) return;
    const std::lock_guard<std::mutex> lock(mutex);
    status.Update(read);
  });
  return status;
}

// Calls use(answer) for each answer, in parallel.
template <typename Use>
void ForEachAnswer(tbb::enumerable_thread_specific<Worker>& workers, const Use& use) {
  for (const Worker& worker : workers) {
    ParallelRanges(0, worker.answers.size(), kGrain, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) use(worker.answers[i]);
    });
  }
}

// Returns the previous value. Relaxed: read after the loop has been joined.
std::uint64_t Increment(std::uint64_t& count) {
  return std::atomic_ref<std::uint64_t>(count).fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

QuestionIndex::QuestionIndex(std::vector<LinkQuestion> questions) : questions_(std::move(questions)) {
  tbb::parallel_sort(questions_.begin(), questions_.end());
  questions_.erase(std::unique(questions_.begin(), questions_.end()), questions_.end());
  slots_.assign(std::bit_ceil(2 * questions_.size()), kAbsent);
  ParallelRanges(0, questions_.size(), kGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      for (std::size_t slot = SlotOf(questions_[i]);; slot = After(slot)) {
        std::uint32_t free = kAbsent;
        // Relaxed: the table is read after the loop has been joined.
        if (std::atomic_ref<std::uint32_t>(slots_[slot])
                .compare_exchange_strong(free, static_cast<std::uint32_t>(i), std::memory_order_relaxed)) {
          break;
        }
      }
    }
  });
}

std::size_t QuestionIndex::SlotOf(const LinkQuestion& question) const {
  const auto key = std::make_tuple(Value(question.known), Value(question.relation), question.side == Side::kHead);
  return absl::Hash<decltype(key)>()(key) & (slots_.size() - 1);
}

std::uint32_t QuestionIndex::Find(const LinkQuestion& question) const {
  for (std::size_t slot = SlotOf(question);; slot = After(slot)) {
    const std::uint32_t index = slots_[slot];
    if (index == kAbsent || questions_[index] == question) return index;
  }
}

absl::StatusOr<std::optional<KnownAnswers>> KnownAnswers::Gather(const Graph& graph, const QuestionIndex& questions,
                                                                 const AnswerRange& nodes, std::uint64_t max_answers) {
  const CellFilter filter = MakeCellFilter(graph, questions, nodes);
  tbb::enumerable_thread_specific<Worker> workers;
  std::atomic<std::int64_t> room{static_cast<std::int64_t>(std::min<std::uint64_t>(max_answers, INT64_MAX))};
  RETURN_IF_ERROR(ReadSplits(graph, filter, questions, workers, room));
  if (room < 0) return std::optional<KnownAnswers>();

  // A counting sort by question, then a sort by node within each question.
  KnownAnswers known;
  known.ends_.assign(questions.size(), 0);
  ForEachAnswer(workers, [&](const Answer& answer) { Increment(known.ends_[answer.question]); });
  known.begins_.resize(questions.size());
  std::exclusive_scan(known.ends_.begin(), known.ends_.end(), known.begins_.begin(), std::uint64_t{0});
  known.nodes_ = std::make_unique_for_overwrite<std::uint64_t[]>(
      questions.size() == 0 ? 0 : known.begins_.back() + known.ends_.back());
  known.ends_ = known.begins_;
  ForEachAnswer(workers,
                [&](const Answer& answer) { known.nodes_[Increment(known.ends_[answer.question])] = answer.node; });
  ParallelRanges(0, questions.size(), kGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      std::uint64_t* const begin = known.nodes_.get() + known.begins_[i];
      std::uint64_t* const end = known.nodes_.get() + known.ends_[i];
      std::sort(begin, end);
      known.ends_[i] = known.begins_[i] + static_cast<std::uint64_t>(std::unique(begin, end) - begin);
    }
  });
  return known;
}

}  // namespace octavo
