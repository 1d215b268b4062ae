// octavo: out-of-core graph embedding training from the command line. This file is the table of verbs; each verb has
// its own file.

#include <fcntl.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/deep_stack.h"
#include "base/escape.h"
#include "base/parallel.h"
#include "base/status.h"
#include "cmd/completion.h"
#include "cmd/faults.h"
#include "cmd/flags.h"
#include "cmd/help.h"
#include "cmd/job.h"
#include "cmd/manual.h"
#include "cmd/program.h"
#include "cmd/program_facts.h"
#include "cmd/usage.h"
#include "cmd/version.h"
#include "fmt/format.h"
#include "io/failpoint.h"

namespace octavo {
namespace {

constexpr void (*kVerbs[])(CLI::App&, Program&) = {
    AddBenchVerb,  AddGenerateVerb, AddImportVerb,     AddWalkVerb,     AddPlanVerb,    AddTrainVerb,
    AddResumeVerb, AddGrowVerb,     AddTuneVerb,       AddEvaluateVerb, AddExportVerb,  AddIndexVerb,
    AddMapVerb,    AddQueryVerb,    AddReportVerb,     AddServeVerb,    AddInspectVerb, AddDistributeVerb,
    AddVerifyVerb, AddPresetsVerb,  AddCompletionVerb, AddHelpVerb};

constexpr int kUsageExit = static_cast<int>(ErrorKind::kUsage);

// Occupies the numbers of closed standard streams, so that no other file gets them: log lines would be written into it.
// They are opened in the wrong direction, so that reading and writing fail as on a closed stream; log output may be
// lost.
void KeepStandardStreams() {
  constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF) {
      [[maybe_unused]] const int lowest = ::open("/dev/null", kModes[stream]);  // which is the closed one
    }
  }
}

// Reports an error in the command line, in the log format that it requests as far as it was read.
void ReportUsage(const CLI::App& app, const std::string& message, const std::vector<std::string>& typed,
                 Reporter& reporter) {
  const std::vector<std::string>& format = app.get_option("--log-format")->results();
  const bool json = !format.empty() && format.back() == "json";
  reporter.Configure(json ? Reporter::Format::kJson : Reporter::Format::kText, /*quiet=*/false, /*verbose=*/false,
                     /*memory_limit=*/0);
  reporter.Error(UsageMessage(app, message, typed));
}

// Returns the exit code for the output so far.
int FlushOutput(Reporter& reporter) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return 0;
  reporter.Error(errno == 0 ? "standard output: write failed" : MessageOf(ErrnoError("standard output: write", errno)));
  return static_cast<int>(ErrorKind::kRuntime);
}

// Of which several processes would write the same files, or serve at the same port.
constexpr std::string_view kVerbsOfOneProcess[] = {"grow", "tune", "export", "index", "map", "report", "serve"};

absl::Status CheckProcesses(const CLI::App& app) {
  const std::string verb = app.get_subcommands().front()->get_name();
  return std::ranges::find(kVerbsOfOneProcess, verb) == std::end(kVerbsOfOneProcess) ? absl::OkStatus()
                                                                                     : RefuseJob(verb);
}

// Runs the verb and turns exceptions of libraries into a status.
absl::Status Guarded(Program& program, bool with_threads) {
  const auto run = [&program] { return program.run(program); };
  try {
    return with_threads ? WithThreads(program.options.threads, run) : run();
  } catch (const std::bad_alloc&) {
    return RuntimeError("out of memory; expected a smaller --memory, fewer --threads, or more from the system");
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) != 0) return ErrnoError("standard output: write", error.code().value());  // by fmt::print
    return RuntimeError(fmt::format("{}; has a system limit been reached?", error.what()));
  } catch (const std::exception& error) {
    return RuntimeError(error.what());
  }
}

// The output that shells and the build request (completions, a manual page), hidden from help. Empty for any other
// command line.
std::optional<std::string> Documentation(const CLI::App& app, const std::vector<std::string>& words) {
  if (words[0] == "__complete") return Complete(app, {words.begin() + 1, words.end()});
  if (words[0] == "__manual") return ManualPage(app, words.size() > 1 ? app.get_subcommand(words[1]) : nullptr);
  return std::nullopt;
}

