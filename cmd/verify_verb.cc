// octavo verify: checks whether a graph, a run or a search is undamaged, and reports all damage with its place.

#include <CLI/App.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/byte_size.h"
#include "base/escape.h"
#include "base/json_escape.h"
#include "base/status.h"
#include "checkpoint/commit_copy.h"
#include "checkpoint/run_lock.h"
#include "cmd/flags.h"
#include "cmd/limits.h"
#include "cmd/program.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "graph/verify.h"
#include "io/atomic_file.h"
#include "io/check_report.h"
#include "nlohmann/json.hpp"
#include "run/run_exchange.h"
#include "run/run_folder.h"
#include "run/verify_run.h"
#include "tune/verify_search.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kProgramBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kLeastPieceBytes = std::uint64_t{128} << 10;  // twice a block of an edge file
constexpr std::uint64_t kMostPieceBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kPieces = 3;  // per worker

struct VerifyFlags {
  std::string path;
  bool deep = false;
  bool repair = false;
  bool json = false;
};

// The result to report.
struct Outcome {
  std::string kind;
  std::unique_ptr<CheckReport> report = std::make_unique<CheckReport>();
  std::optional<CheckedCommit> commit;  // for a run
  std::vector<std::string> repairs;
  double seconds = 0;
};

enum class Kind { kGraph, kRun, kSearch };

constexpr std::string_view kKindNames[] = {"graph", "run", "search"};

bool HasAny(const std::vector<fs::path>& files) {
  std::error_code error;
  return std::ranges::any_of(files, [&](const fs::path& file) { return fs::exists(file, error); });
}

// What the folder looks like. A graph, if it has no file of a run or a search.
Kind KindOfFolder(const fs::path& folder) {
  const RunPaths run(folder);
  const SearchPaths search(folder);
  if (HasAny({run.State(), run.Configuration()})) return Kind::kRun;
  return HasAny({search.Log(), search.Preset()}) ? Kind::kSearch : Kind::kGraph;
}

std::vector<fs::path> FilesOf(const fs::path& folder, Kind kind) {
  std::vector<fs::path> files;
  if (kind == Kind::kSearch) {
    files = {SearchPaths(folder).Log(), SearchPaths(folder).Preset()};
    for (const RunPaths& trial : RunsOf(SearchPaths(folder))) std::ranges::copy(trial.All(), std::back_inserter(files));
    for (const std::string& name : GraphPaths::FileNames()) files.push_back(SearchPaths(folder).Graph() / name);
    return files;
  }
  if (kind == Kind::kRun) {
    files = RunPaths(folder).All();
    std::ranges::copy(RunPaths(folder).Best().All(), std::back_inserter(files));
    return files;
  }
  for (const std::string& name : GraphPaths::FileNames()) files.push_back(folder / name);
  return files;
}

std::uint64_t BytesOf(const std::vector<fs::path>& files) {
  std::uint64_t bytes = 0;
  for (const fs::path& file : files) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(file, error);
    if (!error) bytes += size;
  }
  return bytes;
}

// Counts and reports what was checked. Thread-safe.
class ProgressCount {
 public:
  ProgressCount(Reporter& reporter, std::uint64_t total) : reporter_(reporter), total_(total) {}
  void Add(std::uint64_t bytes) {
    const std::uint64_t done = done_.fetch_add(bytes, std::memory_order_relaxed) + bytes;  // only for display
    reporter_.Show({.phase = "checking",
                    .share = static_cast<double>(done) / static_cast<double>(total_),
                    .done = static_cast<double>(done),
                    .unit = "bytes"});
  }

 private:
  Reporter& reporter_;
  const std::uint64_t total_;
  std::atomic<std::uint64_t> done_{0};
};

