#include "ranks/messenger.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr int kMessageTag = 1;
constexpr int kBeatTag = 2;

// Waiting costs a hundredth of a core. Where something moved, the next look follows at once.
constexpr std::chrono::microseconds kPause(1000);
// Before a rank aborts: mpiexec of MPICH drops what it has not forwarded of the rank's messages by then.
constexpr std::chrono::milliseconds kForwarding(300);

// How long the transport may take to end all ranks. If it hangs, this process ends without it, and the launcher ends
// the others.
constexpr std::chrono::milliseconds kMostAbort(5000);
// Between two looks at whether the transport returns.
constexpr std::chrono::milliseconds kWatch(20);

// Before the first piece of each message.
struct PieceHeader {
  std::uint64_t bytes = 0;  // of the whole message
  std::uint32_t kind = 0;
  std::uint32_t reserved = 0;
};

// With its header in front.
Message WithHeader(MessageKind kind, const Message& message) {
  const PieceHeader header{.bytes = message.size(), .kind = static_cast<std::uint32_t>(kind)};
  Message whole(sizeof(header) + message.size());
  std::memcpy(whole.data(), &header, sizeof(header));
  std::ranges::copy(message, whole.begin() + sizeof(header));
  return whole;
}

}  // namespace

Messenger::Messenger(std::unique_ptr<Transport> transport, MessengerSettings settings)
    : transport_(std::move(transport)), settings_(std::move(settings)) {
  thread_ = std::thread([this] { RunThread(); });
  if (settings_.end_process) watch_ = std::thread([this] { Watch(); });
}

absl::StatusOr<std::unique_ptr<Messenger>> Messenger::Start(std::unique_ptr<Transport> transport,
                                                            MessengerSettings settings) {
  std::unique_ptr<Messenger> messenger(new Messenger(std::move(transport), std::move(settings)));
  const Clock::time_point begin = Clock::now();
  while (true) {
    {
      const MutexLock lock(messenger->mutex_);
      if (!messenger->first_error_.ok()) return messenger->first_error_;
      if (messenger->started_) return messenger;
    }
    const MessengerSettings& given = messenger->settings_;
    if (given.end_process && Clock::now() - begin > given.lost_after) {
      // The thread is in the transport, and nothing ends it but the end of the process.
      if (given.on_lost) {
        given.on_lost(RuntimeError(fmt::format(
            "the ranks have not found each other within {} s: one did not start, or the network between them is cut",
            std::chrono::duration_cast<std::chrono::seconds>(given.lost_after).count())));
      }
      given.end_process(given.lost_exit_code);
    }
    std::this_thread::sleep_for(kPause);
  }
}

Messenger::~Messenger() {
  ending_.store(true, std::memory_order_relaxed);
  thread_.join();
  ended_.store(true, std::memory_order_relaxed);
  if (watch_.joinable()) watch_.join();
}

void Messenger::SetNames(std::vector<std::string> names) {
  const MutexLock lock(mutex_);
  names_ = std::move(names);
}

void Messenger::Send(int to, MessageKind kind, Message message) {
  bytes_sent_.fetch_add(message.size(), std::memory_order_relaxed);
  const MutexLock lock(mutex_);
  outbox_.push_back({.to = to, .kind = kind, .message = std::move(message)});
}

absl::StatusOr<Message> Messenger::Receive(int from, MessageKind kind) {
  const MutexLock lock(mutex_);
  std::deque<Message>& queue = inbox_[{from, kind}];
  mutex_.Await([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !queue.empty() || !first_error_.ok(); });
  if (queue.empty()) return first_error_;
  Message message = std::move(queue.front());
  queue.pop_front();
  return message;
}

absl::StatusOr<std::pair<int, Message>> Messenger::ReceiveAny(MessageKind kind) {
  const MutexLock lock(mutex_);
  std::optional<int> from;
  const auto found = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (const auto& [key, queue] : inbox_) {
      if (key.second == kind && !queue.empty()) from = key.first;
    }
    return from.has_value();
  };
  mutex_.Await([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return found() || closed_[kind] || !first_error_.ok(); });
  if (!from) return first_error_.ok() ? absl::CancelledError("closed") : first_error_;
  std::deque<Message>& queue = inbox_[{*from, kind}];
  std::pair<int, Message> received(*from, std::move(queue.front()));
  queue.pop_front();
  return received;
}

std::optional<Message> Messenger::TryReceive(int from, MessageKind kind) {
  const MutexLock lock(mutex_);
  std::deque<Message>& queue = inbox_[{from, kind}];
  if (queue.empty()) return std::nullopt;
  Message message = std::move(queue.front());
  queue.pop_front();
  return message;
}

absl::Status Messenger::WaitFor(int from, MessageKind kind, std::chrono::milliseconds most) {
  const Clock::time_point end = Clock::now() + most;
  while (true) {
    {
      const MutexLock lock(mutex_);
      if (!inbox_[{from, kind}].empty()) return absl::OkStatus();
      if (!first_error_.ok()) return first_error_;
    }
    if (Clock::now() >= end) return absl::OkStatus();
    std::this_thread::sleep_for(settings_.pause);
  }
}

