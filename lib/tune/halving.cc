#include "tune/halving.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

namespace octavo {

std::vector<Rung> MakeRungs(std::uint64_t trials, std::uint64_t epochs_least, std::uint64_t epochs, std::uint64_t eta) {
  std::vector<Rung> rungs;
  std::uint64_t end = epochs_least;
  for (; end <= epochs / eta; end *= eta) {
    rungs.push_back({.epochs = end, .trials = trials});
    trials = std::max<std::uint64_t>(1, trials / eta);
  }
  rungs.push_back({.epochs = epochs, .trials = trials});
  return rungs;
}

std::vector<Rung> MakeReferenceRungs(std::uint64_t trials, std::uint64_t epochs, std::uint64_t eta) {
  constexpr int kMostRungs = 3;
  std::uint64_t least = epochs;
  for (int rung = 1; rung < kMostRungs && least >= eta; ++rung) least /= eta;
  std::vector<Rung> rungs = MakeRungs(trials, least, epochs, eta);
  for (Rung& rung : rungs) rung.trials = std::max(rung.trials, std::min<std::uint64_t>(trials, 2));
  return rungs;
}

std::uint64_t EpochsOf(const std::vector<Rung>& rungs) {
  std::uint64_t epochs = 0;
  std::uint64_t before = 0;
  for (const Rung& rung : rungs) {
    epochs += rung.trials * (rung.epochs - before);
    before = rung.epochs;
  }
  return epochs;
}

std::uint64_t Halving::EpochsDone() const {
  std::uint64_t epochs = 0;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < rungs_.size(); ++i) {
    // With failures a rung begins with fewer trials than it could.
    const std::uint64_t done = i < rung_ ? rungs_[i].trials : std::min(done_[i], rungs_[i].trials);
    epochs += done * (rungs_[i].epochs - before);
    before = rungs_[i].epochs;
  }
  return epochs;
}

Halving::Halving(std::vector<Rung> rungs, Kind kind)
    : rungs_(std::move(rungs)),
      kind_(kind),
      done_(rungs_.size()),
      places_(rungs_[0].trials),
      out_(rungs_[0].trials),
      members_(rungs_[0].trials) {
  std::iota(members_.begin(), members_.end(), 0);
  for (const std::uint64_t trial : members_) places_[trial].trial = trial;
}

std::optional<Halving::Task> Halving::Next() const {
  if (next_ == members_.size()) return std::nullopt;
  return Task{.rung = rung_, .trial = members_[next_]};
}

void Halving::AddResult(double mrr) {
  const std::uint64_t trial = members_[next_];
  places_[trial].rung = rung_;
  places_[trial].mrr = mrr;
  // A trial goes after those that were trained before it and have the same MRR.
  const auto at = std::find_if(best_.begin(), best_.end(), [&](std::uint64_t t) { return places_[t].mrr < mrr; });
  best_.insert(at, trial);
  if (best_.size() > Kept(rung_)) DropWorst();
  Advance();
}

void Halving::DropWorst() {
  auto worst = std::prev(best_.end());
  if (IsReference(*worst) && best_.size() > 1) --worst;
  out_[*worst] = true;
  best_.erase(worst);
}

void Halving::AddFailure() {
  const std::uint64_t trial = members_[next_];
  places_[trial].failed = true;
  out_[trial] = true;
  Advance();
}

void Halving::AddSkip() {
  out_[members_[next_]] = true;
  ++skipped_;
  Advance();
}

void Halving::Advance() {
  ++done_[rung_];
  if (++next_ < members_.size() || rung_ + 1 == rungs_.size()) return;
  BeginRung();
}

void Halving::BeginRung() {
  const std::uint64_t tried = members_.size() - skipped_;
  const std::uint64_t share = std::max<std::uint64_t>(2, Kept(rung_) * tried / members_.size());
  while (skipped_ > 0 && best_.size() > share) DropWorst();
  ++rung_;
  skipped_ = 0;
  next_ = 0;
  members_ = std::exchange(best_, {});
  if (kind_ == Kind::kPlain) {
    std::sort(members_.begin(), members_.end());
  } else if (const auto reference = std::ranges::find(members_, 0U); reference != members_.end()) {
    std::rotate(members_.begin(), reference, reference + 1);
  }
}

bool Halving::IsOut(std::uint64_t trial) const { return out_[trial]; }

std::vector<Halving::Place> Halving::Ranking() const {
  std::vector<Place> ranking = places_;
  const auto place_class = [](const Place& place) { return place.failed ? 2 : place.rung ? 0 : 1; };
  std::stable_sort(ranking.begin(), ranking.end(), [&](const Place& a, const Place& b) {
    if (place_class(a) != place_class(b)) return place_class(a) < place_class(b);
    if (place_class(a) != 0) return false;
    if (*a.rung != *b.rung) return *a.rung > *b.rung;
    // Of equal ones, the one that was trained first continues, and its run is kept.
    return a.mrr != b.mrr ? a.mrr > b.mrr : !out_[a.trial] && out_[b.trial];
  });
  return ranking;
}

std::optional<std::uint64_t> Halving::Best() const {
  const Place first = Ranking().front();
  return first.rung && !first.failed ? std::optional(first.trial) : std::nullopt;
}

}  // namespace octavo