// Divides --memory: an eighth is for the workers' pieces, up to a useful size.
absl::StatusOr<GraphCheckOptions> ShareMemory(const Program& program, const VerifyFlags& flags, std::uint64_t total) {
  const std::uint64_t limit = MemoryLimit(program);
  const std::uint64_t pieces = kPieces * static_cast<std::uint64_t>(ThreadCount(program));
  const std::uint64_t least = kProgramBytes + 4 * pieces * kLeastPieceBytes;
  if (limit < least) {
    return UsageError(
        fmt::format("verify needs {} and --memory allows {}", FormatByteSize(least), FormatByteSize(limit)));
  }
  const std::uint64_t rest = limit - kProgramBytes;
  GraphCheckOptions options;
  options.reading.piece_bytes = std::clamp(rest / 4 / pieces, kLeastPieceBytes, kMostPieceBytes);
  options.reading.deep = flags.deep;
  options.reading.drop_behind = total > rest / 2;
  options.whole_bytes = rest / 8;
  return options;
}

// Handles what interrupted imports have left beside the graph.
void HandleAbandonedFolders(const fs::path& graph, const VerifyFlags& flags, Outcome& outcome) {
  for (const fs::path& folder : AbandonedFolders(graph)) {
    if (!flags.repair) {
      outcome.report->Note(
          fmt::format("{}: left by an interrupted import; --repair, or the next import, removes it", folder.string()));
    } else if (RemoveAbandonedFolder(folder, GraphPaths::FileNames())) {
      outcome.repairs.push_back(fmt::format("{}: removed, left by an interrupted import", folder.string()));
    } else {
      outcome.report->Note(
          fmt::format("{}: holds something that is not from an import, so it is kept", folder.string()));
    }
  }
}

absl::Status CheckGraphFolder(const VerifyFlags& flags, const GraphCheckOptions& options, Outcome& outcome) {
  HandleAbandonedFolders(flags.path, flags, outcome);
  return VerifyGraph(flags.path, options, *outcome.report);
}

// Handles what an interrupted write of these files has left. `work`: "training" or "search".
absl::Status HandlePartialFiles(const std::vector<fs::path>& files, std::string_view work, const VerifyFlags& flags,
                                Outcome& outcome) {
  for (const fs::path& file : files) {
    const fs::path partial = PartialPath(file);
    std::error_code error;
    if (!fs::is_regular_file(fs::symlink_status(partial, error))) continue;
    if (!flags.repair) {
      outcome.report->Note(fmt::format("{}: left by an interrupted {}; --repair removes it", partial.string(), work));
      continue;
    }
    fs::remove(partial, error);
    if (error) return RuntimeError(fmt::format("{}: remove: {}", partial.string(), error.message()));
    outcome.repairs.push_back(fmt::format("{}: removed, left by an interrupted {}", partial.string(), work));
  }
  return absl::OkStatus();
}

// Handles an unfinished copy of the best validation, left by an interrupted training.
absl::Status HandleUnfinishedCopy(const VerifyFlags& flags, Outcome& outcome) {
  const RunPaths unfinished = RunPaths(flags.path).Best().Unfinished();
  const std::string folder = unfinished.folder().string();
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(unfinished.folder(), error))) return absl::OkStatus();
  if (!flags.repair) {
    outcome.report->Note(
        fmt::format("{}: a training is making it, or was interrupted; --repair removes the leftovers", folder));
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(RemoveRunFolder(unfinished));
  outcome.repairs.push_back(fmt::format("{}: removed, left by an interrupted training", folder));
  return absl::OkStatus();
}

