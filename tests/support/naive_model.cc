#include "tests/support/naive_model.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace octavo {
namespace {

std::vector<double> Widen(std::span<const float> values) { return {values.begin(), values.end()}; }

std::span<const double> RowOf(const std::vector<double>& rows, std::size_t i, std::size_t width) {
  return std::span(rows).subspan(i * width, width);
}

double Softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

struct EdgeScores {
  double positive = 0;
  std::vector<double> negatives;  // unmasked ones
};

// Scores of edge i, the only one of its query, on one side.
EdgeScores ScoreEdge(const ModelSpec& model, const NaiveChunk& chunk, Side side, std::size_t i, bool softmax) {
  const auto head = RowOf(chunk.heads, i, model.dim);
  const auto tail = RowOf(chunk.tails, i, model.dim);
  const std::size_t width = model.RelationWidth();
  const auto relation = RowOf(side == Side::kTail ? chunk.relations : chunk.head_relations, i, width);
  const auto& masks = side == Side::kTail ? chunk.tail_masks : chunk.head_masks;
  const auto& candidates = side == Side::kTail ? chunk.tail_negatives : chunk.head_negatives;
  const auto score = [&](std::span<const double> candidate) {
    if (side == Side::kTail) return NaiveScore(model, head, relation, candidate);
    if (chunk.reciprocal) return NaiveScore(model, tail, relation, candidate);
    return NaiveScore(model, candidate, relation, tail);
  };
  EdgeScores scores;
  scores.positive = score(side == Side::kTail ? tail : head);
  const SideGroups& groups = side == Side::kTail ? chunk.tail_groups : chunk.head_groups;
  const auto own = [&](std::span<const std::uint8_t> of, std::size_t k) {
    return !groups.negatives.empty() && of[k] == groups.anchors[i];
  };
  const bool answered_within = own(groups.answers, i);
  if (softmax && answered_within) scores.positive += groups.log_share;
  for (std::size_t j = 0; j < chunk.negatives; ++j) {
    const bool masked = std::any_of(masks.begin(), masks.end(),
                                    [&](const MaskedPair& pair) { return pair.query == i && pair.negative == j; });
    if (masked || (!softmax && own(groups.negatives, j) && !answered_within)) continue;
    scores.negatives.push_back(score(RowOf(candidates, j, model.dim)));
    if (softmax && own(groups.negatives, j)) scores.negatives.back() += groups.log_share;
  }
  return scores;
}

constexpr Side kSides[] = {Side::kTail, Side::kHead};

// Weights of all (side, edge) rows, side by side.
std::vector<std::vector<double>> AllAdversarialWeights(const ModelSpec& model, const LossSpec& loss,
                                                       const NaiveChunk& chunk) {
  std::vector<std::vector<double>> weights;
  for (const Side side : kSides) {
    for (std::size_t i = 0; i < chunk.edges; ++i) {
      weights.push_back(
          NaiveAdversarialWeights(loss, ScoreEdge(model, chunk, side, i, loss.kind == LossKind::kSoftmax).negatives));
    }
  }
  return weights;
}

double SumOfLosses(const ModelSpec& model, const LossSpec& loss, const NaiveChunk& chunk,
                   const std::vector<std::vector<double>>& adversarial_weights) {
  double sum = 0;
  std::size_t row = 0;
  for (const Side side : kSides) {
    for (std::size_t i = 0; i < chunk.edges; ++i, ++row) {
      const EdgeScores scores = ScoreEdge(model, chunk, side, i, loss.kind == LossKind::kSoftmax);
      sum += chunk.weights[i] * NaiveLoss(loss, scores.positive, scores.negatives, adversarial_weights[row]);
    }
  }
  return sum;
}

double SumOfPenalties(const ModelSpec& model, const RegularizerSpec& regularizer, const NaiveChunk& chunk) {
  const bool complex = model.kind == ModelKind::kComplEx || model.kind == ModelKind::kRotatE;
  const std::size_t width = model.RelationWidth();
  double sum = 0;
  for (const Side side : kSides) {
    for (std::size_t i = 0; i < chunk.edges; ++i) {
      sum += chunk.weights[i] * NaivePenalty(regularizer, complex, RowOf(chunk.heads, i, model.dim));
      sum += chunk.weights[i] * NaivePenalty(regularizer, complex, RowOf(chunk.tails, i, model.dim));
      if (model.kind == ModelKind::kRotatE) continue;
      const auto& relations = side == Side::kTail ? chunk.relations : chunk.head_relations;
      sum += chunk.weights[i] * NaivePenalty(regularizer, complex, RowOf(relations, i, width));
    }
  }
  return sum;
}

}  // namespace

