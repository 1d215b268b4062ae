// A model of a disk that loses power: what one folder can hold after a cut, given what the program did to its files.
//
// It holds the program to what POSIX promises and no more. Data and length of a file are on the disk once the file is
// synced; a name, a rename or a removal once the folder is. Of what was done since, any part may be on the disk: each
// write whole, torn between sectors of 512 bytes, or not at all; each length; each name; in any combination. ext4 and
// XFS keep more order than that (tests/end_to_end/power_cut cuts their power).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "io/file_events.h"

namespace octavo {

// An event with its bytes, by the name of its file in the folder.
struct RecordedEvent {
  FileEvent::Kind kind = FileEvent::Kind::kCreate;
  std::string name = {};  // "" for the folder itself
  std::string to = {};
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string bytes = {};
};

// While it lives, records what is done to the files of `folder`, and to no others.
class FileJournal : public FileListener {
 public:
  explicit FileJournal(std::filesystem::path folder);
  ~FileJournal() override;
  void OnFileEvent(const FileEvent& event) override;
  // To be called by one thread, while the recorded program stands still.
  const std::vector<RecordedEvent>& events() const { return events_; }

 private:
  const std::filesystem::path folder_;
  std::mutex mutex_;
  std::vector<RecordedEvent> events_;
};

// Names and bytes of the files of a folder.
using FolderContents = std::map<std::string, std::string>;

struct Inode;

class CrashDisk {
 public:
  // What happens to one unsynced thing in a cut.
  enum class Fate { kLost, kKept, kTorn };  // only a write can be torn; anything else is kept then

  // A disk with these files, all synced.
  explicit CrashDisk(const FolderContents& synced = {});

  // An event may concern a file that existed when the disk was made.
  void Apply(const RecordedEvent& event);

  // The number of unsynced things: writes, lengths, names.
  std::size_t unsynced() const;
  // The content of the folder after a cut. `fate` is called for each thing in turn, from 0; `random` tears.
  FolderContents Cut(const std::function<Fate(std::size_t)>& fate, RandomStream& random) const;

 private:
  struct Change {
    RecordedEvent event = {};
    std::shared_ptr<Inode> inode = {};  // of a name that is created
  };
  using Names = std::map<std::string, std::shared_ptr<Inode>>;

  // Of every file that has or can have a name.
  std::vector<const Inode*> Inodes() const;
  std::shared_ptr<Inode> Find(const std::string& name);
  static void ChangeNames(Names& names, const Change& change);

  Names synced_;
  std::vector<Change> unsynced_names_;
  Names now_;
};

// The cuts worth trying: nothing kept, all, each thing alone, all but each, torn ones, the first few, and `random_cuts`
// more at random. Each is passed to `check`, equal ones once.
void ForEachCut(const CrashDisk& disk, std::size_t random_cuts, RandomStream& random,
                const std::function<void(const FolderContents&)>& check);

// Verdicts on what cuts leave. Cuts after different events often leave the same; it is examined once.
class CutVerdicts {
 public:
  // Returns what `examine` says of these contents after so many acknowledged commits, which has to depend on nothing
  // else.
  std::string Of(const FolderContents& contents, std::uint64_t acknowledged,
                 const std::function<std::string(const FolderContents&, std::uint64_t)>& examine);
  std::size_t size() const { return verdicts_.size(); }

 private:
  // By a fingerprint of 64 bits, and the commits. No test has so many contents that two have one fingerprint.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> verdicts_;
};

// Makes a folder hold these files and no others; folders within are left alone.
void WriteFolder(const std::filesystem::path& folder, const FolderContents& contents);
FolderContents ReadFolder(const std::filesystem::path& folder);

}  // namespace octavo
