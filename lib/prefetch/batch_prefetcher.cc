#include "prefetch/batch_prefetcher.h"

#include <algorithm>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

// kAuto prefetches where a read takes more than this share of the training of a window: below, hiding it gains less
// than a second buffer costs.
constexpr double kWorthwhileShare = 0.01;

// A window has whole batches, and more than the graph has would change nothing but overflow.
std::uint64_t BatchesPerWindow(std::uint64_t edges, std::uint64_t window_edges, std::uint64_t batch_edges) {
  const std::uint64_t wanted = std::min(window_edges, edges);
  return std::max<std::uint64_t>(1, wanted / batch_edges + (wanted % batch_edges != 0 ? 1 : 0));
}

double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

BatchPrefetcher::BatchPrefetcher(const CellReader& cells, std::uint64_t seed, std::uint64_t batch_edges,
                                 std::uint64_t window_edges, PrefetchMode mode)
    : cells_(cells),
      batch_edges_(batch_edges),
      batches_per_window_(BatchesPerWindow(cells.edge_count(), window_edges, batch_edges)),
      mode_(mode),
      order_(cells, seed, batches_per_window_ * batch_edges),
      windows_([this](std::uint64_t window, std::vector<Edge>& edges) { return order_.ReadWindow(window, edges); }) {}

std::uint64_t BatchPrefetcher::BatchCount() const {
  return cells_.edge_count() / batch_edges_ + (cells_.edge_count() % batch_edges_ != 0 ? 1 : 0);
}

void BatchPrefetcher::BeginEpoch(std::uint64_t epoch) {
  windows_.Discard();
  order_.SetEpoch(epoch);
  front_window_ = kNone;
  asked_batch_ = kNone;
  current_ = {};
}

absl::Status BatchPrefetcher::CheckBatch(std::uint64_t batch) const {
  if (batch < BatchCount()) return absl::OkStatus();
  return absl::OutOfRangeError(absl::string_view(fmt::format("batch {} of {}", batch, BatchCount())));
}

void BatchPrefetcher::MakeCurrent(std::uint64_t batch) {
  const std::span<const Edge> window = windows_.Front();
  const std::uint64_t first = batch % batches_per_window_ * batch_edges_;
  current_ = window.subspan(first, std::min<std::uint64_t>(batch_edges_, window.size() - first));
}

absl::Status BatchPrefetcher::Load(std::uint64_t batch) {
  RETURN_IF_ERROR(CheckBatch(batch));
  if (WindowOf(batch) != front_window_) {
    asked_batch_ = kNone;
    const auto begin = std::chrono::steady_clock::now();
    RETURN_IF_ERROR(windows_.Load(WindowOf(batch)));
    read_seconds_ = SecondsSince(begin);
    front_window_ = WindowOf(batch);
  }
  MakeCurrent(batch);
  return absl::OkStatus();
}

absl::Status BatchPrefetcher::PrefetchAsync(std::uint64_t batch) {
  RETURN_IF_ERROR(CheckBatch(batch));
  RETURN_IF_ERROR(windows_.PrefetchAsync(WindowOf(batch)));
  asked_batch_ = batch;
  return absl::OkStatus();
}

absl::Status BatchPrefetcher::Swap() {
  const std::uint64_t batch = std::exchange(asked_batch_, kNone);
  RETURN_IF_ERROR(windows_.Swap());
  front_window_ = WindowOf(batch);
  MakeCurrent(batch);
  return absl::OkStatus();
}

std::uint64_t BatchPrefetcher::BytesRead() {
  windows_.Discard();
  asked_batch_ = kNone;
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
  if (asked_batch_ != kNone && WindowOf(asked_batch_) == WindowOf(batch)) {
    RETURN_IF_ERROR(Swap());
    MakeCurrent(batch);
  } else {
    RETURN_IF_ERROR(Load(batch));
  }
  window_begin_ = std::chrono::steady_clock::now();
  const std::uint64_t next = (WindowOf(batch) + 1) * batches_per_window_;
  return next < BatchCount() && WorthPrefetching() ? PrefetchAsync(next) : absl::OkStatus();
}

}  // namespace octavo