NaiveChunk MakeNaiveChunk(const ChunkInput& input) {
  return {.edges = input.edges(),
          .negatives = input.negatives,
          .heads = Widen(input.heads),
          .tails = Widen(input.tails),
          .relations = Widen(input.relations),
          .head_relations = Widen(input.head_relations),
          .weights = Widen(input.weights),
          .tail_negatives = Widen(input.tail_negatives),
          .head_negatives = Widen(input.head_negatives),
          .tail_masks = {input.tail_masks.begin(), input.tail_masks.end()},
          .head_masks = {input.head_masks.begin(), input.head_masks.end()},
          .tail_groups = input.tail_groups,
          .head_groups = input.head_groups,
          .reciprocal = input.reciprocal};
}

double NaiveScore(const ModelSpec& spec, std::span<const double> head, std::span<const double> relation,
                  std::span<const double> tail) {
  const std::size_t half = spec.dim / 2;
  double sum = 0;
  switch (spec.kind) {
    case ModelKind::kDot:
      for (std::size_t l = 0; l < spec.dim; ++l) sum += head[l] * tail[l];
      return sum;
    case ModelKind::kDistMult:
      for (std::size_t l = 0; l < spec.dim; ++l) sum += head[l] * relation[l] * tail[l];
      return sum;
    case ModelKind::kComplEx:
      for (std::size_t l = 0; l < half; ++l) {
        const double re = head[l] * relation[l] - head[half + l] * relation[half + l];
        const double im = head[l] * relation[half + l] + head[half + l] * relation[l];
        sum += re * tail[l] + im * tail[half + l];
      }
      return sum;
    case ModelKind::kTransE:
      for (std::size_t l = 0; l < spec.dim; ++l) {
        const double difference = head[l] + relation[l] - tail[l];
        sum += spec.norm == Norm::kL1 ? std::abs(difference) : difference * difference;
      }
      return spec.norm == Norm::kL1 ? -sum : -std::sqrt(sum);
    case ModelKind::kRotatE:
      for (std::size_t l = 0; l < half; ++l) {
        const double cosine = std::cos(relation[l]);
        const double sine = std::sin(relation[l]);
        const double re = head[l] * cosine - head[half + l] * sine - tail[l];
        const double im = head[l] * sine + head[half + l] * cosine - tail[half + l];
        sum += spec.norm == Norm::kL1 ? std::sqrt(re * re + im * im) : re * re + im * im;
      }
      return spec.norm == Norm::kL1 ? -sum : -std::sqrt(sum);
    case ModelKind::kRescal: {
      const std::size_t block = spec.block == 0 ? spec.dim : spec.block;
      for (std::size_t i = 0; i < spec.dim; ++i) {
        for (std::size_t j = i / block * block; j < (i / block + 1) * block; ++j) {
          sum += head[i] * relation[i * block + j % block] * tail[j];
        }
      }
      return sum;
    }
    case ModelKind::kSourceContext:
      for (std::size_t l = 0; l < half; ++l) sum += head[l] * tail[half + l];
      return sum;
  }
  return 0;
}

