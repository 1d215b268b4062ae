#include "layout/principal_plane.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "Eigen/Eigenvalues"
#include "base/status.h"
#include "evaluate/row_stream.h"

namespace octavo {
namespace {

using Eigen::Index;

constexpr Index kPanelRows = 64;  // rows added to the covariance together
constexpr std::uint64_t kMostReadBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kLeastReadBytes = std::uint64_t{256} << 10;

// Memory for the covariance, the eigenvectors and the solver; a panel; ids, order and points of `nodes` nodes.
std::uint64_t HeldBytes(const EmbeddedGraph& embedded, std::uint64_t nodes) {
  const std::uint64_t dim = embedded.model.dim;
  return 4 * dim * dim * sizeof(double) + (kPanelRows + 8) * dim * sizeof(double) + nodes * 6 * sizeof(double);
}

// Memory for a block of rows that are read, or for the page cache of it.
std::uint64_t ReadBytes(std::uint64_t memory_bytes, std::uint64_t held) {
  return std::min(kMostReadBytes, (memory_bytes - std::min(memory_bytes, held)) / 2);
}

// Calls use(place, row) for each row of a set, always in the same order. row: [dim], valid during the call
using UseRow = std::function<void(std::size_t, Eigen::Map<const Eigen::VectorXf>)>;
using RowVisits = std::function<absl::Status(const UseRow&)>;

// Visits the rows of `nodes` in id order; the place is that in `nodes`.
RowVisits VisitsOf(const EmbeddedGraph& embedded, std::span<const std::uint64_t> nodes, std::uint64_t read_bytes) {
  std::vector<std::size_t> places(nodes.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) { return nodes[a] < nodes[b]; });
  std::vector<std::uint64_t> ids(nodes.begin(), nodes.end());
  std::sort(ids.begin(), ids.end());
  return [&embedded, read_bytes, places = std::move(places), ids = std::move(ids)](const UseRow& use) {
    return VisitRows(embedded.embeddings, ids, read_bytes,
                     [&](std::size_t begin, std::size_t end, const RowBlock& block) {
                       RETURN_IF_ERROR(CheckFinite(embedded, block.first, block.values));
                       for (std::size_t i = begin; i < end; ++i) {
                         use(places[i], {block.Row(ids[i]).data(), static_cast<Index>(block.columns)});
                       }
                       return absl::OkStatus();
                     });
  };
}

// Visits all rows; the place is the node's id.
RowVisits VisitsOfAll(const EmbeddedGraph& embedded, std::uint64_t read_bytes) {
  return [&embedded, read_bytes](const UseRow& use) {
    const std::uint64_t row_bytes = embedded.model.dim * sizeof(float);
    return StreamRows(embedded.embeddings, 0, embedded.graph.node_count(),
                      std::max<std::uint64_t>(1, read_bytes / row_bytes), [&](const RowBlock& block) {
                        RETURN_IF_ERROR(CheckFinite(embedded, block.first, block.values));
                        const std::uint64_t end = block.first + block.values.size() / block.columns;
                        for (std::uint64_t node = block.first; node < end; ++node) {
                          use(node, {block.Row(node).data(), static_cast<Index>(block.columns)});
                        }
                        return absl::OkStatus();
                      });
  };
}

absl::StatusOr<Eigen::VectorXd> MeanOf(const RowVisits& rows, Index dim, std::size_t nodes) {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(dim);
  RETURN_IF_ERROR(rows([&](std::size_t, const auto& row) { sum += row.template cast<double>(); }));
  return Eigen::VectorXd(sum / static_cast<double>(nodes));
}

// Returns the lower half of the covariance matrix, [dim, dim].
absl::StatusOr<Eigen::MatrixXd> CovarianceOf(const RowVisits& rows, const Eigen::VectorXd& mean, std::size_t nodes) {
  const Index dim = mean.size();
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(dim, dim);
  Eigen::MatrixXd panel(dim, kPanelRows);
  Index filled = 0;
  const auto add = [&] {
    covariance.selfadjointView<Eigen::Lower>().rankUpdate(panel.leftCols(filled));
    filled = 0;
  };
  RETURN_IF_ERROR(rows([&](std::size_t, const auto& row) {
    panel.col(filled) = row.template cast<double>() - mean;
    if (++filled == kPanelRows) add();
  }));
  if (filled > 0) add();
  return Eigen::MatrixXd(covariance / static_cast<double>(nodes));
}

using UsePoint = std::function<void(std::size_t, const std::array<double, 2>&)>;

// Finds the two axes and passes the points of the rows to `use`. Returns the shares of the variance.
absl::StatusOr<std::array<double, 2>> Project(const RowVisits& rows, Index dim, std::size_t nodes,
                                              const UsePoint& use) {
  std::array<double, 2> shares{};
  ASSIGN_OR_RETURN(const Eigen::VectorXd mean, MeanOf(rows, dim, nodes));
  Eigen::MatrixXd axes(dim, std::min<Index>(2, dim));
  {
    ASSIGN_OR_RETURN(const Eigen::MatrixXd covariance, CovarianceOf(rows, mean, nodes));
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance);  // ascending
    if (solver.info() != Eigen::Success)
      return RuntimeError("the computation of the principal axes of the embeddings did not converge");
    const double variance = covariance.trace();
    for (Index i = 0; i < axes.cols(); ++i) {
      axes.col(i) = solver.eigenvectors().col(dim - 1 - i);
      Index largest = 0;
      axes.col(i).cwiseAbs().maxCoeff(&largest);
      if (axes(largest, i) < 0) axes.col(i) *= -1;
      if (variance > 0) {
        shares[static_cast<std::size_t>(i)] = std::max(0.0, solver.eigenvalues()(dim - 1 - i) / variance);
      }
    }
  }
  RETURN_IF_ERROR(rows([&](std::size_t place, const auto& row) {
    const Eigen::VectorXd centred = row.template cast<double>() - mean;
    std::array<double, 2> point{};
    for (Index i = 0; i < axes.cols(); ++i) point[static_cast<std::size_t>(i)] = axes.col(i).dot(centred);
    use(place, point);
  }));
  return shares;
}

}  // namespace

