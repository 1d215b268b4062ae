#include "run/verify_run.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/count_text.h"
#include "base/status.h"
#include "fmt/format.h"
#include "format/graph_description.h"
#include "format/known_rows.h"
#include "format/paths.h"
#include "io/file.h"
#include "io/piece_reader.h"
#include "optimize/optimizer.h"
#include "run/event_check.h"
#include "run/options.h"
#include "run/run_configuration.h"
#include "run/telemetry.h"
#include "tables/mmap_gradient_accumulator.h"

namespace octavo {
namespace {

// Far above any graph.json.
constexpr std::uint64_t kMaxDescriptionBytes = std::uint64_t{64} << 20;
// Far above any event of a training.
constexpr std::uint64_t kMostEventBytes = std::uint64_t{1} << 20;

class RunCheck {
 public:
  RunCheck(const std::filesystem::path& folder, const CommitCheckOptions& options, CheckReport& report)
      : paths_(folder), options_(options), report_(report) {}

  absl::StatusOr<CheckedCommit> Run() {
    CheckConfiguration();
    ASSIGN_OR_RETURN(CheckedCommit commit, VerifyCommit(paths_, options_, report_));
    if (commit.manifest) {
      const ManifestHeader& header = commit.manifest->header;
      if (configuration_) CompareConfiguration(header);
      if (configuration_ && configuration_->options.needs_known_rows()) CheckKnownRows(header);
      CheckEvents(header.progress.metrics_bytes);
      CheckGradients();
      if (configuration_) CheckGraph(header);
    }
    return commit;
  }

 private:
  void CheckConfiguration() {
    absl::StatusOr<RunConfiguration> configuration = ReadRunConfiguration(paths_.Configuration());
    if (!configuration.ok()) {
      report_.Fault(paths_.Configuration(), "", configuration.status());
      return;
    }
    configuration_ = *std::move(configuration);
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(paths_.Configuration(), error);
    report_.Checked(paths_.Configuration(), error ? 0 : bytes, "the configuration");
  }

  void Compare(std::string_view what, std::uint64_t found, std::uint64_t expected, std::string_view source) {
    if (found == expected) return;
    report_.Damage(paths_.State(), "", fmt::format("{} {}", what, found),
                   fmt::format("{}, as {} says", expected, source));
  }

  void CompareConfiguration(const ManifestHeader& header) {
    const TrainOptions& options = configuration_->options;
    if (ConfigurationHash(options) != header.configuration_hash) {
      report_.Damage(
          paths_.Configuration(), "", fmt::format("a configuration with hash {:016x}", ConfigurationHash(options)),
          fmt::format("{:016x}, that of the configuration that the run was started with", header.configuration_hash));
      return;
    }
    const std::size_t width = options.model_spec().RelationWidth();
    Compare("dimension", header.dim, options.dim, "run.json");
    Compare("optimizer width", header.state_width, StateWidth(options.optimizer, options.dim), "run.json");
    Compare("relation width", header.relation_width, width, "run.json");
    Compare("relation optimizer width", header.relation_state_width,
            width == 0 ? 0 : StateWidth(options.optimizer, width), "run.json");
    if (header.element() != options.storage) {
      report_.Damage(paths_.State(), "", fmt::format("embeddings of {}", ElementName(header.element())),
                     fmt::format("{}, as run.json says", ElementName(options.storage)));
    }
    const std::uint64_t begun = header.progress.epoch + (header.progress.batch > 0 ? 1 : 0);
    if (begun > options.epochs) {
      report_.Damage(paths_.Configuration(), "", CountText(options.epochs, "epoch"),
                     fmt::format("at least the {} that were begun", begun));
    }
  }

