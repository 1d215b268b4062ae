// What the verbs of the program share. One file a verb: it adds its flags to the command line and leaves in
// Program::run what is to be done once the line is read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "cmd/reporter.h"

namespace CLI {
class App;
}

namespace octavo {

// Flags that every verb takes, before or behind the verb.
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
  // Set by the verb that was called. Returns the program's status; ok is exit code 0, others by KindOf.
  std::function<absl::Status(Program&)> run;
  // For what is no error but needs another exit code: 130 or 143 after a signal.
  int exit_code = 0;
};

// The table of verbs: each adds its sub-command. New verbs are listed in main.cc.
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
void AddQueryVerb(CLI::App& app, Program& program);
void AddReportVerb(CLI::App& app, Program& program);
void AddInspectVerb(CLI::App& app, Program& program);
void AddVerifyVerb(CLI::App& app, Program& program);
void AddCompletionVerb(CLI::App& app, Program& program);

}  // namespace octavo
