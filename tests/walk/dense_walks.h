// Expected results of walks, from dense matrices of transition probabilities: simple, for small graphs only, and
// without code of the walks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "base/edge.h"

namespace octavo {

using Matrix = std::vector<std::vector<double>>;

inline Matrix Zeros(std::size_t n) { return Matrix(n, std::vector<double>(n)); }

// [from][to]; a row of zeros for a node without edges.
inline Matrix Transitions(std::size_t n, std::span<const Edge> edges) {
  Matrix weights = Zeros(n);
  for (const Edge& edge : edges) weights[Value(edge.head)][Value(edge.tail)] += edge.weight;
  for (std::vector<double>& row : weights) {
    double sum = 0;
    for (const double weight : row) sum += weight;
    for (double& weight : row) weight = sum > 0 ? weight / sum : 0;
  }
  return weights;
}

// The probabilities of the step from `node` of a walk that came from `previous`: the formula of node2vec.
inline std::vector<double> SecondOrderRow(const Matrix& transitions, std::size_t previous, std::size_t node, double p,
                                          double q) {
  std::vector<double> row = transitions[node];
  double sum = 0;
  for (std::size_t to = 0; to < row.size(); ++to) {
    row[to] *= to == previous ? 1 / p : transitions[previous][to] > 0 ? 1 : 1 / q;
    sum += row[to];
  }
  for (double& probability : row) probability = sum > 0 ? probability / sum : 0;
  return row;
}

inline Matrix Product(const Matrix& a, const Matrix& b) {
  Matrix product = Zeros(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < a.size(); ++k) {
      for (std::size_t j = 0; j < a.size(); ++j) product[i][j] += a[i][k] * b[k][j];
    }
  }
  return product;
}

// How many pairs (earlier, later) one walk from each node gives, with memoryless steps.
inline Matrix ExpectedPairs(const Matrix& transitions, std::size_t length, std::size_t window) {
  const std::size_t n = transitions.size();
  std::vector<double> at(n, 1.0);  // how many walks are at each node
  Matrix pairs = Zeros(n);
  for (std::size_t place = 0; place + 1 < length; ++place) {
    Matrix ahead = transitions;
    for (std::size_t distance = 1; distance <= window && place + distance < length; ++distance) {
      for (std::size_t u = 0; u < n; ++u) {
        for (std::size_t v = 0; v < n; ++v) pairs[u][v] += at[u] * ahead[u][v];
      }
      ahead = Product(ahead, transitions);
    }
    std::vector<double> next(n);
    for (std::size_t u = 0; u < n; ++u) {
      for (std::size_t v = 0; v < n; ++v) next[v] += at[u] * transitions[u][v];
    }
    at = next;
  }
  return pairs;
}

// The same for node2vec and a window of 1: a sum over all pairs of consecutive nodes.
inline Matrix ExpectedSecondOrderSteps(const Matrix& transitions, std::size_t length, double p, double q) {
  const std::size_t n = transitions.size();
  Matrix at = transitions;  // how many walks have just gone from u to v
  Matrix pairs = transitions;
  for (std::size_t step = 2; step < length; ++step) {
    Matrix next = Zeros(n);
    for (std::size_t t = 0; t < n; ++t) {
      for (std::size_t u = 0; u < n; ++u) {
        if (at[t][u] == 0) continue;
        const std::vector<double> row = SecondOrderRow(transitions, t, u, p, q);
        for (std::size_t v = 0; v < n; ++v) next[u][v] += at[t][u] * row[v];
      }
    }
    at = next;
    for (std::size_t u = 0; u < n; ++u) {
      for (std::size_t v = 0; v < n; ++v) pairs[u][v] += at[u][v];
    }
  }
  return pairs;
}

// Personalised PageRank of each node by power iteration; a node without edges keeps its probability.
inline Matrix PersonalPageRank(Matrix transitions, double alpha) {
  const std::size_t n = transitions.size();
  for (std::size_t u = 0; u < n; ++u) {
    double sum = 0;
    for (const double p : transitions[u]) sum += p;
    if (sum == 0) transitions[u][u] = 1;
  }
  Matrix rank = Zeros(n);
  for (std::size_t u = 0; u < n; ++u) rank[u][u] = 1;
  for (int i = 0; i < 300; ++i) {
    rank = Product(rank, transitions);
    for (std::size_t u = 0; u < n; ++u) {
      for (double& p : rank[u]) p *= alpha;
      rank[u][u] += 1 - alpha;
    }
  }
  return rank;
}

// The statistic of the chi-square test as a standard normal number (Wilson and Hilferty 1931): below 5 for draws from
// `expected`. Cells below 5 are combined, and added to the largest one if they are still below 5.
inline double ChiSquareScore(std::span<const double> observed, std::span<const double> expected) {
  struct Cell {
    double observed = 0;
    double expected = 0;
  };
  std::vector<Cell> cells;
  Cell rest;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    if (expected[i] == 0 && observed[i] > 0) return INFINITY;
    if (expected[i] >= 5) {
      cells.push_back({observed[i], expected[i]});
    } else {
      rest = {rest.observed + observed[i], rest.expected + expected[i]};
    }
  }
  if (cells.empty() && rest.expected == 0) return 0;  // a node without neighbours
  if (rest.expected >= 5 || cells.empty()) {
    cells.push_back(rest);
  } else {
    Cell& largest = *std::ranges::max_element(cells, {}, &Cell::expected);
    largest = {largest.observed + rest.observed, largest.expected + rest.expected};
  }
  double statistic = 0;
  for (const Cell& cell : cells) {
    statistic += (cell.observed - cell.expected) * (cell.observed - cell.expected) / cell.expected;
  }
  const double freedom = static_cast<double>(cells.size()) - 1;
  if (freedom == 0) return statistic;
  return (std::cbrt(statistic / freedom) - (1 - 2 / (9 * freedom))) / std::sqrt(2 / (9 * freedom));
}

}  // namespace octavo
