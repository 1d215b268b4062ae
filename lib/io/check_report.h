// What a check of files finds: each damage with its place, what was looked at, and what a reader should know besides.
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
  bool unread = false;  // the system could not read it, which says nothing about what is there
};

// Returns "FILE: place: found; expected ...".
std::string DescribeFinding(const Finding& finding);

struct CheckedFile {
  std::string file;
  std::string what;  // "12 blocks", for people
  std::uint64_t bytes = 0;
};

// Any thread.
class CheckReport {
 public:
  // Of each file this many findings are kept; more are counted.
  static constexpr std::uint64_t kListedOfAFile = 20;

  void Damage(const std::filesystem::path& file, std::string place, std::string found, std::string expected)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Takes the error of a reader apart: "FILE: found; expected ...". A missing file counts as damage, an error of the
  // system as unread. REQUIRES: !status.ok()
  void Fault(const std::filesystem::path& file, std::string place, const absl::Status& status)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The file was looked at, `bytes` of it.
  void Checked(const std::filesystem::path& file, std::uint64_t bytes, std::string what) ABSL_LOCKS_EXCLUDED(mutex_);
  // What is no damage and yet worth a line.
  void Note(std::string text) ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether anything was found about the file.
  bool HasFindings(const std::filesystem::path& file) const ABSL_LOCKS_EXCLUDED(mutex_);
  std::uint64_t FindingsOf(const std::string& file) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Copies, the findings and files sorted by name, so that threads do not show.
  std::vector<Finding> findings() const ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<CheckedFile> files() const ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<std::string> notes() const ABSL_LOCKS_EXCLUDED(mutex_);
  // All findings, also those that are not kept.
  std::uint64_t damage_count() const ABSL_LOCKS_EXCLUDED(mutex_);
  std::uint64_t unread_count() const ABSL_LOCKS_EXCLUDED(mutex_);
  std::uint64_t bytes() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Add(Finding finding) ABSL_LOCKS_EXCLUDED(mutex_);

  mutable Mutex mutex_;
  std::vector<Finding> findings_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> counts_ ABSL_GUARDED_BY(mutex_);  // findings by file
  std::vector<CheckedFile> files_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> notes_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t damage_count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t unread_count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace octavo
