#include "tune/verify_search.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/count_text.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/piece_reader.h"
#include "run/event_check.h"
#include "run/run_folder.h"
#include "run/verify_run.h"
#include "tune/preset_file.h"
#include "tune/search_log.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

bool IsThere(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// Returns whether the log was begun with checksums.
bool CheckLog(const fs::path& path, const CommitCheckOptions& options, CheckReport& report) {
  absl::StatusOr<PieceReader> reader = PieceReader::Open(path, options.reading);
  if (!reader.ok()) {
    report.Fault(path, "", reader.status());
    return false;
  }
  EventCheck check(path, SearchLogKeys(), kMostSearchLogBytes, report);
  const absl::Status status = reader->Read(0, reader->size(), [&](std::span<const std::byte> piece) {
    check.Add({reinterpret_cast<const char*>(piece.data()), piece.size()});
    if (options.progress) options.progress(piece.size());
    return absl::OkStatus();
  });
  if (!status.ok()) report.Fault(path, "", status);
  if (HasDamagedEnd(check.rest())) {
    check.Damage("another byte than a line end after the last event", "a line end");
  } else if (!check.rest().empty()) {
    report.Note(
        fmt::format("{}: the last line has no end: a search is writing it, or was interrupted; octavo tune "
                    "with the same arguments continues",
                    path.string()));
  }
  if (check.lines() == 0) check.Damage("no complete line", "the arguments of a search");
  report.Checked(path, reader->size(), CountText(check.lines(), "line"));
  return check.first_sealed();
}

void CheckBestPreset(const fs::path& path, bool sealed, CheckReport& report) {
  if (!IsThere(path)) {
    return report.Note(fmt::format("{}: not there yet: the search has not come to an end", path.string()));
  }
  if (const absl::Status status = CheckPreset(path, sealed); !status.ok()) return report.Fault(path, "", status);
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  report.Checked(path, error ? 0 : bytes, "the options of the best trial");
}

// A running search removes trials: what is no run any more when it has been checked has no damage.
absl::Status CheckTrial(const RunPaths& trial, const CommitCheckOptions& options, CheckReport& report) {
  const bool empty = !IsThere(trial.State()) && !IsThere(trial.Configuration()) && !IsThere(trial.Metrics());
  if (empty || IsUntrained(trial)) {
    report.Note(fmt::format("{}: a trial before its first commit", trial.folder().string()));
    return absl::OkStatus();
  }
  CheckReport found;
  RETURN_IF_ERROR(VerifyRun(trial.folder(), options, found).status());
  if (found.damage_count() + found.unread_count() > 0 && !IsThere(trial.folder())) {
    report.Note(fmt::format("{}: was removed by the search meanwhile", trial.folder().string()));
  } else {
    report.Add(found);
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<RunPaths> RunsOf(const SearchPaths& paths) {
  constexpr std::string_view kBefore = "trial-";
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(paths.folder(), error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool numbered = name.starts_with(kBefore) && name.size() > kBefore.size() &&
                          name.find_first_not_of("0123456789", kBefore.size()) == std::string::npos;
    if (numbered) folders.push_back(entry->path());
  }
  std::ranges::sort(folders);
  std::vector<RunPaths> trials;
  for (fs::path& folder : folders) trials.emplace_back(std::move(folder));
  if (IsThere(paths.WholeRun().folder())) trials.push_back(paths.WholeRun());
  return trials;
}

absl::Status VerifySearch(const SearchPaths& paths, const CommitCheckOptions& options, CheckReport& report) {
  const bool sealed = CheckLog(paths.Log(), options, report);
  CheckBestPreset(paths.Preset(), sealed, report);
  for (const RunPaths& trial : RunsOf(paths)) RETURN_IF_ERROR(CheckTrial(trial, options, report));
  return absl::OkStatus();
}

}  // namespace octavo
