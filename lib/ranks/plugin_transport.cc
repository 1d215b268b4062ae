#include "ranks/plugin_transport.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "base/status.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "ranks/plugin.h"

namespace octavo {
namespace {

// Of a launcher: its user does not set them.
const char* Variable(const char* name) { return std::getenv(name); }

int NumberIn(const char* variable) {
  const char* const text = Variable(variable);
  int number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number : 0;
}

// Owns the plugin's calls. The shared object stays loaded: MPI libraries do not survive being unloaded.
class PluginTransport : public Transport {
 public:
  PluginTransport(const OctavoRanks& plugin, LaunchedJob job) : plugin_(plugin), job_(std::move(job)) {}

  absl::Status Start() override {
    std::array<char, 128> library{};
    std::array<char, 256> error{};
    if (plugin_.start(&rank_, &ranks_, library.data(), library.size(), error.data(), error.size()) != 0) {
      return RuntimeError(fmt::format("the ranks cannot talk to each other: {}", error.data()));
    }
    library_ = library.data();
    // The launcher of another library starts every process as the only one, and all would train the same run.
    if (ranks_ == job_.ranks) return absl::OkStatus();
    return UsageError(fmt::format("{} started {} ranks, but {} sees {}; expected the launcher of the same library",
                                  job_.launcher, job_.ranks, library_, ranks_));
  }
  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  std::string library() const override { return library_; }

  absl::StatusOr<Request> Send(std::span<const std::byte> data, int to, int tag) override {
    void* const request = plugin_.send(data.data(), data.size(), to, tag);
    if (request == nullptr) return Failed("send");
    return request;
  }
  absl::StatusOr<std::optional<Arrived>> Probe(int tag) override {
    Arrived arrived;
    const int found = plugin_.probe(tag, &arrived.from, &arrived.bytes);
    if (found < 0) return Failed("probe");
    if (found == 0) return std::nullopt;
    return arrived;
  }
  absl::StatusOr<Request> Receive(std::span<std::byte> data, int from, int tag) override {
    void* const request = plugin_.receive(data.data(), data.size(), from, tag);
    if (request == nullptr) return Failed("receive");
    return request;
  }
  absl::StatusOr<bool> Test(Request request) override {
    const int done = plugin_.test(request);
    if (done < 0) return Failed("test");
    return done == 1;
  }
  void Finish() override { plugin_.finish(); }
  void Abort(int code) override { plugin_.abort(code); }

 private:
  absl::Status Failed(std::string_view what) const {
    return RuntimeError(fmt::format("{}: {} failed: the connection to another rank is lost", library_, what));
  }

  const OctavoRanks& plugin_;
  const LaunchedJob job_;
  int rank_ = 0;
  int ranks_ = 1;
  std::string library_;
};

// The launcher's job; with 0 ranks if there is none.
LaunchedJob JobOfLauncher() {
  constexpr const char* kOpenMpi = "octavo-mpi-openmpi.so";
  constexpr const char* kMpich = "octavo-mpi-mpich.so";
  LaunchedJob job{.launcher = {}, .ranks = 0, .plugins = {}};
  if (const int ranks = NumberIn("OMPI_COMM_WORLD_SIZE"); ranks > 0) {
    job = {.launcher = "mpirun of Open MPI", .ranks = ranks, .plugins = {kOpenMpi}};
  } else if (const int of_pmi = NumberIn("PMI_SIZE"); of_pmi > 0) {
    job = {.launcher = "mpiexec of MPICH, or another by PMI", .ranks = of_pmi, .plugins = {kMpich, kOpenMpi}};
  } else if (Variable("PMIX_RANK") != nullptr && NumberIn("SLURM_NTASKS") > 0) {
    job = {.launcher = "srun --mpi=pmix", .ranks = NumberIn("SLURM_NTASKS"), .plugins = {kOpenMpi, kMpich}};
  }
  return job;
}

}  // namespace

std::optional<LaunchedJob> FindLaunchedJob() {
  LaunchedJob job = JobOfLauncher();
  if (job.ranks < 2) return std::nullopt;
  return job;
}

bool IsLaunched() { return JobOfLauncher().ranks > 0; }

bool IsAloneOnMachine() { return NumberIn("OMPI_COMM_WORLD_LOCAL_SIZE") <= 1; }

int SeparateTasks() {
  // A step that is started by srun has this variable; the job's script lacks it.
  const int tasks = NumberIn("SLURM_STEP_NUM_TASKS");
  return tasks > 1 && Variable("SLURM_PROCID") != nullptr && !IsLaunched() ? tasks : 0;
}

absl::StatusOr<std::unique_ptr<Transport>> LoadTransport(const LaunchedJob& job,
                                                         const std::vector<std::filesystem::path>& folders) {
  std::vector<std::string> tried;
  for (const std::string& name : job.plugins) {
    for (const std::filesystem::path& folder : folders) {
      const std::filesystem::path path = folder / name;
      tried.push_back(path.string());
      std::error_code ignored;
      if (!std::filesystem::exists(path, ignored)) continue;
      // Global: MPI libraries load other objects, which look for its symbols.
      void* const object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
      if (object == nullptr) {
        const char* const why = ::dlerror();
        return UsageError(fmt::format("{}: cannot be loaded: {}", path.string(), why == nullptr ? "?" : why));
      }
      const auto function = reinterpret_cast<OctavoRanksFunction>(::dlsym(object, "octavo_ranks"));
      const OctavoRanks* const plugin = function == nullptr ? nullptr : function();
      if (plugin == nullptr || plugin->abi != OCTAVO_RANKS_ABI) {
        return UsageError(
            fmt::format("{}: version {} of the plugin's interface; expected {}: octavo and octavo-mpi of "
                        "the same version",
                        path.string(), plugin == nullptr ? 0 : plugin->abi, OCTAVO_RANKS_ABI));
      }
      return std::make_unique<PluginTransport>(*plugin, job);
    }
  }
  return UsageError(
      fmt::format("{} started {} ranks, but octavo has no plugin for it; looked for {}; expected the "
                  "package octavo-mpi and the launcher of Open MPI, or a build with this MPI",
                  job.launcher, job.ranks, fmt::join(tried, ", ")));
}

}  // namespace octavo
