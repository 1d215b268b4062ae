#include "cmd/validation.h"

#include <algorithm>
#include <filesystem>

#include "base/status.h"
#include "cmd/interrupt.h"
#include "cmd/opened_run.h"
#include "cmd/reading_memory.h"
#include "evaluate/ranking.h"
#include "fmt/format.h"

namespace octavo {
namespace {

absl::StatusOr<ValidationScores> Validate(Program& program, const std::filesystem::path& folder,
                                          const TrainOptions& options, std::uint64_t memory) {
  ASSIGN_OR_RETURN(TrainedRun run, OpenTrainedRun(folder));
  const std::uint64_t open = OpenBytes(run);
  RankingOptions ranking = {.split = Split::kValid, .sample = options.validation_sample, .seed = options.seed};
  ranking.memory_bytes = memory - std::min(memory - 1, open);
  // Cached file pages count as memory too.
  if (StreamedBytes(run) > ranking.memory_bytes / 2) {
    run.embeddings.DropBehind();
    run.graph->DropBehind();
  } else {
    ranking.memory_bytes -= StreamedBytes(run);
    run.embeddings.Map();
  }
  ranking.progress = [&program](double share) { program.reporter.Show({.phase = "validation", .share = share}); };
  ranking.stop = [] { return Interrupted(); };
  ASSIGN_OR_RETURN(const RankingReport report, RankTriples(EmbeddedOf(run), ranking));
  program.reporter.EndProgress();
  const RankSums sums = report.Both().filtered;
  return ValidationScores{.mrr = sums.MeanReciprocalRank(),
                          .hits_at_1 = sums.HitsAt1(),
                          .hits_at_3 = sums.HitsAt3(),
                          .hits_at_10 = sums.HitsAt10(),
                          .mean_rank = sums.MeanRank(),
                          .triples = report.triples};
}

}  // namespace

Validator MakeValidator(Program& program) {
  return [&program](const std::filesystem::path& run, const TrainOptions& options, std::uint64_t memory) {
    return Validate(program, run, options, memory);
  };
}

}  // namespace octavo