std::vector<double> NaiveAdversarialWeights(const LossSpec& spec, std::span<const double> negatives) {
  if (spec.kind != LossKind::kSelfAdversarial || negatives.empty()) return {};
  const double max = *std::max_element(negatives.begin(), negatives.end());
  std::vector<double> weights;
  double sum = 0;
  for (const double s : negatives) {
    weights.push_back(std::exp(static_cast<double>(spec.adversarial_temperature) * (s - max)));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

double NaiveLoss(const LossSpec& spec, double positive, std::span<const double> negatives,
                 std::span<const double> adversarial_weights, std::span<const double> rivals) {
  const double margin = spec.margin;
  const auto count = static_cast<double>(negatives.size());
  double sum = 0;
  // Label smoothing: e * (p - mean of the negatives).
  double smoothing = 0;
  for (const double s : negatives) {
    smoothing += static_cast<double>(spec.label_smoothing) * (positive - s) / count;
  }
  switch (spec.kind) {
    case LossKind::kSoftmax: {
      std::vector<double> scores(negatives.begin(), negatives.end());
      for (double& s : scores) s += spec.log_negative_count;  // e^s, c times
      scores.insert(scores.end(), rivals.begin(), rivals.end());
      double max = positive;
      for (const double s : scores) max = std::max(max, s);
      sum = std::exp(positive - max);
      for (const double s : scores) sum += std::exp(s - max);
      return -positive + max + std::log(sum) + smoothing;
    }
    case LossKind::kLogistic:
      for (const double s : negatives) sum += Softplus(margin + s) / count;
      return Softplus(-(margin + positive)) + sum + smoothing;
    case LossKind::kRanking:
      for (const double s : negatives) sum += std::max(0.0, margin - positive + s) / count;
      return sum;
    case LossKind::kSelfAdversarial:
      for (std::size_t j = 0; j < negatives.size(); ++j)
        sum += adversarial_weights[j] * Softplus(margin + negatives[j]);
      return Softplus(-(margin + positive)) + sum;
  }
  return 0;
}

double NaivePenalty(const RegularizerSpec& spec, bool complex_layout, std::span<const double> row) {
  double sum = 0;
  const std::size_t half = row.size() / 2;
  switch (spec.kind) {
    case RegularizerKind::kNone:
      return 0;
    case RegularizerKind::kDura:
      throw std::logic_error("dura is of an edge");
    case RegularizerKind::kL2:
      for (const double x : row) sum += x * x;
      break;
    case RegularizerKind::kN3:
      if (complex_layout) {
        for (std::size_t l = 0; l < half; ++l) sum += std::pow(std::hypot(row[l], row[half + l]), 3);
      } else {
        for (const double x : row) sum += std::pow(std::abs(x), 3);
      }
      break;
  }
  return static_cast<double>(spec.weight) * sum;
}

// As the authors write it: half the squared rows, and 1.5 times the squares of the rows times the relation.
double NaiveDura(double weight, bool complex_layout, std::span<const double> head, std::span<const double> relation,
                 std::span<const double> tail) {
  const std::size_t width = complex_layout ? head.size() / 2 : head.size();
  const auto modulus = [&](std::span<const double> row, std::size_t l) {
    return complex_layout ? std::hypot(row[l], row[width + l]) : std::abs(row[l]);
  };
  double sum = 0;
  for (std::size_t l = 0; l < width; ++l) {
    const double h = modulus(head, l), r = modulus(relation, l), t = modulus(tail, l);
    sum += 0.5 * (h * h + t * t) + 1.5 * (std::pow(h * r, 2) + std::pow(t * r, 2));
  }
  return weight * sum;
}

double NaiveMatrixDura(double weight, std::size_t block, std::span<const double> head, std::span<const double> relation,
                       std::span<const double> tail) {
  double sum = 0;
  for (std::size_t i = 0; i < head.size(); ++i) {
    double from_head = 0;  // element i of h' R
    double to_tail = 0;    // element i of R t
    const std::size_t first = i / block * block;
    for (std::size_t m = first; m < first + block; ++m) {
      from_head += head[m] * relation[m * block + i - first];
      to_tail += relation[i * block + m - first] * tail[m];
    }
    sum += 0.5 * (head[i] * head[i] + tail[i] * tail[i]) + 1.5 * (from_head * from_head + to_tail * to_tail);
  }
  return weight * sum;
}

NaiveResult NaiveChunkLoss(const ModelSpec& model, const LossSpec& loss, const RegularizerSpec& regularizer,
                           const NaiveChunk& chunk) {
  const auto adversarial_weights = AllAdversarialWeights(model, loss, chunk);
  NaiveResult result;
  result.loss = SumOfLosses(model, loss, chunk, adversarial_weights);
  result.penalty = SumOfPenalties(model, regularizer, chunk);
  result.gradients = chunk;
  NaiveChunk moved = chunk;
  // Balances the error of the difference (step^2) with that of rounding (1e-16 / step).
  constexpr double kStep = 1e-5;
  for (const auto rows : {&NaiveChunk::heads, &NaiveChunk::tails, &NaiveChunk::relations, &NaiveChunk::head_relations,
                          &NaiveChunk::tail_negatives, &NaiveChunk::head_negatives}) {
    for (std::size_t l = 0; l < (chunk.*rows).size(); ++l) {
      const auto value_at = [&](double x) {
        (moved.*rows)[l] = x;
        return SumOfLosses(model, loss, moved, adversarial_weights) + SumOfPenalties(model, regularizer, moved);
      };
      const double x = (chunk.*rows)[l];
      const double difference = value_at(x + kStep) - value_at(x - kStep);
      (moved.*rows)[l] = x;
      (result.gradients.*rows)[l] = difference / (2 * kStep);
    }
  }
  return result;
}

}  // namespace octavo