  void CheckKnownRows(const ManifestHeader& header) {
    const std::filesystem::path path = paths_.KnownRows();
    const auto read = [&]() -> absl::StatusOr<KnownRows> {
      ASSIGN_OR_RETURN(const std::string bytes,
                       ReadWholeFile(path, KnownRows::FileBytes(header.rows, header.relation_rows)));
      return DecodeKnownRows(bytes, header.rows, header.relation_rows, path.string());
    };
    const absl::StatusOr<KnownRows> known = read();
    if (!known.ok()) return report_.Fault(path, "", known.status());
    report_.Checked(path, KnownRows::FileBytes(header.rows, header.relation_rows),
                    fmt::format("{} and {}", CountText(known->nodes.Count(), "node"),
                                CountText(known->relations.Count(), "relation row")));
  }

  void CheckEvents(std::uint64_t committed) {
    const std::filesystem::path path = paths_.Metrics();
    std::error_code error;
    if (committed == 0 && !std::filesystem::exists(path, error)) return;
    absl::StatusOr<PieceReader> reader = PieceReader::Open(path, options_.reading);
    if (!reader.ok()) {
      report_.Fault(path, "", reader.status());
      return;
    }
    if (reader->size() < committed) {
      report_.Damage(path, "", fmt::format("{} bytes", reader->size()),
                     fmt::format("at least the {} that were committed", committed));
    }
    EventCheck check(path, MetricsKeys(), kMostEventBytes, report_);
    const absl::Status status =
        reader->Read(0, std::min(reader->size(), committed), [&](std::span<const std::byte> piece) {
          check.Add({reinterpret_cast<const char*>(piece.data()), piece.size()});
          if (options_.progress) options_.progress(piece.size());
          return absl::OkStatus();
        });
    check.ExpectEnd();
    if (!status.ok()) report_.Fault(path, "", status);
    report_.Checked(path, std::min(reader->size(), committed), fmt::format("{} events", check.lines()));
  }

  // Only its header: the rest is scratch, never read by another process.
  void CheckGradients() {
    const std::filesystem::path path = paths_.Gradients();
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return;
    const absl::Status status = MmapGradientAccumulator::CheckFile(path);
    if (!std::filesystem::exists(path, error)) return;  // a training has ended meanwhile
    if (!status.ok()) return report_.Fault(path, "", status);
    report_.Checked(path, 4096, "its header; the rest is scratch");
  }

  // Compares the run with graph.json. Whether the graph is undamaged is a separate check.
  void CheckGraph(const ManifestHeader& header) {
    const GraphPaths graph(configuration_->graph);
    std::error_code error;
    if (!std::filesystem::exists(graph.Description(), error)) {
      report_.Note(
          fmt::format("{}: does not exist, so the run was not compared with its graph", graph.folder().string()));
      return;
    }
    const auto read = [&]() -> absl::StatusOr<GraphDescription> {
      ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(graph.Description(), kMaxDescriptionBytes));
      return DecodeGraphDescription(text, graph.Description().string());
    };
    const absl::StatusOr<GraphDescription> description = read();
    if (!description.ok()) {
      report_.Fault(graph.Description(), "", description.status());
      return;
    }
    if (description->fingerprint != header.graph_fingerprint) {
      report_.Damage(paths_.State(), "",
                     fmt::format("a run trained on a graph with fingerprint {:016x}", header.graph_fingerprint),
                     fmt::format("{:016x}, that of {}", description->fingerprint, graph.folder().string()));
      return;
    }
    Compare("rows", header.rows, description->node_count, "graph.json");
    Compare("rows per partition", header.partition_rows, description->partition_rows, "graph.json");
    Compare("relation rows", header.relation_rows,
            std::uint64_t{description->relation_count} * (configuration_->options.reciprocal ? 2 : 1), "graph.json");
  }

  const RunPaths paths_;
  const CommitCheckOptions& options_;
  CheckReport& report_;
  std::optional<RunConfiguration> configuration_;
};

}  // namespace

absl::StatusOr<CheckedCommit> VerifyRun(const std::filesystem::path& folder, const CommitCheckOptions& options,
                                        CheckReport& report) {
  return RunCheck(folder, options, report).Run();
}

}  // namespace octavo
