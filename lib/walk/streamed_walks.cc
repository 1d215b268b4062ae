#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "walk/adjacency.h"
#include "walk/step_rule.h"
#include "walk/walk_source.h"
#include "walk/walker_file.h"

namespace octavo {
namespace {

// Walks that one task starts.
constexpr std::uint64_t kWalksPerTask = 4096;

// The neighbours of each range, stored in a temporary file.
class RangeFile {
 public:
  static absl::StatusOr<RangeFile> Build(const WalkSource& source) {
    RangeFile ranges(source);
    ASSIGN_OR_RETURN(ranges.file_, SpillFile::Create(source.folder / kAdjacencyFileName, source.use));
    for (const PartitionRange& range : source.plan.ranges) {
      RETURN_IF_ERROR(source.CheckStop());
      ASSIGN_OR_RETURN(const Adjacency rows, source.Rows(range));
      ASSIGN_OR_RETURN(const SpillExtent extent, rows.Save(*ranges.file_));
      ranges.extents_.push_back(extent);
    }
    RETURN_IF_ERROR(ranges.file_->FinishWriting());
    return ranges;
  }

  absl::StatusOr<Adjacency> Load(std::size_t range) const {
    return Adjacency::Load(*file_, extents_[range], source_.plan.ranges[range], source_.weighted());
  }

 private:
  explicit RangeFile(const WalkSource& source) : source_(source) {}

  const WalkSource& source_;
  std::unique_ptr<SpillFile> file_;
  std::vector<SpillExtent> extents_;
};

class StreamedWalks {
 public:
  StreamedWalks(const WalkSource& source, const RangeFile& ranges, PairCounter& counter)
      : source_(source),
        options_(source.options),
        ranges_(ranges),
        counter_(counter),
        range_count_(source.plan.ranges.size()),
        second_order_(options_.p, options_.q),
        layout_(options_.carried_nodes()),
        scratch_(source.plan.workers) {
    for (std::uint32_t range = 0; range < range_count_; ++range) {
      const PartitionRange& partitions = source.plan.ranges[range];
      range_of_partition_.resize(partitions.end_partition, range);
    }
  }

  absl::Status Run() {
    std::unique_ptr<WalkerFile> from;
    for (std::uint64_t step = 1; !options_.windowed() || step < options_.length; ++step) {
      ASSIGN_OR_RETURN(std::unique_ptr<WalkerFile> to, NewFile());
      RETURN_IF_ERROR(TakeStep(step, from.get(), *to));
      RETURN_IF_ERROR(to->Finish());
      from = std::move(to);
      Tell(step, from->walkers());
      if (from->walkers() == 0) break;
    }
    return absl::OkStatus();
  }

 private:
  bool second_order() const { return options_.kind == WalkKind::kNode2Vec; }
  std::size_t RangeOf(std::uint32_t node) const {
    return range_of_partition_[node / source_.cells.header().partition_rows];
  }
  // The bucket of a walk that came from `previous` and is at `node`.
  std::size_t BucketOf(std::uint32_t previous, std::uint32_t node) const {
    return second_order() ? RangeOf(node) * range_count_ + RangeOf(previous) : RangeOf(node);
  }

  absl::StatusOr<std::unique_ptr<WalkerFile>> NewFile() const {
    ASSIGN_OR_RETURN(std::unique_ptr<SpillFile> file, SpillFile::Create(source_.folder / kWalkerFileName, source_.use));
    return std::make_unique<WalkerFile>(std::move(file), layout_, options_.walker_buckets(range_count_),
                                        source_.plan.workers, source_.plan.walker_bytes);
  }

  void Tell(std::uint64_t step, std::uint64_t left) const {
    if (!source_.progress) return;
    const std::uint64_t all = source_.walks();
    const double share = static_cast<double>(step) / static_cast<double>(options_.length - 1);
    source_.progress(options_.windowed() ? static_cast<std::uint64_t>(static_cast<double>(all) * share) : all - left,
                     all);
  }

  // Takes step `step` of all walks: those in `from`, or new ones if that is null.
  absl::Status TakeStep(std::uint64_t step, const WalkerFile* from, WalkerFile& to) {
    for (std::size_t range = 0; range < range_count_; ++range) {
      RETURN_IF_ERROR(source_.CheckStop());
      if (from == nullptr) {
        ASSIGN_OR_RETURN(const Adjacency rows, ranges_.Load(range));
        RETURN_IF_ERROR(BeginWalks(range, rows, to));
        continue;
      }
      RETURN_IF_ERROR(TakeStepFrom(step, range, *from, to));
    }
    return absl::OkStatus();
  }

  // Takes the step of the walks whose node is in `range`, one range of previous nodes after the other.
  absl::Status TakeStepFrom(std::uint64_t step, std::size_t range, const WalkerFile& from, WalkerFile& to) {
    const std::size_t buckets = second_order() ? range_count_ : 1;
    std::optional<Adjacency> rows;
    for (std::size_t previous = 0; previous < buckets; ++previous) {
      const std::size_t bucket = range * buckets + previous;
      if (from.Pieces(bucket) == 0) continue;
      if (!rows) {
        ASSIGN_OR_RETURN(rows, ranges_.Load(range));
      }
      std::optional<Adjacency> previous_rows;
      if (second_order() && previous != range) {
        ASSIGN_OR_RETURN(previous_rows, ranges_.Load(previous));
      }
      RETURN_IF_ERROR(ReadWalks(step, *rows, previous_rows ? *previous_rows : *rows, from, bucket, to));
    }
    return absl::OkStatus();
  }

