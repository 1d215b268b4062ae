// The text files of a run and of a search. After a 't' comes a TOML preset, after a 'j' run.json, after an 'e'
// metrics.jsonl, after an 's' a search space, after an 'l' tune.jsonl.
#include <cstdint>
#include <string>
#include <string_view>

#include "checkpoint/state_file.h"
#include "format/paths.h"
#include "nlohmann/json.hpp"
#include "report/run_history.h"
#include "run/option_rules.h"
#include "run/options.h"
#include "run/run_configuration.h"
#include "run/verify_run.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/file_bytes.h"
#include "tune/preset_file.h"
#include "tune/search_log.h"
#include "tune/search_space.h"
#include "tune/trial_draw.h"

namespace octavo {
namespace {

bool SameOptions(const TrainOptions& a, const TrainOptions& b) {
  for (const OptionField& field : TrainOptionFields()) {
    if (field.format(a) != field.format(b)) return false;
  }
  return ConfigurationHash(a) == ConfigurationHash(b);
}

// Whatever the options are, run.json reproduces them, and so does each field separately.
void CheckWrittenAgain(const RunConfiguration& configuration) {
  const std::filesystem::path path = RunPaths(ScratchFolder()).Configuration();
  const absl::Status status = WriteRunConfiguration(path, configuration);
  MUST(status.ok());
  const absl::StatusOr<RunConfiguration> again = ReadRunConfiguration(path);
  if (!again.ok()) std::fprintf(stderr, "%s\n", again.status().ToString().c_str());
  MUST(again.ok() && again->graph == configuration.graph);
  MUST(SameOptions(again->options, configuration.options));
  TrainOptions fields;
  for (const OptionField& field : TrainOptionFields()) {
    MUST(SetTrainOption(fields, field, field.format(configuration.options), "here").ok());
  }
  MUST(SameOptions(fields, configuration.options));
  if (const absl::Status valid = ValidateTrainOptions(configuration.options); !valid.ok()) {
    CheckError(valid, {ErrorKind::kUsage});
  }
}

void CheckToml(std::string_view text) {
  static MemoryFile file;
  file.Fill(text);
  RunConfiguration configuration;
  configuration.graph = "/graph";
  const absl::Status status = LoadTomlConfiguration(file.path(), configuration.options);
  if (!status.ok()) return CheckError(status, {ErrorKind::kUsage});
  CheckWrittenAgain(configuration);
}

void CheckRunJson(std::string_view text) {
  static MemoryFile file;
  file.Fill(text);
  const absl::StatusOr<RunConfiguration> configuration = ReadRunConfiguration(file.path());
  if (!configuration.ok()) return CheckError(configuration.status(), {ErrorKind::kCorrupt});
  CheckWrittenAgain(*configuration);
}

// A run whose STATE says that all of metrics.jsonl is committed; it has no other files.
void CheckEvents(const std::string& text) {
  const RunPaths paths(ScratchFolder() / "events");
  static const bool made = std::filesystem::create_directory(paths.folder());
  MUST(made);
  Manifest manifest;
  manifest.header.generation = 2;
  manifest.header.partition_rows = 1024;
  manifest.header.progress.metrics_bytes = text.size();
  const std::vector<std::byte> slot = EncodeManifest(manifest);
  const std::string newer(reinterpret_cast<const char*>(slot.data()), slot.size());
  WriteFileBytes(paths.State(), newer + std::string(slot.size(), '\0'));
  WriteFileBytes(paths.Metrics(), text);
  CheckReport report;
  const absl::StatusOr<CheckedCommit> commit = VerifyRun(paths.folder(), {}, report);
  MUST(commit.ok() && commit->manifest.has_value());
  std::size_t bad = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    const std::size_t first = line.find_first_not_of(" \t\r");
    const std::size_t begin = line.starts_with("\xEF\xBB\xBF") ? line.find_first_not_of(" \t\r", 3) : first;
    const bool object = begin != std::string_view::npos && line[begin] == '{' && nlohmann::json::accept(line);
    bad += end == std::string_view::npos || !object ? 1 : 0;
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  MUST(report.FindingsOf(paths.Metrics().string()) >= bad);  // checksums and unknown keys come on top
  const absl::StatusOr<RunHistory> history = ReadRunHistory(paths.Metrics(), text.size());
  if (!history.ok()) CheckError(history.status(), {ErrorKind::kCorrupt});
  for (const Finding& finding : report.findings()) CheckMessage(DescribeFinding(finding));
}

// A point of a space can be trained or is rejected; its preset can be read again.
void CheckSpace(std::string_view text) {
  static MemoryFile file;
  file.Fill(text);
  const absl::StatusOr<SearchSpace> space = LoadSearchSpace(file.path());
  if (!space.ok()) return CheckError(space.status(), {ErrorKind::kUsage});
  for (const SpaceOption& option : space->options) MUST(IsPrintable(Describe(option)));
  const absl::StatusOr<std::vector<TrialDraw>> trials = DrawTrials(*space, TrainOptions(), 1, 3);
  if (!trials.ok()) return CheckError(trials.status(), {ErrorKind::kUsage});
  MUST(!trials->empty() && trials->size() <= 3);
  for (const TrialDraw& trial : *trials) {
    MUST(ValidateTrainOptions(trial.options).ok());
    static MemoryFile preset;
    preset.Fill(PresetText(*space, trial.options, "found"));
    TrainOptions again;
    MUST(LoadTomlConfiguration(preset.path(), again).ok());
    for (const SpaceOption& option : space->options) {
      const bool written = option.field->section != "work";
      MUST(!written || option.field->format(again) == option.field->format(trial.options));
    }
  }
}

// A log that can be read is the same when it is read again, however it was truncated.
void CheckSearchLog(const std::string& text) {
  const std::filesystem::path path = SearchPaths(ScratchFolder()).Log();
  WriteFileBytes(path, text);
  const absl::StatusOr<SearchLog> log = SearchLog::Open(path, {});
  if (!log.ok()) return CheckError(log.status(), {ErrorKind::kUsage, ErrorKind::kCorrupt});
  const std::string kept = FileBytes(path);
  MUST(text.starts_with(kept) && kept.ends_with('\n'));
  const absl::StatusOr<SearchLog> again = SearchLog::Open(path, {});
  MUST(again.ok() && again->events().size() == log->events().size());
}

}  // namespace
}  // namespace octavo

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  octavo::FuzzInput input(data, size);
  const char kind = input.Value<char>();
  if (kind == 't') octavo::CheckToml(input.rest());
  if (kind == 'j') octavo::CheckRunJson(input.rest());
  if (kind == 'e') octavo::CheckEvents(std::string(input.rest()));
  if (kind == 's') octavo::CheckSpace(input.rest());
  if (kind == 'l') octavo::CheckSearchLog(std::string(input.rest()));
  return 0;
}
