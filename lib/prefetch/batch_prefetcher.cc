#include "prefetch/batch_prefetcher.h"

#include <algorithm>

#include "base/status.h"
#include "base/stopwatch.h"
#include "fmt/format.h"

namespace octavo {
namespace {

// kAuto prefetches where a read takes more than this share of the training of a window: below, hiding it gains less
// than a second buffer costs.
constexpr double kWorthwhileShare = 0.01;

}  // namespace

BatchPrefetcher::BatchPrefetcher(const CellReader& cells, std::uint64_t seed, std::uint64_t batch_edges,
                                 std::uint64_t window_edges, PrefetchMode mode,
                                 std::optional<std::uint32_t> inverse_offset)
    : mode_(mode),
      order_(cells, seed, batch_edges, window_edges, inverse_offset),
      windows_([this](std::uint64_t window, std::vector<Edge>& edges) { return order_.ReadWindow(window, edges); }) {}

void BatchPrefetcher::BeginEpoch(std::uint64_t epoch, const EpochPlan& plan) {
  windows_.Discard();
  order_.SetEpoch(epoch, plan);
  front_window_ = asked_window_ = kNone;
  asked_batch_ = kNone;
  current_ = {};
}

absl::Status BatchPrefetcher::CheckBatch(std::uint64_t batch) const {
  if (batch < BatchCount()) return absl::OkStatus();
  return absl::OutOfRangeError(absl::string_view(fmt::format("batch {} of {}", batch, BatchCount())));
}

void BatchPrefetcher::MakeCurrent(std::uint64_t batch) {
  const EpochOrder::BatchPlace place = order_.PlaceOf(batch);
  current_ = std::span<const Edge>(windows_.Front()).subspan(place.first, place.edges);
}

absl::Status BatchPrefetcher::Load(std::uint64_t batch) {
  RETURN_IF_ERROR(CheckBatch(batch));
  if (WindowOf(batch) != front_window_) {
    asked_window_ = asked_batch_ = kNone;
    const auto begin = std::chrono::steady_clock::now();
    RETURN_IF_ERROR(windows_.Load(WindowOf(batch)));
    read_seconds_ = SecondsSince(begin);
    front_window_ = WindowOf(batch);
  }
  MakeCurrent(batch);
  return absl::OkStatus();
}

absl::Status BatchPrefetcher::PrefetchWindow(std::uint64_t window) {
  RETURN_IF_ERROR(windows_.PrefetchAsync(window));
  asked_window_ = window;
  return absl::OkStatus();
}

absl::Status BatchPrefetcher::PrefetchAsync(std::uint64_t batch) {
  RETURN_IF_ERROR(CheckBatch(batch));
  RETURN_IF_ERROR(PrefetchWindow(WindowOf(batch)));
  asked_batch_ = batch;
  return absl::OkStatus();
}

absl::Status BatchPrefetcher::Swap() {
  const std::uint64_t window = std::exchange(asked_window_, kNone);
  const std::uint64_t batch = std::exchange(asked_batch_, kNone);
  RETURN_IF_ERROR(windows_.Swap());
  front_window_ = window;
  if (batch != kNone) MakeCurrent(batch);
  return absl::OkStatus();
}

std::uint64_t BatchPrefetcher::BytesRead() {
  windows_.Discard();
  asked_window_ = asked_batch_ = kNone;
  return order_.bytes_read();
}

bool BatchPrefetcher::WorthPrefetching() const {
  if (mode_ != PrefetchMode::kAuto) return mode_ == PrefetchMode::kOn;
  return read_seconds_ > kWorthwhileShare * train_seconds_;
}

absl::Status BatchPrefetcher::Advance(std::uint64_t batch) {
  RETURN_IF_ERROR(CheckBatch(batch));
  if (WindowOf(batch) == front_window_) {
    MakeCurrent(batch);
    return absl::OkStatus();
  }
  if (front_window_ != kNone) train_seconds_ = SecondsSince(window_begin_);
  if (asked_window_ == WindowOf(batch)) {
    RETURN_IF_ERROR(Swap());
    MakeCurrent(batch);
  } else {
    RETURN_IF_ERROR(Load(batch));
  }
  window_begin_ = std::chrono::steady_clock::now();
  const std::uint64_t next = front_window_ + 1;
  return next < order_.window_count() && WorthPrefetching() ? PrefetchWindow(next) : absl::OkStatus();
}

}  // namespace octavo
