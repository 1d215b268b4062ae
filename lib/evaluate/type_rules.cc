#include "evaluate/type_rules.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>

#include "base/parallel.h"
#include "base/status.h"
#include "evaluate/answer_ranges.h"

namespace octavo {
namespace {

constexpr std::uint64_t kDefaultMemory = std::uint64_t{1} << 30;
constexpr std::uint64_t kLeastPairs = 1024;  // of nodes and places in memory
constexpr std::size_t kGrainWords = 16;      // 64 nodes each, per task
constexpr std::size_t kGrainPairs = 4096;

// Walks through the nodes with given types beside ascending nodes.
class TypeCursor {
 public:
  TypeCursor(const NodeLabels* types, std::uint64_t first) : types_(types) {
    if (types_ == nullptr) return;
    const auto at = std::lower_bound(types_->nodes.begin(), types_->nodes.end(), first);
    place_ = static_cast<std::size_t>(at - types_->nodes.begin());
  }

  // Returns the types of `node`, which ascends from call to call; empty for none.
  std::span<const std::uint32_t> Of(std::uint64_t node) {
    if (types_ == nullptr) return {};
    while (place_ < types_->nodes.size() && types_->nodes[place_] < node) ++place_;
    if (place_ == types_->nodes.size() || types_->nodes[place_] != node) return {};
    return types_->Of(place_);
  }

 private:
  const NodeLabels* types_;
  std::size_t place_ = 0;
};

// Returns the pairs of the first node and removes them from `pairs`. REQUIRES: some
std::span<const NodePlace> TakeNode(std::span<const NodePlace>& pairs) {
  std::size_t count = 1;
  while (count < pairs.size() && pairs[count].node == pairs[0].node) ++count;
  const std::span<const NodePlace> taken = pairs.first(count);
  pairs = pairs.subspan(count);
  return taken;
}

std::uint64_t FeatureCount(const Graph& graph, std::uint64_t type_count) { return PlaceCount(graph) + type_count; }

std::uint64_t TypeCount(const NodeLabels* types) { return types == nullptr ? 0 : types->names.size(); }

}  // namespace

std::uint64_t TypeMask::Count(std::size_t rule) const {
  const auto words = std::span(words_).subspan(rule * words_per_rule_, words_per_rule_);
  return std::accumulate(words.begin(), words.end(), std::uint64_t{0}, [](std::uint64_t sum, std::uint64_t word) {
    return sum + static_cast<std::uint64_t>(std::popcount(word));
  });
}

// Counts the features of the nodes at a group of places, as many as fit the memory, and then at the next group.
class TypeRuleCounter {
 public:
  TypeRuleCounter(const Graph& graph, std::span<const std::uint64_t> places, const TypeRuleOptions& options,
                  TypeRules& rules)
      : graph_(graph),
        places_(places),
        options_(options),
        rules_(rules),
        features_(FeatureCount(graph, TypeCount(options.types))) {
    const std::uint64_t memory = options.memory_bytes == 0 ? kDefaultMemory : options.memory_bytes;
    max_pairs_ = std::max(kLeastPairs, memory / 4 / NodePlaces::kBytes);
    group_ = std::max<std::uint64_t>(1, memory / 2 / ((features_ + 1) * sizeof(std::uint64_t)));
  }

  absl::Status Run() {
    for (std::size_t first = 0; first < places_.size(); first += group_) {
      RETURN_IF_ERROR(CountGroup(first, std::min<std::size_t>(first + group_, places_.size())));
    }
    List();
    return absl::OkStatus();
  }

 private:
  struct Admission {
    std::uint64_t feature = 0;
    std::uint32_t rule = 0;

    friend auto operator<=>(const Admission&, const Admission&) = default;
  };

  // Rules [first, last).
  absl::Status CountGroup(std::size_t first, std::size_t last) {
    counts_.assign((last - first) * (features_ + 1), 0);
    for (const AnswerRange& range : MakeAnswerRanges(graph_, max_pairs_)) {
      RETURN_IF_ERROR(VisitNodePlaces(graph_, range.first, range.last, max_pairs_, [&](const NodePlaces& places) {
        CountPiece(places, first, last);
        return options_.stop && options_.stop() ? absl::CancelledError("counting types was stopped") : absl::OkStatus();
      }));
    }
    for (std::size_t rule = first; rule < last; ++rule) {
      Admit(static_cast<std::uint32_t>(rule),
            std::span(counts_).subspan((rule - first) * (features_ + 1), features_ + 1));
    }
    return absl::OkStatus();
  }

  void CountPiece(const NodePlaces& places, std::size_t first, std::size_t last) {
    ParallelRanges(0, places.pairs().size(), kGrainPairs, [&](std::size_t begin, std::size_t end) {
      // The nodes whose first pair is in [begin, end).
      std::span<const NodePlace> pairs = places.pairs();
      while (begin > 0 && begin < end && pairs[begin].node == pairs[begin - 1].node) ++begin;
      if (begin == end) return;
      pairs = places.In(pairs[begin].node, pairs[end - 1].node + 1);
      TypeCursor cursor(options_.types, pairs[0].node);
      while (!pairs.empty()) {
        const std::span<const NodePlace> node = TakeNode(pairs);
        CountNode(node, cursor.Of(node[0].node), first, last);
      }
    });
  }

