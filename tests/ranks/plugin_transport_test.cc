#include "ranks/plugin_transport.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// All variables by which a launcher is known.
constexpr const char* kVariables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",    "PMIX_RANK", "SLURM_NTASKS",
                                      "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"};

class Variables {
 public:
  explicit Variables(const std::map<std::string, std::string>& values) {
    for (const char* name : kVariables) {
      if (const char* const value = std::getenv(name); value != nullptr) before_[name] = value;
      ::unsetenv(name);
    }
    for (const auto& [name, value] : values) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variables() {
    for (const char* name : kVariables) ::unsetenv(name);
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::map<std::string, std::string> before_;
};

std::string Describe(const std::optional<LaunchedJob>& job) {
  if (!job) return "none";
  return std::to_string(job->ranks) + " by " + job->launcher + ", first " + job->plugins.front();
}

TEST(FindLaunchedJob, KnowsTheLaunchersByTheirVariables) {
  const std::pair<std::map<std::string, std::string>, std::string> cases[] = {
      {{}, "none"},
      {{{"OMPI_COMM_WORLD_SIZE", "4"}}, "4 by mpirun of Open MPI, first octavo-mpi-openmpi.so"},
      {{{"OMPI_COMM_WORLD_SIZE", "1"}}, "none"},
      {{{"OMPI_COMM_WORLD_SIZE", ""}}, "none"},
      {{{"OMPI_COMM_WORLD_SIZE", "four"}}, "none"},
      {{{"OMPI_COMM_WORLD_SIZE", "-3"}}, "none"},
      {{{"OMPI_COMM_WORLD_SIZE", "99999999999999"}}, "none"},
      {{{"PMI_SIZE", "2"}}, "2 by mpiexec of MPICH, or another by PMI, first octavo-mpi-mpich.so"},
      {{{"PMI_SIZE", "1"}}, "none"},
      {{{"PMIX_RANK", "0"}, {"SLURM_NTASKS", "8"}}, "8 by srun --mpi=pmix, first octavo-mpi-openmpi.so"},
      // A batch script has this variable too, where octavo is not started by srun.
      {{{"SLURM_NTASKS", "8"}}, "none"},
      {{{"PMIX_RANK", "0"}}, "none"},
      // mpirun of Open MPI sets the variables of PMIx, too.
      {{{"PMIX_RANK", "0"}, {"SLURM_NTASKS", "8"}, {"OMPI_COMM_WORLD_SIZE", "3"}},
       "3 by mpirun of Open MPI, first octavo-mpi-openmpi.so"},
  };
  for (const auto& [values, expected] : cases) {
    const Variables variables(values);
    EXPECT_EQ(Describe(FindLaunchedJob()), expected);
  }
}

// A job of one rank is a job; tasks of srun that have no MPI are none, and must not each do the whole work.
TEST(FindLaunchedJob, TellsOneRankFromNoneAndFromSeparateTasks) {
  struct Case {
    std::map<std::string, std::string> values;
    bool launched;
    int separate;
  };
  const Case cases[] = {
      {{}, false, 0},
      {{{"OMPI_COMM_WORLD_SIZE", "1"}}, true, 0},
      {{{"PMI_SIZE", "1"}}, true, 0},
      {{{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "0"}}, false, 2},
      {{{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}}, false, 0},
      {{{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}}, false, 0},  // the job's script
      {{{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}}, true, 0},
      {{{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "0"}, {"PMIX_RANK", "0"}, {"SLURM_NTASKS", "2"}}, true, 0},
  };
  for (const Case& each : cases) {
    const Variables variables(each.values);
    EXPECT_EQ(IsLaunched(), each.launched);
    EXPECT_EQ(SeparateTasks(), each.separate);
  }
}

class LoadTransportTest : public ::testing::Test {
 protected:
  static constexpr const char* kName = "octavo-mpi-test.so";

  // A folder in which the plugin is that file.
  fs::path FolderWith(const std::string& plugin) {
    const fs::path folder = folder_ / plugin;
    fs::create_directory(folder);
    fs::copy_file(fs::path(RANKS_PLUGINS) / (plugin + ".so"), folder / kName);
    return folder;
  }
  static LaunchedJob Job(int ranks) {
    return {.launcher = "a launcher", .ranks = ranks, .plugins = {"missing.so", kName}};
  }

  const TemporaryFolder folder_;
};

TEST_F(LoadTransportTest, SaysWhereItLooked) {
  EXPECT_ERROR(LoadTransport(Job(2), {"/no/such", "/nor/this"}), kUsage,
               "a launcher started 2 ranks, but octavo has no plugin for it; looked for /no/such/missing.so, "
               "/nor/this/missing.so, /no/such/octavo-mpi-test.so, /nor/this/octavo-mpi-test.so; expected the package "
               "octavo-mpi");
}

TEST_F(LoadTransportTest, RefusesWhatIsNoPlugin) {
  fs::create_directory(folder_ / "text");
  WriteFileBytes(folder_ / "text" / kName, "not a shared object");
  EXPECT_ERROR(LoadTransport(Job(2), {folder_ / "text"}), kUsage, "octavo-mpi-test.so: cannot be loaded: ");
  EXPECT_ERROR(LoadTransport(Job(2), {FolderWith("nothing")}), kUsage,
               "version 0 of the plugin's interface; expected 1");
  EXPECT_ERROR(LoadTransport(Job(2), {FolderWith("old")}), kUsage, "version 2 of the plugin's interface; expected 1");
}

TEST_F(LoadTransportTest, LoadsTheFirstThatThereIs) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Transport> transport,
                       LoadTransport(Job(2), {"/no/such", FolderWith("good")}));
  ASSERT_OK(transport->Start());
  EXPECT_EQ(transport->ranks(), 2);
  EXPECT_EQ(transport->library(), "a library of a test");
  EXPECT_ERROR(transport->Send({}, 1, 1), kRuntime, "a library of a test: send failed: the connection to another rank");
  EXPECT_ERROR(transport->Probe(7), kRuntime, "probe failed");
  EXPECT_FALSE(transport->Probe(1)->has_value());
  EXPECT_ERROR(transport->Receive({}, 1, 1), kRuntime, "receive failed");
  EXPECT_ERROR(transport->Test(nullptr), kRuntime, "test failed");
}

// The launcher of another library starts every process alone.
TEST_F(LoadTransportTest, RefusesTheLauncherOfAnotherLibrary) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Transport> transport, LoadTransport(Job(3), {FolderWith("good")}));
  EXPECT_ERROR(transport->Start(), kUsage,
               "a launcher started 3 ranks, but a library of a test sees 2; expected the launcher of the same library");
}

}  // namespace
}  // namespace octavo
