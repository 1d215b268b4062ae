#include "cmd/validation.h"

#include <algorithm>
#include <filesystem>

#include "base/byte_size.h"
#include "base/status.h"
#include "cmd/run_flags.h"
#include "evaluate/ranking.h"
#include "fmt/format.h"

namespace octavo {
namespace {

// Of --memory, or more where a ranking needs it.
constexpr std::uint64_t kShare = 8;

RankingOptions RankingOf(const TrainOptions& options) {
  return {.split = Split::kValid, .sample = options.validation_sample, .seed = options.seed};
}

// Beside the ranking: the relations, twice as they are loaded.
std::uint64_t RelationBytes(const TrainOptions& options, const Graph& graph) {
  return 4 * options.model_spec().RelationWidth() * graph.relation_count() * sizeof(float);
}

}  // namespace

absl::StatusOr<std::uint64_t> ValidationMemory(const TrainOptions& options, const Graph& graph, std::uint64_t memory,
                                               int threads) {
  if (options.validate_every == 0) return 0;
  const auto least = [&](int with) {
    return RelationBytes(options, graph) + LeastRankingMemory(graph, options.model_spec(), RankingOf(options), with);
  };
  const std::uint64_t share = std::max(memory / kShare, least(1));
  if (least(threads) <= share) return share;
  return UsageError(fmt::format(
      "validations need {} with {} threads, and {} of --memory is theirs; expected fewer --threads or more --memory",
      FormatByteSize(least(threads)), threads, FormatByteSize(share)));
}

Validator MakeValidator(Program& program, std::uint64_t memory) {
  return [&program, memory](const std::filesystem::path& folder,
                            const TrainOptions& options) -> absl::StatusOr<ValidationScores> {
    ASSIGN_OR_RETURN(TrainedRun run, OpenTrainedRun(folder));
    run.embeddings.DropBehind();  // what is cached of the tables is none of the training's memory
    RankingOptions ranking = RankingOf(options);
    const std::uint64_t relations = RelationBytes(options, *run.graph);
    ranking.memory_bytes = memory - std::min(memory - 1, relations);
    ranking.progress = [&program](double share) {
      program.reporter.Progress(fmt::format("validation: {:.0f} %", 100 * share));
    };
    ASSIGN_OR_RETURN(const RankingReport report, RankTriples(EmbeddedOf(run), ranking));
    program.reporter.EndProgress();
    const RankSums sums = report.Both().filtered;
    return ValidationScores{.mrr = sums.MeanReciprocalRank(),
                            .hits_at_1 = sums.HitsAt1(),
                            .hits_at_3 = sums.HitsAt3(),
                            .hits_at_10 = sums.HitsAt10(),
                            .mean_rank = sums.MeanRank(),
                            .triples = report.triples};
  };
}

}  // namespace octavo
