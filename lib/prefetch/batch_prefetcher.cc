#include "prefetch/batch_prefetcher.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/status.h"
#include "base/stopwatch.h"
#include "fmt/format.h"
#include "prefetch/query_groups.h"

namespace octavo {
namespace {

// kAuto prefetches if reading takes more than this share of the training time. Below it, hiding the reads gains less
// than waking up a second thread costs.
constexpr double kWorthwhileShare = 0.01;

}  // namespace

BatchPrefetcher::BatchPrefetcher(const CellReader& cells, const OrderSettings& settings, PrefetchMode mode)
    : cells_(cells),
      settings_(settings),
      mode_(mode),
      reader_(cells, settings),
      windows_([this](std::uint64_t window, EdgeWindow& into) { return reader_.Read(*request_.order, window, into); }) {
}

void BatchPrefetcher::BeginEpoch(std::uint64_t epoch, const EpochPlan& plan, const EpochPlan* next) {
  skipped_.clear();
  CountTraining();
  // The weight of older epochs halves with each epoch.
  fetch_seconds_ /= 2;
  train_seconds_ /= 2;
  front_window_ = kNone;
  current_ = {};
  if (request_.order == order_.get()) Forget();
  order_ = nullptr;  // before the next is made, as it can take megabytes
  auto order = std::make_unique<const EpochOrder>(cells_, settings_, epoch, plan);
  const bool promised = next_ != nullptr && *next_ == *order;
  if (!promised || request_.order != next_.get()) Forget();
  if (!promised) reader_.Forget();
  // A fill of this epoch may be under way, with the address of its order.
  order_ = promised ? std::move(next_) : std::move(order);
  order = nullptr;
  next_ = next == nullptr ? nullptr : std::make_unique<const EpochOrder>(cells_, settings_, epoch + 1, *next);
}

// Gives up a window that was asked for.
void BatchPrefetcher::Forget() {
  windows_.Discard();
  request_ = {};
}

absl::Status BatchPrefetcher::Advance(std::uint64_t batch) {
  if (batch >= BatchCount()) {
    return absl::OutOfRangeError(absl::string_view(fmt::format("batch {} of {}", batch, BatchCount())));
  }
  const EpochOrder::BatchPlace place = order_->PlaceOf(batch);
  if (place.window != front_window_) RETURN_IF_ERROR(TurnTo(place.window));
  current_ = std::span(windows_.Front().edges).subspan(place.first, place.entries);
  return absl::OkStatus();
}

// Makes `window` of this epoch the front one.
absl::Status BatchPrefetcher::TurnTo(std::uint64_t window) {
  CountTraining();
  const Request wanted{.order = order_.get(), .window = window};
  const bool prefetched = request_ == wanted;
  if (!prefetched) {
    windows_.Discard();
    request_ = wanted;
  }
  const absl::Status status = prefetched ? windows_.Swap() : windows_.Load(window);
  request_ = {};
  RETURN_IF_ERROR(status);
  front_window_ = window;
  window_begin_ = std::chrono::steady_clock::now();
  fetch_seconds_ += windows_.Front().seconds;
  counts_.windows += 1;
  counts_.prefetched_windows += prefetched ? 1 : 0;
  counts_.read_bytes += windows_.Front().read_bytes;
  return PrefetchNext();
}

// The next window that this process trains.
std::uint64_t BatchPrefetcher::NextWindow() const {
  std::uint64_t window = front_window_ + 1;
  if (skipped_.empty()) return window;
  while (window < order_->window_count() && skipped_[order_->StateOfWindow(window)]) ++window;
  return window;
}

absl::Status BatchPrefetcher::PrefetchNext() {
  Request next{.order = order_.get(), .window = NextWindow()};
  if (next.window == order_->window_count()) next = {.order = next_.get(), .window = 0};
  if (next.order == nullptr || next.order->window_count() == 0 || !WorthPrefetching()) return absl::OkStatus();
  request_ = next;
  return windows_.PrefetchAsync(next.window);
}

// Counts the time until now as training of the front window.
void BatchPrefetcher::CountTraining() {
  if (front_window_ == kNone) return;
  train_seconds_ += SecondsSince(window_begin_);
  window_begin_ = std::chrono::steady_clock::now();
}

bool BatchPrefetcher::WorthPrefetching() const {
  if (mode_ != PrefetchMode::kAuto) return mode_ == PrefetchMode::kOn;
  return fetch_seconds_ > kWorthwhileShare * train_seconds_;
}

FetchCounts BatchPrefetcher::TakeCounts() {
  std::tie(counts_.fetch_seconds, counts_.stall_seconds) = windows_.TakeFillAndStallSeconds();
  return std::exchange(counts_, {});
}

std::uint64_t BatchPrefetcher::MostBytes(const OrderSettings& settings, std::uint64_t edges) {
  const OrderSizes sizes = SizesFor(settings, edges);
  const std::uint64_t pool = std::min(sizes.pool_edges, edges);
  // Two windows, and the pool that they are copied from unless it is a single window.
  const std::uint64_t held = sizes.window_edges < pool ? pool + 2 * sizes.window_edges : 2 * pool;
  const std::uint64_t grouping = settings.inverse_offset ? pool * QueryGroups::kBytesPerEntry : 0;
  return settings.EntriesPerEdge() * (held * sizeof(Edge) + grouping);
}

}  // namespace octavo
