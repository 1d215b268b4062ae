// What a check of files finds: each damage with its place, the files that were checked, and notes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/mutex.h"

namespace octavo {

// One thing that is wrong with a file.
struct Finding {
  std::string file;
  std::string place;  // "block 3 at byte 8192"; empty: the file as a whole
  std::string found;
  std::string expected;
  bool unread = false;  // the system could not read it; its contents may be fine
};

// Returns "FILE: place: found; expected ...".
std::string DescribeFinding(const Finding& finding);

struct CheckedFile {
  std::string file;
  std::string what;  // "12 blocks", for people
  std::uint64_t bytes = 0;
};

// Thread-safe.
class CheckReport {
 public:
  // Keeps this many findings for each file; further ones are only counted.
  static constexpr std::uint64_t kListedOfAFile = 20;

  void Damage(const std::filesystem::path& file, std::string place, std::string found, std::string expected)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Records a reader's error "FILE: found; expected ...", split into its parts. A missing file counts as damage, a
  // system error as unread. REQUIRES: !status.ok()
  void Fault(const std::filesystem::path& file, std::string place, const absl::Status& status)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Records that `bytes` of the file were checked.
  void Checked(const std::filesystem::path& file, std::uint64_t bytes, std::string what) ABSL_LOCKS_EXCLUDED(mutex_);
  // Adds everything of a report on other files, which no thread may change meanwhile.
  void Add(const CheckReport& other) ABSL_LOCKS_EXCLUDED(mutex_);
  // Records something that is not damage but worth a line.
  void Note(std::string text) ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether anything was found about the file.
  bool HasFindings(const std::filesystem::path& file) const ABSL_LOCKS_EXCLUDED(mutex_);
  std::uint64_t FindingsOf(const std::string& file) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Return copies. Findings and files are sorted by name, so that the order does not depend on threads.
  std::vector<Finding> findings() const ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<CheckedFile> files() const ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<std::string> notes() const ABSL_LOCKS_EXCLUDED(mutex_);
  // All findings, including those that are only counted.
  std::uint64_t damage_count() const ABSL_LOCKS_EXCLUDED(mutex_);
  std::uint64_t unread_count() const ABSL_LOCKS_EXCLUDED(mutex_);
  std::uint64_t bytes() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void AddFinding(Finding finding) ABSL_LOCKS_EXCLUDED(mutex_);

  mutable Mutex mutex_;
  std::vector<Finding> findings_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> counts_ ABSL_GUARDED_BY(mutex_);  // findings by file
  std::vector<CheckedFile> files_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> notes_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t damage_count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t unread_count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace octavo
