#include "model/negatives.h"

#include <algorithm>
#include <bitset>
#include <cmath>

namespace octavo {
namespace {

NodeId NodeAt(const Edge& edge, Side side) { return side == Side::kTail ? edge.tail : edge.head; }

// The node of the `index`-th id of the ranges laid end to end.
NodeId NodeOfIndex(std::span<const NodeRange> ranges, std::uint64_t index) {
  for (const NodeRange& range : ranges) {
    const std::uint64_t size = range.end - range.begin;
    if (index < size) return NodeId{range.begin + index};
    index -= size;
  }
  return NodeId{};  // not reached: index < sum of the sizes
}

// An edge of the chunk as a fact: this answer is known for this anchor and relation.
struct Fact {
  std::uint64_t anchor = 0;
  std::uint32_t relation = 0;
  std::uint32_t query = 0;
  std::uint64_t answer = 0;

  bool SameQuestion(const Fact& other) const { return anchor == other.anchor && relation == other.relation; }
};

// One bit per hash of a key: excludes most keys that were not added, and none that was.
class KeyFilter {
 public:
  void Add(std::uint64_t key) { bits_.set(BitOf(key)); }
  bool MayHave(std::uint64_t key) const { return bits_.test(BitOf(key)); }

 private:
  static constexpr int kBits = 14;
  static std::size_t BitOf(std::uint64_t key) { return (key * 0x9e3779b97f4a7c15U) >> (64 - kBits); }

  std::bitset<std::size_t{1} << kBits> bits_;
};

struct Candidate {
  std::uint64_t node = 0;
  std::uint32_t negative = 0;

  friend auto operator<=>(const Candidate&, const Candidate&) = default;
};

// The facts of each question that may have a candidate among its answers, sorted.
std::vector<Fact> SortedFacts(std::span<const Edge> chunk, std::span<const std::uint32_t> begins, Side side,
                              std::span<const Candidate> candidates) {
  const Side known = side == Side::kTail ? Side::kHead : Side::kTail;
  const auto question = [&](const Edge& edge) { return (Value(NodeAt(edge, known)) << 20) ^ Value(edge.relation); };
  KeyFilter nodes, questions;
  for (const Candidate& candidate : candidates) nodes.Add(candidate.node);
  for (const Edge& edge : chunk) {
    if (nodes.MayHave(Value(NodeAt(edge, side)))) questions.Add(question(edge));
  }
  std::vector<Fact> facts;
  for (std::uint32_t q = 0; q + 1 < begins.size(); ++q) {
    for (std::size_t i = begins[q]; i < begins[q + 1]; ++i) {
      if (!questions.MayHave(question(chunk[i]))) continue;
      facts.push_back({Value(NodeAt(chunk[i], known)), Value(chunk[i].relation), q, Value(NodeAt(chunk[i], side))});
    }
  }
  std::sort(facts.begin(), facts.end(), [](const Fact& a, const Fact& b) {
    if (a.anchor != b.anchor) return a.anchor < b.anchor;
    if (a.relation != b.relation) return a.relation < b.relation;
    if (a.answer != b.answer) return a.answer < b.answer;
    return a.query < b.query;
  });
  return facts;
}

// The negatives that may be an answer of the chunk, sorted. They are few; in a large graph there are mostly none.
std::vector<Candidate> PossibleAnswers(std::span<const Edge> chunk, Side side, std::span<const NodeId> negatives) {
  KeyFilter answers;
  for (const Edge& edge : chunk) answers.Add(Value(NodeAt(edge, side)));
  std::vector<Candidate> candidates;
  for (std::size_t j = 0; j < negatives.size(); ++j) {
    if (answers.MayHave(Value(negatives[j])))
      candidates.push_back({Value(negatives[j]), static_cast<std::uint32_t>(j)});
  }
  std::sort(candidates.begin(), candidates.end());
  return candidates;
}

// Draws by weight, in one pass through the batch: the running sum of the weights passes the sorted draws.
void SampleByWeight(RandomStream& stream, std::span<const Edge> batch, Side side, std::span<NodeId> negatives) {
  double total = 0;
  for (const Edge& edge : batch) total += edge.weight;
  std::vector<double> draws(negatives.size());
  // In [0, total), with 53 random bits.
  for (double& draw : draws) draw = static_cast<double>(stream.Next64() >> 11) * 0x1.0p-53 * total;
  std::sort(draws.begin(), draws.end());
  std::size_t place = 0;
  double sum = batch[0].weight;
  for (std::size_t j = 0; j < draws.size(); ++j) {
    while (draws[j] >= sum && place + 1 < batch.size()) sum += batch[++place].weight;
    negatives[j] = NodeAt(batch[place], side);
  }
}

}  // namespace

void SampleNegatives(RandomStream stream, std::span<const NodeRange> ranges, std::span<const Edge> batch, Side side,
                     float degree_fraction, std::span<NodeId> negatives, DegreeBy degree) {
  std::uint64_t nodes = 0;
  for (const NodeRange& range : ranges) nodes += range.end - range.begin;
  const double weighted = std::round(static_cast<double>(degree_fraction) * static_cast<double>(negatives.size()));
  const std::size_t by_degree = std::min(negatives.size(), static_cast<std::size_t>(weighted));
  if (degree == DegreeBy::kWeights) {
    SampleByWeight(stream, batch, side, negatives.first(by_degree));
  } else {
    for (std::size_t j = 0; j < by_degree; ++j) negatives[j] = NodeAt(batch[stream.Below(batch.size())], side);
  }
  for (std::size_t j = by_degree; j < negatives.size(); ++j) negatives[j] = NodeOfIndex(ranges, stream.Below(nodes));
}

// A join of the chunk's answers with the negatives by question (anchor and relation): each query of a question is
// masked with each answer to it. If edges share queries, a question has one query; otherwise it has one per edge, even
// for copies of an edge.
void FindAccidentalPositives(std::span<const Edge> chunk, std::span<const std::uint32_t> begins,
                             std::span<const NodeId> negatives, Side side, std::vector<MaskedPair>& pairs) {
  pairs.clear();
  const std::vector<Candidate> candidates = PossibleAnswers(chunk, side, negatives);
  if (candidates.empty()) return;
  const std::vector<Fact> facts = SortedFacts(chunk, begins, side, candidates);
  std::vector<std::uint32_t> queries;  // of the question
  for (std::size_t begin = 0; begin < facts.size();) {
    std::size_t end = begin + 1;
    while (end < facts.size() && facts[end].SameQuestion(facts[begin])) ++end;
    queries.clear();
    for (std::size_t f = begin; f < end; ++f) queries.push_back(facts[f].query);
    std::sort(queries.begin(), queries.end());
    queries.erase(std::unique(queries.begin(), queries.end()), queries.end());
    for (std::size_t f = begin; f < end; ++f) {
      if (f > begin && facts[f].answer == facts[f - 1].answer) continue;
      auto hit = std::lower_bound(candidates.begin(), candidates.end(), Candidate{facts[f].answer, 0});
      for (; hit != candidates.end() && hit->node == facts[f].answer; ++hit) {
        for (const std::uint32_t query : queries) pairs.push_back({query, hit->negative});
      }
    }
    begin = end;
  }
  std::sort(pairs.begin(), pairs.end());
}

}  // namespace octavo
