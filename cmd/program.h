// What the verbs of the program share. Each verb has a file: it adds its flags to the command line and sets
// Program::run to the function that runs after parsing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "cmd/reporter.h"
#include "ranks/ranks.h"

namespace CLI {
class App;
}

namespace octavo {

// Flags of every verb, allowed before or after the verb.
struct GlobalOptions {
  int threads = 0;           // 0: as many as the machine has
  std::uint64_t memory = 0;  // bytes; 0: 70 % of what the control group or the machine has available
  bool quiet = false;
  bool verbose = false;
  bool json_log = false;
};

struct Program {
  GlobalOptions options;
  Reporter reporter;
  // Set by the verb. Returns the program's status: ok is exit code 0, others by KindOf.
  std::function<absl::Status(Program&)> run;
  // Of a verb that several processes run together (cmd/job.h), otherwise null.
  std::unique_ptr<Ranks> ranks;
  // For exit codes of what is not an error: 130 or 143 after a signal.
  int exit_code = 0;
};

// The table of verbs. Each function adds its sub-command; new verbs are listed in main.cc.
void AddBenchVerb(CLI::App& app, Program& program);
void AddGenerateVerb(CLI::App& app, Program& program);
void AddGrowVerb(CLI::App& app, Program& program);
void AddImportVerb(CLI::App& app, Program& program);
void AddWalkVerb(CLI::App& app, Program& program);
void AddPlanVerb(CLI::App& app, Program& program);
void AddTrainVerb(CLI::App& app, Program& program);
void AddResumeVerb(CLI::App& app, Program& program);
void AddTuneVerb(CLI::App& app, Program& program);
void AddEvaluateVerb(CLI::App& app, Program& program);
void AddExportVerb(CLI::App& app, Program& program);
void AddIndexVerb(CLI::App& app, Program& program);
void AddMapVerb(CLI::App& app, Program& program);
void AddQueryVerb(CLI::App& app, Program& program);
void AddDistributeVerb(CLI::App& app, Program& program);
void AddReportVerb(CLI::App& app, Program& program);
void AddServeVerb(CLI::App& app, Program& program);
void AddInspectVerb(CLI::App& app, Program& program);
void AddVerifyVerb(CLI::App& app, Program& program);
void AddPresetsVerb(CLI::App& app, Program& program);
void AddCompletionVerb(CLI::App& app, Program& program);
void AddHelpVerb(CLI::App& app, Program& program);

}  // namespace octavo
