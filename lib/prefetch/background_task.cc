#include "prefetch/background_task.h"

#include <chrono>
#include <exception>
#include <new>

#include "base/status.h"
#include "base/stopwatch.h"

namespace octavo {

using Clock = std::chrono::steady_clock;

BackgroundTask::BackgroundTask(Work work) : work_(std::move(work)), thread_([this] { RunThread(); }) {}

BackgroundTask::~BackgroundTask() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  thread_.join();
}

absl::Status BackgroundTask::Run(std::uint64_t item) {
  Discard();
  const Clock::time_point begin = Clock::now();
  absl::Status status = GuardedWork(item);
  const double seconds = SecondsSince(begin);
  const MutexLock lock(mutex_);
  work_seconds_ += seconds;
  stall_seconds_ += seconds;
  return status;
}

absl::Status BackgroundTask::Start(std::uint64_t item) {
  const MutexLock lock(mutex_);
  if (state_ != State::kIdle) {
    return absl::FailedPreconditionError("background work was started before and its result not taken");
  }
  item_ = item;
  state_ = State::kBusy;
  return absl::OkStatus();
}

absl::Status BackgroundTask::Take() {
  const Clock::time_point begin = Clock::now();
  const MutexLock lock(mutex_);
  if (state_ == State::kIdle) return absl::FailedPreconditionError("no background work was started");
  mutex_.Await([this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return state_ == State::kDone; });
  stall_seconds_ += SecondsSince(begin);
  state_ = State::kIdle;
  return std::move(status_);
}

absl::Status BackgroundTask::Wait() {
  const MutexLock lock(mutex_);
  mutex_.Await([this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return state_ != State::kBusy; });
  return state_ == State::kDone ? status_ : absl::OkStatus();
}

void BackgroundTask::Discard() {
  const MutexLock lock(mutex_);
  mutex_.Await([this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return state_ != State::kBusy; });
  state_ = State::kIdle;
}

bool BackgroundTask::Done() const {
  const MutexLock lock(mutex_);
  return state_ == State::kDone;
}

std::pair<double, double> BackgroundTask::TakeWorkAndStallSeconds() {
  const MutexLock lock(mutex_);
  return {std::exchange(work_seconds_, 0.0), std::exchange(stall_seconds_, 0.0)};
}

// An exception must not leave the task's thread, where nothing could catch it.
absl::Status BackgroundTask::GuardedWork(std::uint64_t item) const {
  try {
    return work_(item);
  } catch (const std::bad_alloc&) {
    return RuntimeError("out of memory while reading ahead");
  } catch (const std::exception& error) {
    return RuntimeError(error.what());
  }
}

void BackgroundTask::RunThread() {
  while (true) {
    std::uint64_t item = 0;
    {
      const MutexLock lock(mutex_);
      mutex_.Await([this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || state_ == State::kBusy; });
      if (state_ != State::kBusy) return;  // stopping, and nothing left to do
      item = item_;
    }
    const Clock::time_point begin = Clock::now();
    absl::Status status = GuardedWork(item);
    const MutexLock lock(mutex_);
    work_seconds_ += SecondsSince(begin);
    status_ = std::move(status);
    state_ = State::kDone;
    if (stopping_) return;
  }
}

}  // namespace octavo