void Messenger::Close(MessageKind kind) {
  const MutexLock lock(mutex_);
  closed_[kind] = true;
}

void Messenger::Fail(const absl::Status& status) {
  const MutexLock lock(mutex_);
  if (first_error_.ok()) first_error_ = status;
}

void Messenger::Abort(int code) {
  abort_code_.store(code, std::memory_order_relaxed);
  // The thread ends the process.
  std::this_thread::sleep_for(kMostAbort);
  settings_.end_process(code);
}

void Messenger::Tell(const absl::Status& lost) {
  if (!told_.exchange(true) && settings_.on_lost) settings_.on_lost(lost);
}

// Counts its own moments, so that time in which the whole process was stopped does not count.
void Messenger::Watch() {
  std::uint64_t seen = 0;
  std::chrono::milliseconds still(0);
  while (!ended_.load(std::memory_order_relaxed)) {
    std::this_thread::sleep_for(kWatch);
    const std::uint64_t steps = steps_.load(std::memory_order_acquire);
    const bool aborts = aborting_.load(std::memory_order_relaxed);
    if (steps == 0 || finishing_.load(std::memory_order_relaxed) || (steps != seen && !aborts)) {
      seen = steps;
      still = std::chrono::milliseconds(0);
      continue;
    }
    still += kWatch;
    if (aborts ? still < kMostAbort : still < settings_.lost_after) continue;
    Tell(RuntimeError(
        fmt::format("{} has not returned for {} s, as when the network is cut; the run stands at its last commit, from "
                    "which octavo "
                    "resume continues",
                    library_, std::chrono::duration_cast<std::chrono::seconds>(settings_.lost_after).count())));
    settings_.end_process(settings_.lost_exit_code);
  }
}

void Messenger::RunThread() {
  const absl::Status status = Work();
  if (status.ok()) return;
  bool was_started = false;
  {
    const MutexLock lock(mutex_);
    if (first_error_.ok()) first_error_ = status;
    was_started = started_;
  }
  if (!was_started || finishing_.load(std::memory_order_relaxed)) return;
  Tell(status);
  if (!settings_.end_process) return;
  aborting_.store(true, std::memory_order_relaxed);
  std::this_thread::sleep_for(kForwarding);
  transport_->Abort(settings_.lost_exit_code);
  settings_.end_process(settings_.lost_exit_code);
}

// The transport is used here only.
absl::Status Messenger::Work() {
  RETURN_IF_ERROR(transport_->Start());
  rank_ = transport_->rank();
  ranks_ = transport_->ranks();
  library_ = transport_->library();
  assemblies_.resize(static_cast<std::size_t>(ranks_));
  checked_ = Clock::now();
  heard_.assign(static_cast<std::size_t>(ranks_), checked_);
  beat_under_way_.assign(static_cast<std::size_t>(ranks_), false);
  last_beat_ = Clock::now();
  {
    const MutexLock lock(mutex_);
    started_ = true;
  }
  while (true) {
    if (const int code = abort_code_.load(std::memory_order_relaxed); code >= 0) {
      std::this_thread::sleep_for(kForwarding);
      transport_->Abort(code);
      settings_.end_process(code);
      return absl::CancelledError("the job ended");
    }
    ASSIGN_OR_RETURN(const bool moved, Step());
    steps_.fetch_add(1, std::memory_order_release);
    if (ending_.load(std::memory_order_relaxed)) {
      if (!finishing_.load(std::memory_order_relaxed)) return absl::OkStatus();
      if (AllSent()) break;
    }
    if (!moved) std::this_thread::sleep_for(settings_.pause);
  }
  transport_->Finish();
  return absl::OkStatus();
}

bool Messenger::AllSent() {
  const MutexLock lock(mutex_);
  return outbox_.empty() && sending_.empty();
}

absl::StatusOr<bool> Messenger::Step() {
  ASSIGN_OR_RETURN(const bool sent, StepSending());
  ASSIGN_OR_RETURN(const bool received, StepReceiving());
  RETURN_IF_ERROR(SendBeats());
  RETURN_IF_ERROR(CheckBeats());
  return sent || received;
}

absl::Status Messenger::Begin(Message piece, int to, int tag) {
  Sending& sending = sending_.emplace_back(Sending{.piece = std::move(piece), .to = to, .beat = tag == kBeatTag});
  ASSIGN_OR_RETURN(sending.request, transport_->Send(sending.piece, to, tag));
  return absl::OkStatus();
}