// Handles the rest of a run that was to replace this one, or an interrupted replacement.
absl::Status HandleReplacement(const VerifyFlags& flags, Outcome& outcome) {
  const RunPaths paths(flags.path);
  const std::string folder = paths.Replacement().folder().string();
  ASSIGN_OR_RETURN(const ReplacementStage stage, StageOfReplacement(paths));
  if (stage == ReplacementStage::kNone) return absl::OkStatus();
  const bool decided = stage == ReplacementStage::kDecided;
  if (!flags.repair) {
    RETURN_IF_ERROR(CheckSettled(paths));  // otherwise the files of one run are in two folders
    outcome.report->Note(
        fmt::format("{}: a training is making it, or was interrupted; --repair removes the leftovers", folder));
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(SettleRun(paths));
  outcome.repairs.push_back(decided ? fmt::format("{}: moved to its place", folder)
                                    : fmt::format("{}: removed, left by an interrupted training", folder));
  return absl::OkStatus();
}

// Checks the run of the best validation, if any. It is a separate run and is repaired separately.
absl::Status CheckBest(const VerifyFlags& flags, const CommitCheckOptions& options, Outcome& outcome) {
  const RunPaths best = RunPaths(flags.path).Best();
  if (!HasAny({best.State(), best.Configuration()})) return absl::OkStatus();
  return VerifyRun(best.folder(), options, *outcome.report).status();
}

absl::Status CheckRunFolder(const VerifyFlags& flags, const CommitCheckOptions& options, Outcome& outcome) {
  std::optional<RunLock> lock;
  if (flags.repair) {
    ASSIGN_OR_RETURN(RunLock taken, RunLock::Take(RunPaths(flags.path).Lock()));
    lock.emplace(std::move(taken));
  }
  RETURN_IF_ERROR(HandleReplacement(flags, outcome));
  RETURN_IF_ERROR(HandlePartialFiles(RunPaths(flags.path).WrittenWhole(), "training", flags, outcome));
  RETURN_IF_ERROR(HandleUnfinishedCopy(flags, outcome));
  if (IsUntrained(RunPaths(flags.path))) {
    outcome.commit = CheckedCommit{};
    outcome.report->Note(
        fmt::format("{}: a training was stopped before its first commit, or has not reached it: there is nothing to "
                    "check; octavo train to the same folder starts again",
                    flags.path));
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(outcome.commit, VerifyRun(flags.path, options, *outcome.report));
  if (!lock || !outcome.commit->torn_slot) return CheckBest(flags, options, outcome);
  const RunPaths paths(flags.path);
  if (outcome.report->damage_count() > 1 || outcome.report->unread_count() > 0) {
    outcome.report->Note(
        fmt::format("{}: not repaired: other files of the run are damaged, so the generation that "
                    "would be valid may be damaged",
                    paths.State().string()));
    return CheckBest(flags, options, outcome);
  }
  RETURN_IF_ERROR(RewriteTornSlot(paths, *outcome.commit, *lock));
  const std::uint64_t generation = outcome.commit->manifest->header.generation;
  outcome.repairs.push_back(
      fmt::format("{}: slot {}: wrote generation {}, which names the same rows as generation {}, all of them checked",
                  paths.State().string(), *outcome.commit->torn_slot, generation + 1, generation));
  // Reports the state after the repair.
  outcome.report = std::make_unique<CheckReport>();
  ASSIGN_OR_RETURN(outcome.commit, VerifyRun(flags.path, options, *outcome.report));
  return CheckBest(flags, options, outcome);
}

// Checks a search, with the graph that it has made to hold edges out. Repairs its own files, then each of its runs as
// such.
absl::Status CheckSearchFolder(const VerifyFlags& flags, const GraphCheckOptions& of_graphs, Outcome& outcome) {
  const CommitCheckOptions options = {of_graphs.reading, of_graphs.progress};
  const SearchPaths paths(flags.path);
  std::optional<RunLock> lock;
  if (flags.repair) {
    ASSIGN_OR_RETURN(RunLock taken, RunLock::Take(paths.Lock()));
    lock.emplace(std::move(taken));
  }
  RETURN_IF_ERROR(HandlePartialFiles({paths.Log(), paths.Preset()}, "search", flags, outcome));
  for (const RunPaths& trial : RunsOf(paths)) {
    if (!flags.repair || !HasAny({trial.State(), trial.Configuration()})) continue;
    VerifyFlags of_trial = flags;
    of_trial.path = trial.folder().string();
    Outcome repaired;
    RETURN_IF_ERROR(CheckRunFolder(of_trial, options, repaired));
    std::ranges::move(repaired.repairs, std::back_inserter(outcome.repairs));
    for (std::string& note : repaired.report->notes()) outcome.report->Note(std::move(note));
  }
  HandleAbandonedFolders(paths.Graph(), flags, outcome);
  if (HasAny({paths.Graph()})) RETURN_IF_ERROR(VerifyGraph(paths.Graph(), of_graphs, *outcome.report));
  return VerifySearch(paths, options, *outcome.report);
}

absl::Status CheckFolder(Kind kind, const VerifyFlags& flags, const GraphCheckOptions& options, Outcome& outcome) {
  if (kind == Kind::kGraph) return CheckGraphFolder(flags, options, outcome);
  if (kind == Kind::kSearch) return CheckSearchFolder(flags, options, outcome);
  return CheckRunFolder(flags, {options.reading, options.progress}, outcome);
}

// Whether rows of the run are in the folders of other machines.
bool IsPart(const Outcome& outcome) {
  if (!outcome.commit || !outcome.commit->manifest) return false;
  const Manifest& manifest = *outcome.commit->manifest;
  return !std::ranges::all_of(manifest.partitions,
                              [&](const PartitionRecord& record) { return manifest.IsHere(record); });
}

std::string ResultText(const VerifyFlags& flags, const Outcome& outcome) {
  const std::uint64_t damages = outcome.report->damage_count();
  const std::uint64_t unread = outcome.report->unread_count();
  std::string text = flags.path + ": ";
  if (damages == 0 && unread == 0) text += IsPart(outcome) ? "undamaged, but a part of a run" : "whole";
  if (damages > 0) text += fmt::format("{} damage{} found", damages, damages == 1 ? "" : "s");
  if (unread > 0) text += fmt::format("{}{} could not be read", damages > 0 ? ", " : "", unread);
  return text;
}

void PrintFindings(const std::vector<Finding>& findings, const std::string& file, std::uint64_t count) {
  std::uint64_t shown = 0;
  for (const Finding& finding : findings) {
    if (finding.file != file) continue;
    fmt::print("  {}\n", DescribeFinding(finding));
    ++shown;
  }
  if (count > shown) fmt::print("  and {} more\n", count - shown);
}

void PrintText(const VerifyFlags& flags, const Outcome& outcome) {
  const CheckReport& report = *outcome.report;
  const std::vector<Finding> findings = report.findings();
  std::vector<CheckedFile> files = report.files();
  // A file that is missing or has a wrong header was not checked any further.
  for (const Finding& finding : findings) {
    if (std::ranges::find(files, finding.file, &CheckedFile::file) == files.end())
      files.push_back({finding.file, "", 0});
  }
  for (const CheckedFile& file : files) {
    const std::uint64_t count = report.FindingsOf(file.file);
    const std::string what = file.what.empty() ? "" : "  " + file.what;
    fmt::print("{:<7} {:<24} {:>10}{}\n", count > 0 ? "DAMAGED" : "ok",
               fs::path(file.file).lexically_relative(flags.path).string(), FormatByteSize(file.bytes), what);
    if (count > 0) PrintFindings(findings, file.file, count);
  }
  if (outcome.commit && outcome.commit->commits_meanwhile > 0) {
    fmt::print("note: {} commit{} happened during the check; generation {} was checked\n",
               outcome.commit->commits_meanwhile, outcome.commit->commits_meanwhile == 1 ? "" : "s",
               outcome.commit->manifest->header.generation);
  }
  for (const std::string& note : report.notes()) fmt::print("note: {}\n", note);
  for (const std::string& repair : outcome.repairs) fmt::print("repaired: {}\n", repair);
  fmt::print("{}; {} checked in {:.2f} s{}\n", ResultText(flags, outcome), FormatByteSize(report.bytes()),
             outcome.seconds, flags.deep ? ", read from the disk" : "");
}

void PrintJson(const VerifyFlags& flags, const Outcome& outcome) {
  const CheckReport& report = *outcome.report;
  Json object = Json::object();
  object["kind"] = outcome.kind;
  object["path"] = flags.path;
  object["whole"] = report.damage_count() == 0 && report.unread_count() == 0;
  object["deep"] = flags.deep;
  object["bytes"] = report.bytes();
  object["seconds"] = outcome.seconds;
  if (outcome.commit) {
    object["generation"] = outcome.commit->manifest ? Json(outcome.commit->manifest->header.generation) : Json();
    object["slots"] = outcome.commit->slots;
    object["commits_meanwhile"] = outcome.commit->commits_meanwhile;
  }
  object["damages"] = report.damage_count();
  object["unread"] = report.unread_count();
  object["findings"] = Json::array();
  for (const Finding& finding : report.findings()) {
    object["findings"].push_back({{"file", finding.file},
                                  {"place", finding.place},
                                  {"found", finding.found},
                                  {"expected", finding.expected},
                                  {"unread", finding.unread}});
  }
  object["files"] = Json::array();
  for (const CheckedFile& file : report.files()) {
    object["files"].push_back(
        {{"file", file.file}, {"bytes", file.bytes}, {"what", file.what}, {"findings", report.FindingsOf(file.file)}});
  }
  object["notes"] = report.notes();
  object["repairs"] = outcome.repairs;
  fmt::print("{}\n", EscapeJsonControls(object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)));
}

absl::Status RunVerify(const VerifyFlags& flags, Program& program) {
  std::error_code error;
  if (!fs::is_directory(flags.path, error)) {
    return UsageError(fmt::format("{}: no such folder; expected a graph, a run or a search", flags.path));
  }
  const Kind kind = KindOfFolder(flags.path);
  const std::vector<fs::path> files = FilesOf(flags.path, kind);
  if (!HasAny(files)) {
    return UsageError(
        fmt::format("{}: found no file of a graph, a run or a search; expected one of these", flags.path));
  }
  const std::uint64_t total = BytesOf(files);
  ASSIGN_OR_RETURN(GraphCheckOptions options, ShareMemory(program, flags, total));
  ProgressCount progress(program.reporter, total);
  options.progress = [&progress](std::uint64_t bytes) { progress.Add(bytes); };
  Outcome outcome;
  outcome.kind = kKindNames[static_cast<int>(kind)];
  const auto begin = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(CheckFolder(kind, flags, options, outcome));
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  program.reporter.EndProgress();
  if (flags.json) {
    PrintJson(flags, outcome);
  } else {
    PrintText(flags, outcome);
  }
  if (outcome.report->damage_count() > 0) {
    program.exit_code = static_cast<int>(ErrorKind::kCorrupt);
  } else if (outcome.report->unread_count() > 0) {
    program.exit_code = static_cast<int>(ErrorKind::kRuntime);
  }
  if (program.exit_code != 0) program.reporter.Error(ResultText(flags, outcome));
  return absl::OkStatus();
}

}  // namespace

void AddVerifyVerb(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<VerifyFlags>();
  CLI::App& verb =
      *app.add_subcommand("verify", "Check every byte of a graph, a run or a search and report all damage");
  RefuseEmpty(verb.add_option("PATH", flags->path, "The folder of a graph, a run or a search"))
      ->required()
      ->type_name("DIR");
  verb.add_flag("--deep", flags->deep, "Read from the disk, not from the page cache");
  verb.add_flag(
      "--repair", flags->repair,
      "Remove leftovers of interrupted imports and trainings, complete an interrupted replacement of a run and "
      "rewrite a torn slot of STATE; nothing else");
  verb.add_flag("--json", flags->json, "Print one JSON object");
  verb.footer(
      "Exit code 0: undamaged; 2: an interrupted replacement is not complete; 4: damaged, each damage with its file\n"
      "and place. Can run during a training: then the newest commit is checked. --repair locks the run (exit code 5\n"
      "if it is in use), changes no table, and rewrites a torn slot only if all rows that the other one names are\n"
      "undamaged.");
  verb.callback([flags, &program] { program.run = [flags](Program& running) { return RunVerify(*flags, running); }; });
}

}  // namespace octavo