int Main(int argc, char** argv) {
  KeepStandardStreams();
  CatchFaults(/*json=*/false);
  Program program;
  if (const absl::Status failpoints = CheckFailpointEnvironment(); !failpoints.ok()) {
    program.reporter.Error(MessageOf(failpoints));
    return kUsageExit;
  }
  std::uint64_t threads = 0;
  std::string log_format = "text";

  CLI::App app("Trains embeddings of graphs and knowledge graphs larger than memory.", "octavo");
  app.require_subcommand(1);
  app.fallthrough();
  app.formatter(MakeHelpFormatter());
  app.set_help_flag("-h,--help", "Print this help message and exit");
  app.set_help_all_flag("--help-all", "Print a help message that describes every option, and exit");
  app.set_version_flag("--version", VersionText);
  AddByteSize(app, "--memory", program.options.memory, 1,
              "Upper limit for all memory that the command holds; by default 70 % of what is free");
  AddWholeNumber(app, "--threads", threads, 0, 1024, "Worker threads; 0 takes as many as the machine has");
  app.add_flag("--quiet,-q", program.options.quiet, "Print warnings and errors only");
  app.add_flag("--verbose,-v", program.options.verbose, "Print details");
  app.add_option("--log-format", log_format, "Format of the log on standard error")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  for (const auto add : kVerbs) add(app, program);
  ShowHelpAll(app);
  app.footer(HelpFooter());
  const std::vector<std::string> typed(argv + std::min(argc, 1), argv + argc);
  if (typed.empty()) {  // not what a script can want: on standard error, with the exit code of a missing verb
    std::fputs(ShortHelp(app).c_str(), stderr);
    program.reporter.Error("expected a verb");
    return kUsageExit;
  }
  if (const std::optional<std::string> text = Documentation(app, typed)) {
    fmt::print("{}", *text);
    return FlushOutput(program.reporter);
  }

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app.exit(error);
      std::cout.flush();
      return FlushOutput(program.reporter);
    }
    ReportUsage(app, error.what(), typed, program.reporter);
    return kUsageExit;
  } catch (const std::logic_error& error) {  // CLI11's own, for a flag with a value: --quiet=perhaps
    ReportUsage(app, fmt::format("invalid value for a boolean flag ({})", error.what()), typed, program.reporter);
    return kUsageExit;
  }

  program.options.threads = static_cast<int>(threads);
  program.options.json_log = log_format == "json";
  program.reporter.Configure(program.options.json_log ? Reporter::Format::kJson : Reporter::Format::kText,
                             program.options.quiet, program.options.verbose, program.options.memory);
  CatchFaults(program.options.json_log);
  absl::Status status = CheckProcesses(app);
  if (status.ok()) status = Guarded(program, threads > 0);
  program.reporter.EndProgress();
  if (!status.ok()) {
    program.reporter.FinalError(MessageOf(status));
    LeaveJob(program, /*failed=*/true, static_cast<int>(KindOf(status)));
    return static_cast<int>(KindOf(status));
  }
  const int flushed = FlushOutput(program.reporter);
  const int exit_code = flushed != 0 ? flushed : program.exit_code;
  LeaveJob(program, /*failed=*/false, exit_code);
  return exit_code;
}

}  // namespace
}  // namespace octavo

int main(int argc, char** argv) {
  int code = static_cast<int>(octavo::ErrorKind::kRuntime);
  const auto run = [&] {
    try {
      code = octavo::Main(argc, argv);
    } catch (const std::bad_alloc&) {
      std::fputs("error: out of memory\n", stderr);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "error: %s\n", error.what());
    }
  };
  if (!octavo::StacksAreSmall()) octavo::ReserveStack();
  if (!octavo::StacksAreSmall() || !octavo::RunOnDeepStack(run)) run();
  return code;
}