// Begins to send all messages that were handed over. They are in few: whoever sends much waits for answers.
absl::StatusOr<bool> Messenger::StepSending() {
  std::deque<Outgoing> taken;
  {
    const MutexLock lock(mutex_);
    taken.swap(outbox_);
  }
  bool moved = !taken.empty();
  for (const Outgoing& each : taken) {
    const Message whole = WithHeader(each.kind, each.message);
    for (std::size_t begin = 0; begin < whole.size(); begin += settings_.most_piece_bytes) {
      const std::span<const std::byte> bytes =
          std::span(whole).subspan(begin, std::min<std::size_t>(settings_.most_piece_bytes, whole.size() - begin));
      RETURN_IF_ERROR(Begin({bytes.begin(), bytes.end()}, each.to, kMessageTag));
    }
  }
  for (std::size_t i = 0; i < sending_.size();) {
    ASSIGN_OR_RETURN(const bool done, transport_->Test(sending_[i].request));
    if (!done) {
      ++i;
      continue;
    }
    moved = moved || !sending_[i].beat;
    if (sending_[i].beat) beat_under_way_[static_cast<std::size_t>(sending_[i].to)] = false;
    sending_.erase(sending_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return moved;
}

// A rank's pieces are received one after another, as they are parts of its messages in their order.
absl::StatusOr<bool> Messenger::StepReceiving() {
  bool moved = false;
  for (const int tag : {kMessageTag, kBeatTag}) {
    while (true) {
      ASSIGN_OR_RETURN(const std::optional<Transport::Arrived> arrived, transport_->Probe(tag));
      if (!arrived) break;
      Receiving receiving{.request = nullptr, .piece = Message(arrived->bytes), .from = arrived->from};
      ASSIGN_OR_RETURN(receiving.request, transport_->Receive(receiving.piece, arrived->from, tag));
      heard_[static_cast<std::size_t>(arrived->from)] = Clock::now();
      receiving_.push_back(std::move(receiving));
    }
  }
  std::vector<bool> waits(static_cast<std::size_t>(ranks_));  // for an earlier piece
  for (std::size_t i = 0; i < receiving_.size();) {
    const auto from = static_cast<std::size_t>(receiving_[i].from);
    bool done = false;
    if (!waits[from]) {
      ASSIGN_OR_RETURN(done, transport_->Test(receiving_[i].request));
    }
    if (!done) {
      waits[from] = true;
      ++i;
      continue;
    }
    heard_[from] = Clock::now();
    moved = true;
    Message piece = std::move(receiving_[i].piece);
    receiving_.erase(receiving_.begin() + static_cast<std::ptrdiff_t>(i));
    if (!piece.empty()) TakePiece(static_cast<int>(from), std::move(piece));
  }
  return moved;
}

// Beats are empty.
absl::Status Messenger::SendBeats() {
  if (Clock::now() - last_beat_ < settings_.beat) return absl::OkStatus();
  last_beat_ = Clock::now();
  for (int to = 0; to < ranks_; ++to) {
    if (to == rank_ || beat_under_way_[static_cast<std::size_t>(to)]) continue;
    beat_under_way_[static_cast<std::size_t>(to)] = true;
    RETURN_IF_ERROR(Begin({}, to, kBeatTag));
  }
  return absl::OkStatus();
}

absl::Status Messenger::CheckBeats() {
  // A process that was stopped for a while has heard nobody, and that is no fault of the others.
  const Clock::time_point now = Clock::now();
  if (now - checked_ > settings_.lost_after / 2) {
    for (Clock::time_point& heard : heard_) heard += now - checked_;
  }
  checked_ = now;
  for (int from = 0; from < ranks_; ++from) {
    if (from == rank_ || now - heard_[static_cast<std::size_t>(from)] < settings_.lost_after) continue;
    std::string name = fmt::format("{}", from);
    const MutexLock lock(mutex_);
    if (!names_.empty()) name = names_[static_cast<std::size_t>(from)];
    return RuntimeError(fmt::format(
        "rank {} has not answered for {} s: it hangs, or the network between them is cut; the run stands at "
        "its last commit, from which octavo resume continues",
        name, std::chrono::duration_cast<std::chrono::seconds>(settings_.lost_after).count()));
  }
  return absl::OkStatus();
}

void Messenger::TakePiece(int from, Message piece) {
  Assembly& assembly = assemblies_[static_cast<std::size_t>(from)];
  if (assembly.message.empty() && assembly.bytes == 0) {
    PieceHeader header;
    std::memcpy(&header, piece.data(), sizeof(header));
    piece.erase(piece.begin(), piece.begin() + sizeof(header));
    if (piece.size() == header.bytes) {
      Deliver(from, static_cast<MessageKind>(header.kind), std::move(piece));
      return;
    }
    assembly = {.kind = static_cast<MessageKind>(header.kind), .bytes = header.bytes, .message = std::move(piece)};
    return;
  }
  assembly.message.insert(assembly.message.end(), piece.begin(), piece.end());
  if (assembly.message.size() < assembly.bytes) return;
  Deliver(from, assembly.kind, std::move(assembly.message));
  assembly = {};
}

void Messenger::Deliver(int from, MessageKind kind, Message message) {
  bytes_received_.fetch_add(message.size(), std::memory_order_relaxed);
  const MutexLock lock(mutex_);
  inbox_[{from, kind}].push_back(std::move(message));
}

}  // namespace octavo
