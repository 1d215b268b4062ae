#include "cmd/job.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "base/status.h"
#include "cmd/version_facts.h"
#include "fmt/format.h"
#include "model/gemm.h"
#include "model/simd_targets.h"
#include "oneapi/tbb/info.h"
#include "ranks/plugin_transport.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kMostLeaving(3);

// Beside the program as it is built and as it is installed; before them, where the user says.
std::vector<fs::path> PluginFolders() {
  std::vector<fs::path> folders;
  if (const char* const given = std::getenv("OCTAVO_PLUGINS"); given != nullptr && *given != '\0') {
    folders.emplace_back(given);
  }
  std::error_code ignored;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  folders.push_back(prefix / OCTAVO_PLUGIN_DIR / "plugins");
  folders.push_back(prefix / "lib/ranks");
  return folders;
}

std::string HostName() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "an unnamed machine";
  return name.data();
}

// What two processes must share to compute the same bits.
std::string KindOfProcess() {
  return fmt::format("octavo {}, {}, {}", kVersion, ActiveSimdTarget(), GemmBackendName(ActiveGemmBackend()));
}

absl::StatusOr<std::chrono::milliseconds> LostAfter() {
  const char* const given = std::getenv("OCTAVO_LOST_AFTER");
  if (given == nullptr) return std::chrono::milliseconds(60000);
  double seconds = 0;
  if (!absl::SimpleAtod(given, &seconds) || !(seconds >= 1 && seconds <= 86400)) {
    return UsageError(fmt::format("OCTAVO_LOST_AFTER is {}; expected seconds from 1 to 86400", given));
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

// Launchers bind a rank to some processors, even where it is the only one on its machine.
void ReportBinding(Reporter& reporter) {
  const int own = tbb::info::default_concurrency();
  const int all = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  if (own >= all || !IsAloneOnMachine()) return;
  reporter.Info(
      fmt::format("note: this rank may use {} of {} processors; mpirun --bind-to none permits all", own, all));
}

}  // namespace

absl::Status RefuseJob(std::string_view verb) {
  const std::optional<LaunchedJob> job = FindLaunchedJob();
  if (!job) return absl::OkStatus();
  return UsageError(fmt::format("{} is work for one process, and {} started {}; expected it without a launcher", verb,
                                job->launcher, job->ranks));
}

absl::Status JoinJob(Program& program) {
  if (const int tasks = SeparateTasks(); tasks > 0) {
    return UsageError(
        fmt::format("srun started {} tasks that do not know of each other, and each would do the whole work; expected "
                    "srun --mpi=pmix for ranks that share it, or one task",
                    tasks));
  }
  const std::optional<LaunchedJob> job = FindLaunchedJob();
  if (!job) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::chrono::milliseconds lost_after, LostAfter());
  ASSIGN_OR_RETURN(std::unique_ptr<Transport> transport, LoadTransport(*job, PluginFolders()));
  // Nobody will answer a lost job's processes, so they end at once: the last commit stands.
  const auto on_lost = [&program](const absl::Status& status) { program.reporter.FinalError(MessageOf(status)); };
  ASSIGN_OR_RETURN(program.ranks, Ranks::Join(std::move(transport),
                                              {.beat = lost_after / 20,
                                               .lost_after = lost_after,
                                               .on_lost = on_lost,
                                               .lost_exit_code = kLostExitCode,
                                               .end_process = [](int code) { ::_exit(code); }},
                                              HostName(), KindOfProcess()));
  Ranks& ranks = *program.ranks;
  program.reporter.SetRank(fmt::format("rank {}", ranks.NameOf(ranks.rank())), !ranks.first());
  program.reporter.Info(fmt::format("{} ranks by {}", ranks.size(), ranks.messenger().library()));
  if (program.options.threads == 0) ReportBinding(program.reporter);
  return absl::OkStatus();
}

absl::Status ShareOptions(Ranks& ranks, TrainOptions& options) {
  MessageWriter writer;
  if (ranks.first()) {
    for (const OptionField& field : TrainOptionFields()) writer.PutText(field.format(options));
  }
  ASSIGN_OR_RETURN(const Message told, ranks.Tell(writer.Take()));
  MessageReader reader(told);
  for (const OptionField& field : TrainOptionFields()) {
    std::string value;
    RETURN_IF_ERROR(reader.GetText(value));
    RETURN_IF_ERROR(SetTrainOption(options, field, value, field.name));
  }
  return absl::OkStatus();
}

void LeaveJob(Program& program, bool failed, int exit_code) {
  if (program.ranks == nullptr) return;
  if (!failed) {
    if (program.ranks->Meet().ok()) {
      // When all have come here nothing is left to do, so no rank is held up by one that hangs as it leaves.
      std::thread([exit_code] {
        std::this_thread::sleep_for(kMostLeaving);
        ::_exit(exit_code);
      }).detach();
    }
    program.ranks->Part();
    program.ranks.reset();
    return;
  }
  program.ranks->messenger().Abort(exit_code);
}

}  // namespace octavo