  // Calls work(worker, task) for tasks with the given numbers of walks, as many at a time as the counter has room for.
  template <typename WalksOf, typename Work>
  absl::Status InBatches(std::uint64_t step, std::uint64_t tasks, const WalksOf& walks_of, const Work& work) {
    const std::uint64_t pairs = options_.windowed() ? std::min(step, options_.window) : 1;
    for (std::uint64_t first = 0; first < tasks;) {
      RETURN_IF_ERROR(source_.CheckStop());
      const std::uint64_t room = counter_.Room();
      std::uint64_t end = first;
      for (std::uint64_t used = 0; end < tasks; ++end) {
        used += walks_of(end) * pairs;
        if (used > room) break;
      }
      if (end == first) {
        RETURN_IF_ERROR(counter_.Compact());
        continue;
      }
      ParallelWorkers(source_.plan.workers, first, end, [&](std::size_t worker, std::uint64_t task) {
        if (source_.CheckStop().ok()) work(worker, task);
      });
      RETURN_IF_ERROR(source_.CheckStop());
      first = end;
    }
    return absl::OkStatus();
  }

  absl::Status BeginWalks(std::size_t range, const Adjacency& rows, WalkerFile& to) {
    const PartitionRange& nodes = source_.plan.ranges[range];
    const std::uint64_t begin = nodes.first_node * options_.walks_of_node();
    const std::uint64_t end = nodes.end_node * options_.walks_of_node();
    const auto walks_of = [&](std::uint64_t task) {
      return std::min(kWalksPerTask, end - begin - task * kWalksPerTask);
    };
    return InBatches(
        1, (end - begin + kWalksPerTask - 1) / kWalksPerTask, walks_of, [&](std::size_t worker, std::uint64_t task) {
          std::vector<std::uint32_t>& walker = scratch_[worker];
          walker.resize(layout_.words());
          const std::uint64_t first = begin + task * kWalksPerTask;
          for (std::uint64_t walk = first; walk < first + walks_of(task); ++walk) {
            WalkerLayout::SetNumber(walker.data(), walk);
            *WalkerLayout::Nodes(walker.data()) = static_cast<std::uint32_t>(walk / options_.walks_of_node());
            Step(1, rows, rows, walker.data(), counter_.writer(worker), to.writer(worker));
          }
        });
  }

  absl::Status ReadWalks(std::uint64_t step, const Adjacency& rows, const Adjacency& previous_rows,
                         const WalkerFile& from, std::size_t bucket, WalkerFile& to) {
    Mutex mutex;
    absl::Status status;  // the first error; under mutex
    const auto walks_of = [&](std::uint64_t piece) { return from.Walkers(bucket, piece); };
    RETURN_IF_ERROR(InBatches(step, from.Pieces(bucket), walks_of, [&](std::size_t worker, std::uint64_t piece) {
      std::vector<std::uint32_t>& walkers = scratch_[worker];
      absl::Status read = from.Read(bucket, piece, walkers);
      if (!read.ok()) {
        const MutexLock lock(mutex);
        if (status.ok()) status = std::move(read);
        return;
      }
      for (std::size_t at = 0; at < walkers.size(); at += layout_.words()) {
        Step(step, rows, previous_rows, walkers.data() + at, counter_.writer(worker), to.writer(worker));
      }
    }));
    return status;
  }

  // Takes step `step` of one walk and writes it to its next bucket, unless it ends.
  void Step(std::uint64_t step, const Adjacency& rows, const Adjacency& previous_rows, std::uint32_t* walker,
            PairCounter::Writer& pairs, WalkerFile::Writer& to) const {
    const std::uint64_t walk = WalkerLayout::Number(walker);
    const std::uint32_t* const nodes = WalkerLayout::Nodes(walker);
    RandomStream stream = StepStream(options_.seed, walk, step);
    if (!options_.windowed()) {
      std::optional<std::uint32_t> next;
      if (!EndsHere(options_.alpha, stream)) next = DrawNeighbour(rows, nodes[0], stream);
      if (!next) return pairs.Add(static_cast<std::uint32_t>(walk / options_.walks_of_node()), nodes[0]);
      return GoOn(1, walk, nodes, *next, to);
    }
    const std::optional<std::uint32_t> next = second_order() && step > 1
                                                  ? second_order_.Draw(rows, nodes[0], previous_rows, nodes[1], stream)
                                                  : DrawNeighbour(rows, nodes[0], stream);
    if (!next) return;
    const std::size_t known = std::min<std::uint64_t>(step, layout_.nodes());
    for (std::size_t i = 0; i < std::min<std::uint64_t>(known, options_.window); ++i) pairs.Add(nodes[i], *next);
    if (step + 1 < options_.length) GoOn(known, walk, nodes, *next, to);
  }

  void GoOn(std::size_t known, std::uint64_t walk, const std::uint32_t* nodes, std::uint32_t next,
            WalkerFile::Writer& to) const {
    std::uint32_t* const walker = to.Next(BucketOf(nodes[0], next));
    WalkerLayout::SetNumber(walker, walk);
    std::uint32_t* const kept = WalkerLayout::Nodes(walker);
    kept[0] = next;
    std::copy_n(nodes, std::min(known, layout_.nodes() - 1), kept + 1);
  }

  const WalkSource& source_;
  const WalkOptions& options_;
  const RangeFile& ranges_;
  PairCounter& counter_;
  const std::size_t range_count_;
  const SecondOrderStep second_order_;
  const WalkerLayout layout_;
  std::vector<std::uint32_t> range_of_partition_;
  std::vector<std::vector<std::uint32_t>> scratch_;  // by worker
};

}  // namespace

absl::Status TakeStreamedWalks(const WalkSource& source, PairCounter& counter) {
  ASSIGN_OR_RETURN(const RangeFile ranges, RangeFile::Build(source));
  return StreamedWalks(source, ranges, counter).Run();
}

}  // namespace octavo
