#include "train/partition_mover.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <utility>

#include "base/status.h"
#include "base/stopwatch.h"
#include "fmt/format.h"
#include "io/failpoint.h"

namespace octavo {
namespace {

// Large enough for the network, small enough that the pieces under way take little memory.
constexpr std::uint64_t kPieceBytes = std::uint64_t{4} << 20;
// Of one partition that have been sent and not answered.
constexpr int kPiecesUnderWay = 3;

// Before the bytes of each piece.
struct PieceHead {
  std::uint32_t partition = 0;
  std::uint32_t reserved = 0;
  std::uint64_t offset = 0;
  std::uint64_t all_bytes = 0;  // of the partition
  PartitionRecord record;
};

}  // namespace

PartitionMover::PartitionMover(Ranks& ranks, RunTables& tables)
    : ranks_(ranks), tables_(tables), sender_([this] { RunSender(); }), receiver_([this] { RunReceiver(); }) {}

PartitionMover::~PartitionMover() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
  }
  ranks_.messenger().Close(MessageKind::kRows);
  sender_.join();
  receiver_.join();
}

void PartitionMover::Send(PartitionId partition, int to) {
  const PartitionRecord record = tables_.GiveUp(partition);
  const MutexLock lock(mutex_);
  leaving_.push_back({.partition = partition, .to = to, .record = record});
}

absl::Status PartitionMover::Await(PartitionId partition) {
  if (tables_.Holds(partition)) return absl::OkStatus();
  const auto begin = std::chrono::steady_clock::now();
  PartitionRecord record;
  {
    const MutexLock lock(mutex_);
    mutex_.Await([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return arrived_.contains(partition) || !first_error_.ok(); });
    counts_.wait_seconds += SecondsSince(begin);
    if (!first_error_.ok()) return first_error_;
    record = arrived_.extract(partition).mapped();
  }
  tables_.TakeOver(partition, record);
  return absl::OkStatus();
}

absl::Status PartitionMover::Drain() {
  const MutexLock lock(mutex_);
  mutex_.Await([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return (leaving_.empty() && !sending_) || !first_error_.ok(); });
  return first_error_;
}

void PartitionMover::TakeOverArrived() {
  std::map<PartitionId, PartitionRecord> arrived;
  {
    const MutexLock lock(mutex_);
    arrived.swap(arrived_);
  }
  for (const auto& [partition, record] : arrived) tables_.TakeOver(partition, record);
}

MovedCounts PartitionMover::TakeCounts() {
  const MutexLock lock(mutex_);
  return std::exchange(counts_, {});
}

// Another rank may wait for rows that will not come, and the thread that trains here may wait for that rank.
void PartitionMover::Fail(const absl::Status& status) {
  {
    const MutexLock lock(mutex_);
    if (first_error_.ok()) first_error_ = status;
    if (ending_) return;
  }
  ranks_.messenger().Fail(status);
}

void PartitionMover::RunSender() {
  while (true) {
    Leaving next;
    {
      const MutexLock lock(mutex_);
      mutex_.Await([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return ending_ || !leaving_.empty(); });
      if (ending_) return;
      next = leaving_.front();
      leaving_.pop_front();
      sending_ = true;
    }
    const auto begin = std::chrono::steady_clock::now();
    const absl::Status status = SendOne(next);
    if (!status.ok()) Fail(status);
    const MutexLock lock(mutex_);
    sending_ = false;
    counts_.send_seconds += SecondsSince(begin);
    if (!status.ok()) return;
  }
}

absl::Status PartitionMover::SendOne(const Leaving& leaving) {
  const std::uint64_t embeddings = tables_.EmbeddingBytes(leaving.partition);
  const std::uint64_t all = tables_.PartitionBytes(leaving.partition);
  int under_way = 0;
  for (std::uint64_t offset = 0; offset < all;) {
    const std::uint64_t end = std::min(offset + kPieceBytes, offset < embeddings ? embeddings : all);
    const PieceHead head{
        .partition = Value(leaving.partition), .offset = offset, .all_bytes = all, .record = leaving.record};
    Message message(sizeof(head) + end - offset);
    std::memcpy(message.data(), &head, sizeof(head));
    RETURN_IF_ERROR(tables_.ReadMoving(leaving.partition, offset, std::span(message).subspan(sizeof(head))));
    if (under_way == kPiecesUnderWay) {
      RETURN_IF_ERROR(AwaitAnswer(leaving.to));
      --under_way;
    }
    RETURN_IF_ERROR(Failpoint("ranks.send"));
    ranks_.messenger().Send(leaving.to, MessageKind::kRows, std::move(message));
    ++under_way;
    {
      const MutexLock lock(mutex_);
      counts_.bytes_sent += end - offset;
    }
    offset = end;
  }
  for (; under_way > 0; --under_way) RETURN_IF_ERROR(AwaitAnswer(leaving.to));
  return absl::OkStatus();
}

absl::Status PartitionMover::AwaitAnswer(int from) {
  Messenger& messenger = ranks_.messenger();
  while (!messenger.TryReceive(from, MessageKind::kRowsDone)) {
    RETURN_IF_ERROR(messenger.WaitFor(from, MessageKind::kRowsDone, std::chrono::milliseconds(20)));
    const MutexLock lock(mutex_);
    if (ending_) return absl::CancelledError("the process ends");
  }
  return absl::OkStatus();
}

void PartitionMover::RunReceiver() {
  while (true) {
    const absl::StatusOr<std::pair<int, Message>> piece = ranks_.messenger().ReceiveAny(MessageKind::kRows);
    if (absl::IsCancelled(piece.status())) return;
    const absl::Status status = piece.ok() ? ReceivePiece(piece->first, piece->second) : piece.status();
    if (status.ok()) continue;
    Fail(status);
    return;
  }
}

// A partition comes from one rank, its pieces in their order.
absl::Status PartitionMover::ReceivePiece(int from, const Message& message) {
  PieceHead head;
  std::memcpy(&head, message.data(), sizeof(head));
  const std::span<const std::byte> bytes = std::span(message).subspan(sizeof(head));
  const auto partition = static_cast<PartitionId>(head.partition);
  RETURN_IF_ERROR(Failpoint("ranks.receive"));
  std::unique_ptr<Arriving>& arriving = arriving_[partition];
  if (arriving == nullptr) arriving = std::make_unique<Arriving>();
  RETURN_IF_ERROR(tables_.WriteMoving(partition, head.offset, bytes));
  (head.offset < tables_.EmbeddingBytes(partition) ? arriving->embeddings : arriving->state).Update(bytes);
  arriving->bytes += bytes.size();
  const bool whole = arriving->bytes == head.all_bytes;
  if (whole && (arriving->embeddings.Digest() != head.record.embedding_checksum ||
                arriving->state.Digest() != head.record.state_checksum)) {
    return RuntimeError(
        fmt::format("partition {} arrived from rank {} with a wrong checksum; expected the bytes that it "
                    "sent: the network, a disk or the memory of one of the two machines is at fault",
                    head.partition, ranks_.NameOf(from)));
  }
  {
    const MutexLock lock(mutex_);
    counts_.bytes_received += bytes.size();
    if (whole) arrived_[partition] = head.record;
  }
  if (whole) arriving_.erase(partition);
  ranks_.messenger().Send(from, MessageKind::kRowsDone, {});
  return absl::OkStatus();
}

}  // namespace octavo
