#include "report/principal_plane.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "Eigen/Eigenvalues"
#include "base/status.h"
#include "evaluate/row_stream.h"

namespace octavo {
namespace {

using Eigen::Index;

constexpr Index kPanelRows = 64;  // rows added to the covariance together
constexpr std::uint64_t kMostReadBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kLeastReadBytes = std::uint64_t{256} << 10;

// Memory for the covariance, the eigenvectors and the solver; a panel; ids, order and points of the nodes.
std::uint64_t HeldBytes(const EmbeddedGraph& embedded, std::uint64_t nodes) {
  const std::uint64_t dim = embedded.model.dim;
  return 4 * dim * dim * sizeof(double) + (kPanelRows + 8) * dim * sizeof(double) + nodes * 6 * sizeof(double);
}

// Calls `use(place, row)` for each node, in id order. row: [dim], valid during the call
class RowVisits {
 public:
  RowVisits(const EmbeddedGraph& embedded, std::span<const std::uint64_t> nodes, std::uint64_t read_bytes)
      : embedded_(embedded), read_bytes_(read_bytes), places_(nodes.size()), ids_(nodes.begin(), nodes.end()) {
    std::iota(places_.begin(), places_.end(), std::size_t{0});
    std::sort(places_.begin(), places_.end(), [&](std::size_t a, std::size_t b) { return nodes[a] < nodes[b]; });
    std::sort(ids_.begin(), ids_.end());
  }

  absl::Status Visit(const std::function<void(std::size_t, Eigen::Map<const Eigen::VectorXf>)>& use) const {
    return VisitRows(embedded_.embeddings, ids_, read_bytes_,
                     [&](std::size_t begin, std::size_t end, const RowBlock& block) {
                       RETURN_IF_ERROR(CheckFinite(embedded_, block.first, block.values));
                       for (std::size_t i = begin; i < end; ++i) {
                         use(places_[i], {block.Row(ids_[i]).data(), static_cast<Index>(block.columns)});
                       }
                       return absl::OkStatus();
                     });
  }

 private:
  const EmbeddedGraph& embedded_;
  std::uint64_t read_bytes_;
  std::vector<std::size_t> places_;
  std::vector<std::uint64_t> ids_;
};

absl::StatusOr<Eigen::VectorXd> MeanOf(const RowVisits& rows, Index dim, std::size_t nodes) {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(dim);
  RETURN_IF_ERROR(rows.Visit([&](std::size_t, const auto& row) { sum += row.template cast<double>(); }));
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
  RETURN_IF_ERROR(rows.Visit([&](std::size_t, const auto& row) {
    panel.col(filled) = row.template cast<double>() - mean;
    if (++filled == kPanelRows) add();
  }));
  if (filled > 0) add();
  return Eigen::MatrixXd(covariance / static_cast<double>(nodes));
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
  const std::uint64_t held = HeldBytes(embedded, nodes.size());
  const RowVisits rows(embedded, nodes, std::min(kMostReadBytes, (memory_bytes - std::min(memory_bytes, held)) / 2));
  const auto dim = static_cast<Index>(embedded.model.dim);
  ASSIGN_OR_RETURN(const Eigen::VectorXd mean, MeanOf(rows, dim, nodes.size()));
  Eigen::MatrixXd axes(dim, std::min<Index>(2, dim));
  {
    ASSIGN_OR_RETURN(const Eigen::MatrixXd covariance, CovarianceOf(rows, mean, nodes.size()));
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
        plane.variance_shares[static_cast<std::size_t>(i)] =
            std::max(0.0, solver.eigenvalues()(dim - 1 - i) / variance);
      }
    }
  }
  RETURN_IF_ERROR(rows.Visit([&](std::size_t place, const auto& row) {
    const Eigen::VectorXd centred = row.template cast<double>() - mean;
    for (Index i = 0; i < axes.cols(); ++i) plane.points[place][static_cast<std::size_t>(i)] = axes.col(i).dot(centred);
  }));
  return plane;
}

}  // namespace octavo