  void CountNode(std::span<const NodePlace> node, std::span<const std::uint32_t> types, std::size_t first,
                 std::size_t last) {
    for (const NodePlace& seen : node) {
      const std::uint32_t rule = rules_.rules_[seen.place];
      if (rule < first || rule >= last) continue;  // kNoRule is above all
      const auto counts = std::span(counts_).subspan((rule - first) * (features_ + 1), features_ + 1);
      for (const NodePlace& other : node) Increment(counts[other.place]);
      for (const std::uint32_t type : types) Increment(counts[rules_.place_count_ + type]);
      if (!types.empty()) Increment(counts[features_]);
    }
  }

  // Relaxed: read when all threads are done.
  static void Increment(std::uint64_t& count) {
    std::atomic_ref<std::uint64_t>(count).fetch_add(1, std::memory_order_relaxed);
  }

  // `counts`: of the features, then of the nodes with given types. [features + 1]
  void Admit(std::uint32_t rule, std::span<const std::uint64_t> counts) {
    const std::uint64_t seen = counts[places_[rule]];
    rules_.open_[rule] = seen == 0 ? 1 : 0;
    for (std::uint64_t feature = 0; feature < features_; ++feature) {
      const std::uint64_t of = feature < rules_.place_count_ ? seen : counts[features_];
      if (counts[feature] == 0 || static_cast<double>(counts[feature]) < options_.share * static_cast<double>(of)) {
        continue;
      }
      admissions_.push_back({feature, rule});
    }
  }

  // Sorts the admissions by feature.
  void List() {
    std::sort(admissions_.begin(), admissions_.end());
    rules_.offsets_.assign(features_ + 1, 0);
    for (const Admission& admission : admissions_) {
      ++rules_.offsets_[admission.feature + 1];
      rules_.admitted_.push_back(admission.rule);
    }
    std::partial_sum(rules_.offsets_.begin(), rules_.offsets_.end(), rules_.offsets_.begin());
  }

  const Graph& graph_;
  const std::span<const std::uint64_t> places_;  // of the rules
  const TypeRuleOptions& options_;
  TypeRules& rules_;
  const std::uint64_t features_;
  std::uint64_t max_pairs_ = 0;
  std::uint64_t group_ = 0;            // rules counted at once
  std::vector<std::uint64_t> counts_;  // [rules of the group, features + 1]
  std::vector<Admission> admissions_;
};

TypeRules::TypeRules(const Graph& graph, std::vector<std::uint64_t> places, const TypeRuleOptions& options)
    : types_(options.types), place_count_(PlaceCount(graph)), rules_(place_count_, kNoRule), open_(places.size(), 0) {
  for (std::size_t rule = 0; rule < places.size(); ++rule) rules_[places[rule]] = static_cast<std::uint32_t>(rule);
}

absl::StatusOr<TypeRules> TypeRules::Count(const Graph& graph, std::vector<std::uint64_t> places,
                                           const TypeRuleOptions& options) {
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  TypeRules rules(graph, places, options);
  RETURN_IF_ERROR(TypeRuleCounter(graph, places, options, rules).Run());
  return rules;
}

std::uint64_t TypeRules::LeastBytes(const Graph& graph, std::uint64_t type_count) {
  // Twice the counts of one place, four times the least pairs; what a place admits is mostly far less than its counts.
  const std::uint64_t counts = (FeatureCount(graph, type_count) + 1) * sizeof(std::uint64_t);
  return std::max<std::uint64_t>(std::uint64_t{1} << 20, 4 * std::max(counts, kLeastPairs * NodePlaces::kBytes));
}

std::uint64_t TypeRules::Bytes() const {
  return rules_.capacity() * sizeof(rules_[0]) + open_.capacity() + offsets_.capacity() * sizeof(offsets_[0]) +
         admitted_.capacity() * sizeof(std::uint32_t);
}

template <typename Use>
void TypeRules::ForEachRule(std::span<const NodePlace> places, std::span<const std::uint32_t> types,
                            const Use& use) const {
  const bool unknown = places.empty() && types.empty();
  for (std::size_t rule = 0; rule < open_.size(); ++rule) {
    if (unknown || open_[rule] != 0) use(rule);
  }
  const auto use_admitted = [&](std::uint64_t feature) {
    for (std::uint64_t i = offsets_[feature]; i < offsets_[feature + 1]; ++i) use(admitted_[i]);
  };
  for (const std::uint32_t type : types) use_admitted(place_count_ + type);
  for (const NodePlace& seen : places) {
    if (rules_[seen.place] != kNoRule) use(rules_[seen.place]);
    if (types.empty()) use_admitted(seen.place);
  }
}

void TypeRules::Mark(const NodePlaces& places, std::uint64_t first, std::uint64_t last, TypeMask& mask) const {
  mask.first_ = first;
  mask.words_per_rule_ = TypeMask::Words(last - first);
  mask.words_.assign(size() * mask.words_per_rule_, 0);
  // A task has its own words of every rule.
  ParallelRanges(0, mask.words_per_rule_, kGrainWords, [&](std::size_t first_word, std::size_t last_word) {
    const std::uint64_t begin = first + 64 * first_word;
    const std::uint64_t end = std::min(first + 64 * last_word, last);
    std::span<const NodePlace> pairs = places.In(begin, end);
    TypeCursor cursor(types_, begin);
    for (std::uint64_t node = begin; node < end; ++node) {
      const bool has_places = !pairs.empty() && pairs[0].node == node;
      const std::span<const NodePlace> own = has_places ? TakeNode(pairs) : std::span<const NodePlace>();
      ForEachRule(own, cursor.Of(node), [&, bit = node - first](std::size_t rule) {
        mask.words_[rule * mask.words_per_rule_ + bit / 64] |= std::uint64_t{1} << (bit % 64);
      });
    }
  });
}

}  // namespace octavo
