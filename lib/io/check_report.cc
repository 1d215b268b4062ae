#include "io/check_report.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {

std::string DescribeFinding(const Finding& finding) {
  std::string text = finding.file;
  if (!finding.place.empty()) text += ": " + finding.place;
  text += ": " + finding.found;
  if (!finding.expected.empty()) text += "; expected " + finding.expected;
  return text;
}

void CheckReport::AddFinding(Finding finding) {
  const MutexLock lock(mutex_);
  ++(finding.unread ? unread_count_ : damage_count_);
  if (++counts_[finding.file] <= kListedOfAFile) findings_.push_back(std::move(finding));
}

void CheckReport::Damage(const std::filesystem::path& file, std::string place, std::string found,
                         std::string expected) {
  AddFinding({file.string(), std::move(place), std::move(found), std::move(expected), /*unread=*/false});
}

void CheckReport::Fault(const std::filesystem::path& file, std::string place, const absl::Status& status) {
  constexpr std::string_view kExpected = "; expected ";
  std::string_view text = MessageOf(status);
  const std::string prefix = file.string() + ": ";
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  Finding finding;
  finding.file = file.string();
  finding.place = std::move(place);
  finding.unread = KindOf(status) != ErrorKind::kCorrupt && KindOf(status) != ErrorKind::kUsage;
  if (const std::size_t at = text.rfind(kExpected); at != std::string_view::npos) {
    finding.found = text.substr(0, at);
    finding.expected = text.substr(at + kExpected.size());
  } else {
    finding.found = text;
  }
  AddFinding(std::move(finding));
}

void CheckReport::Checked(const std::filesystem::path& file, std::uint64_t bytes, std::string what) {
  const MutexLock lock(mutex_);
  files_.push_back({file.string(), std::move(what), bytes});
}

void CheckReport::Add(const CheckReport& other) {
  const std::vector<Finding> findings = other.findings();
  const std::vector<CheckedFile> files = other.files();
  const std::vector<std::string> notes = other.notes();
  const std::uint64_t damage_count = other.damage_count();
  const std::uint64_t unread_count = other.unread_count();
  const MutexLock lock(mutex_);
  findings_.insert(findings_.end(), findings.begin(), findings.end());
  files_.insert(files_.end(), files.begin(), files.end());
  notes_.insert(notes_.end(), notes.begin(), notes.end());
  for (const Finding& finding : findings) counts_[finding.file] = other.FindingsOf(finding.file);
  damage_count_ += damage_count;
  unread_count_ += unread_count;
}

void CheckReport::Note(std::string text) {
  const MutexLock lock(mutex_);
  notes_.push_back(std::move(text));
}

bool CheckReport::HasFindings(const std::filesystem::path& file) const { return FindingsOf(file.string()) > 0; }

std::uint64_t CheckReport::FindingsOf(const std::string& file) const {
  const MutexLock lock(mutex_);
  const auto found = counts_.find(file);
  return found == counts_.end() ? 0 : found->second;
}

std::vector<Finding> CheckReport::findings() const {
  const MutexLock lock(mutex_);
  std::vector<Finding> sorted = findings_;
  std::ranges::stable_sort(sorted, {}, &Finding::file);
  return sorted;
}

std::vector<CheckedFile> CheckReport::files() const {
  const MutexLock lock(mutex_);
  std::vector<CheckedFile> sorted = files_;
  std::ranges::stable_sort(sorted, {}, &CheckedFile::file);
  return sorted;
}

std::vector<std::string> CheckReport::notes() const {
  const MutexLock lock(mutex_);
  return notes_;
}

std::uint64_t CheckReport::damage_count() const {
  const MutexLock lock(mutex_);
  return damage_count_;
}

std::uint64_t CheckReport::unread_count() const {
  const MutexLock lock(mutex_);
  return unread_count_;
}

std::uint64_t CheckReport::bytes() const {
  const MutexLock lock(mutex_);
  std::uint64_t sum = 0;
  for (const CheckedFile& file : files_) sum += file.bytes;
  return sum;
}

}  // namespace octavo