std::uint64_t LeastPlaneMemory(const EmbeddedGraph& embedded, std::uint64_t nodes) {
  return HeldBytes(embedded, nodes) + 2 * std::max(kLeastReadBytes, embedded.model.dim * sizeof(float));
}

absl::StatusOr<PrincipalPlane> ProjectNodes(const EmbeddedGraph& embedded, std::span<const std::uint64_t> nodes,
                                            std::uint64_t memory_bytes) {
  PrincipalPlane plane;
  plane.points.resize(nodes.size());
  if (nodes.empty()) return plane;
  const RowVisits rows = VisitsOf(embedded, nodes, ReadBytes(memory_bytes, HeldBytes(embedded, nodes.size())));
  ASSIGN_OR_RETURN(plane.variance_shares,
                   Project(rows, static_cast<Index>(embedded.model.dim), nodes.size(),
                           [&](std::size_t place, const auto& point) { plane.points[place] = point; }));
  return plane;
}

absl::StatusOr<std::array<double, 2>> ProjectAllNodes(
    const EmbeddedGraph& embedded, std::uint64_t memory_bytes,
    const std::function<void(std::uint64_t, const std::array<double, 2>&)>& use,
    const std::function<void(double)>& progress) {
  const std::uint64_t nodes = embedded.graph.node_count();
  const RowVisits visits = VisitsOfAll(embedded, ReadBytes(memory_bytes, HeldBytes(embedded, 0)));
  std::uint64_t done = 0;  // rows, of the three passes
  const RowVisits rows = [&](const UseRow& use_row) {
    return visits([&](std::size_t place, const auto& row) {
      use_row(place, row);
      if (++done % 4096 == 0 && progress) progress(static_cast<double>(done) / static_cast<double>(3 * nodes));
    });
  };
  return Project(rows, static_cast<Index>(embedded.model.dim), nodes, use);
}

}  // namespace octavo
