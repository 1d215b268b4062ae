#include "tests/support/local_transport.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "base/status.h"

namespace octavo {

class LocalTransport : public Transport {
 public:
  LocalTransport(LocalHub& hub, int rank) : hub_(hub), rank_(rank) {}

  // Whoever leaves takes its memory with it: what still has to be read from there never arrives.
  ~LocalTransport() override {
    const std::lock_guard lock(hub_.mutex_);
    for (auto transfer = hub_.transfers_.begin(); transfer != hub_.transfers_.end();) {
      if (transfer->from == rank_) transfer->sender_ended = true;
      if (transfer->from == rank_ && !transfer->copied) transfer->lost = true;
      if (transfer->to == rank_) transfer->lost = transfer->receiver_ended = true;
      transfer = EndIfDone(transfer);
    }
  }

  absl::Status Start() override {
    const std::lock_guard lock(hub_.mutex_);
    return Check();
  }
  int rank() const override { return rank_; }
  int ranks() const override { return hub_.ranks_; }
  std::string library() const override { return "threads"; }

  absl::StatusOr<Request> Send(std::span<const std::byte> data, int to, int tag) override {
    const std::lock_guard lock(hub_.mutex_);
    RETURN_IF_ERROR(Check());
    if (data.size() > kMostMessageBytes || to == rank_ || to < 0 || to >= hub_.ranks_) {
      return RuntimeError("a message that a transport need not carry");
    }
    LocalHub::Transfer& transfer = hub_.transfers_.emplace_back();
    transfer.from = rank_;
    transfer.to = to;
    transfer.tag = tag;
    // MPI copies some messages, and empty ones always, and reads others from the sender when the receiver is ready.
    transfer.copied = data.empty() || hub_.random_() % 2 == 0;
    if (transfer.copied) {
      transfer.copy.assign(data.begin(), data.end());
    } else {
      transfer.source = data;
    }
    LocalHub::Clock::time_point& last = hub_.last_arrivals_[{rank_, to, tag}];
    last = transfer.arrives = hub_.After(last);
    if (IsLost(transfer)) transfer.lost = transfer.copied = true;
    ++hub_.messages_;
    hub_.longest_message_ = std::max<std::uint64_t>(hub_.longest_message_, data.size());
    return &transfer;
  }

  absl::StatusOr<std::optional<Arrived>> Probe(int tag) override {
    const std::lock_guard lock(hub_.mutex_);
    RETURN_IF_ERROR(Check());
    std::vector<LocalHub::Transfer*> heads;
    for (LocalHub::Transfer& transfer : hub_.transfers_) {
      if (transfer.to != rank_ || transfer.tag != tag || transfer.taken || IsLost(transfer)) continue;
      const auto same = [&](const LocalHub::Transfer* head) { return head->from == transfer.from; };
      if (std::ranges::none_of(heads, same)) heads.push_back(&transfer);
    }
    std::erase_if(heads, [](const LocalHub::Transfer* head) { return head->arrives > LocalHub::Clock::now(); });
    if (heads.empty()) return std::nullopt;
    found_ = heads[hub_.random_() % heads.size()];
    return Arrived{.from = found_->from, .bytes = SizeOf(*found_)};
  }

  absl::StatusOr<Request> Receive(std::span<std::byte> data, int from, int tag) override {
    const std::lock_guard lock(hub_.mutex_);
    RETURN_IF_ERROR(Check());
    LocalHub::Transfer* const transfer = std::exchange(found_, nullptr);
    if (transfer == nullptr || transfer->from != from || transfer->tag != tag || SizeOf(*transfer) != data.size()) {
      return RuntimeError("what is received was not probed last");
    }
    transfer->taken = true;
    transfer->target = data;
    transfer->done = hub_.After({});
    return transfer;
  }

  absl::StatusOr<bool> Test(Request request) override {
    const std::lock_guard lock(hub_.mutex_);
    RETURN_IF_ERROR(Check());
    const auto transfer =
        std::ranges::find_if(hub_.transfers_, [request](const LocalHub::Transfer& each) { return &each == request; });
    if (transfer == hub_.transfers_.end()) return RuntimeError("no such request");
    if (transfer->from == rank_) {
      if (!transfer->copied) return false;
      transfer->sender_ended = true;
    } else {
      if (IsLost(*transfer) || transfer->done > LocalHub::Clock::now()) return false;
      const std::span<const std::byte> bytes =
          transfer->copied ? std::span<const std::byte>(transfer->copy) : transfer->source;
      std::ranges::copy(bytes, transfer->target.begin());
      transfer->copied = transfer->receiver_ended = true;
    }
    EndIfDone(transfer);
    return true;
  }

  // As MPI_Finalize: returns when all ranks have called it.
  void Finish() override {
    std::unique_lock lock(hub_.mutex_);
    hub_.finished_[static_cast<std::size_t>(rank_)] = true;
    while (!hub_.broken_ && std::ranges::find(hub_.finished_, false) != hub_.finished_.end()) {
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      lock.lock();
    }
  }

  void Abort(int code) override {
    const std::lock_guard lock(hub_.mutex_);
    hub_.abort_code_ = code;
    hub_.broken_ = true;
  }

 private:
  absl::Status Check() const {
    return hub_.broken_ ? RuntimeError("threads: the connection to another rank is lost") : absl::OkStatus();
  }
  bool IsLost(const LocalHub::Transfer& transfer) const {
    return transfer.lost || hub_.lost_[static_cast<std::size_t>(transfer.from)] ||
           hub_.lost_[static_cast<std::size_t>(transfer.to)];
  }
  static std::uint64_t SizeOf(const LocalHub::Transfer& transfer) {
    return transfer.copied ? transfer.copy.size() : transfer.source.size();
  }
  // Forgets a transfer that both sides have ended. Returns the next one.
  std::list<LocalHub::Transfer>::iterator EndIfDone(std::list<LocalHub::Transfer>::iterator transfer) {
    const bool ended = transfer->sender_ended && (transfer->receiver_ended || (transfer->lost && !transfer->taken));
    return ended ? hub_.transfers_.erase(transfer) : std::next(transfer);
  }

  LocalHub& hub_;
  const int rank_;
  LocalHub::Transfer* found_ = nullptr;  // by Probe
};

LocalHub::LocalHub(int ranks, std::uint64_t seed, std::chrono::microseconds most_delay)
    : ranks_(ranks),
      most_delay_(most_delay),
      random_(seed),
      lost_(static_cast<std::size_t>(ranks)),
      finished_(static_cast<std::size_t>(ranks)) {}

std::unique_ptr<Transport> LocalHub::Join(int rank) { return std::make_unique<LocalTransport>(*this, rank); }

void LocalHub::Lose(int rank) {
  const std::lock_guard lock(mutex_);
  lost_[static_cast<std::size_t>(rank)] = true;
}

void LocalHub::Break() {
  const std::lock_guard lock(mutex_);
  broken_ = true;
}

std::optional<int> LocalHub::abort_code() const {
  const std::lock_guard lock(mutex_);
  return abort_code_;
}

std::uint64_t LocalHub::messages() const {
  const std::lock_guard lock(mutex_);
  return messages_;
}

std::uint64_t LocalHub::longest_message() const {
  const std::lock_guard lock(mutex_);
  return longest_message_;
}

// A moment from now, and not before `least`.
LocalHub::Clock::time_point LocalHub::After(Clock::time_point least) {
  const auto delay = std::chrono::microseconds(
      most_delay_.count() == 0 ? 0 : random_() % static_cast<std::uint64_t>(most_delay_.count()));
  return std::max(least, Clock::now() + delay);
}

}  // namespace octavo
