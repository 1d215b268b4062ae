#include "tests/support/crash_disk.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "tests/support/file_bytes.h"

namespace octavo {

namespace fs = std::filesystem;
using Kind = FileEvent::Kind;

struct Inode {
  std::string synced;
  std::vector<RecordedEvent> unsynced;  // writes and lengths, in order
};

namespace {

constexpr std::size_t kSectorBytes = 512;

void WriteInto(std::string& file, std::uint64_t offset, std::string_view bytes) {
  if (file.size() < offset + bytes.size()) file.resize(offset + bytes.size());
  file.replace(offset, bytes.size(), bytes);
}

void ChangeFile(std::string& file, const RecordedEvent& event) {
  switch (event.kind) {
    case Kind::kWrite:
      WriteInto(file, event.offset, event.bytes);
      break;
    case Kind::kAllocate:
      file.resize(std::max<std::uint64_t>(file.size(), event.size));
      break;
    default:  // kCreate, kTruncate
      file.resize(event.size);
  }
}

// Some sectors of the write arrive: the first ones, the last ones, or any.
void TearInto(std::string& file, const RecordedEvent& event, RandomStream& random) {
  const std::uint64_t end = event.offset + event.bytes.size();
  const std::uint64_t first = event.offset / kSectorBytes;
  const std::uint64_t sectors = (end + kSectorBytes - 1) / kSectorBytes - first;
  const std::uint64_t way = random.Below(3);
  const std::uint64_t border = random.Below(sectors + 1);
  for (std::uint64_t i = 0; i < sectors; ++i) {
    const bool arrives = way == 0 ? i < border : way == 1 ? i >= border : random.Below(2) == 0;
    if (!arrives) continue;
    const std::uint64_t from = std::max(event.offset, (first + i) * kSectorBytes);
    const std::uint64_t to = std::min(end, (first + i + 1) * kSectorBytes);
    WriteInto(file, from, std::string_view(event.bytes).substr(from - event.offset, to - from));
  }
}

std::uint64_t Fingerprint(const FolderContents& contents) {
  const std::hash<std::string_view> hash;
  std::string all;
  for (const auto& [name, bytes] : contents) {
    for (const std::size_t part : {hash(name), hash(bytes)})
      all.append(reinterpret_cast<const char*>(&part), sizeof(part));
  }
  return hash(all);
}

}  // namespace

FileJournal::FileJournal(fs::path folder) : folder_(std::move(folder)) { SetFileListener(this); }
FileJournal::~FileJournal() { SetFileListener(nullptr); }

void FileJournal::OnFileEvent(const FileEvent& event) {
  const bool of_folder = event.path == folder_;
  if (!of_folder && event.path.parent_path() != folder_) return;
  RecordedEvent recorded{.kind = event.kind,
                         .name = of_folder ? "" : event.path.filename().string(),
                         .to = event.to.filename().string(),
                         .offset = event.offset,
                         .size = event.size,
                         .bytes = std::string(reinterpret_cast<const char*>(event.bytes.data()), event.bytes.size())};
  const std::lock_guard<std::mutex> lock(mutex_);
  events_.push_back(std::move(recorded));
}

CrashDisk::CrashDisk(const FolderContents& synced) {
  for (const auto& [name, bytes] : synced)
    synced_[name] = std::make_shared<Inode>(Inode{.synced = bytes, .unsynced = {}});
  now_ = synced_;
}

std::shared_ptr<Inode> CrashDisk::Find(const std::string& name) {
  std::shared_ptr<Inode>& inode = now_[name];
  if (inode == nullptr) synced_[name] = inode = std::make_shared<Inode>();  // made before the recording
  return inode;
}

void CrashDisk::ChangeNames(Names& names, const Change& change) {
  if (change.event.kind != Kind::kCreate) names.erase(change.event.name);
  if (change.event.kind == Kind::kCreate) names[change.event.name] = change.inode;
  if (change.event.kind == Kind::kRename) names[change.event.to] = change.inode;
}

void CrashDisk::Apply(const RecordedEvent& event) {
  switch (event.kind) {
    case Kind::kSync: {
      const std::shared_ptr<Inode> inode = Find(event.name);
      for (const RecordedEvent& change : inode->unsynced) ChangeFile(inode->synced, change);
      inode->unsynced.clear();
      return;
    }
    case Kind::kSyncFolder:
      for (const Change& change : unsynced_names_) ChangeNames(synced_, change);
      unsynced_names_.clear();
      return;
    case Kind::kRename:
    case Kind::kRemove:
      unsynced_names_.push_back({.event = event, .inode = Find(event.name)});
      ChangeNames(now_, unsynced_names_.back());
      return;
    case Kind::kCreate:
      if (!now_.contains(event.name)) {
        unsynced_names_.push_back({.event = event, .inode = std::make_shared<Inode>()});
        ChangeNames(now_, unsynced_names_.back());
        return;
      }
      [[fallthrough]];  // it existed and is emptied
    case Kind::kAllocate:
    case Kind::kTruncate:
    case Kind::kWrite:
      Find(event.name)->unsynced.push_back(event);
  }
}

std::vector<const Inode*> CrashDisk::Inodes() const {
  std::vector<const Inode*> inodes;
  const auto add = [&](const std::shared_ptr<Inode>& inode) {
    if (std::ranges::find(inodes, inode.get()) == inodes.end()) inodes.push_back(inode.get());
  };
  for (const Names* names : {&synced_, &now_}) {
    for (const auto& [name, inode] : *names) add(inode);
  }
  for (const Change& change : unsynced_names_) add(change.inode);
  return inodes;
}

std::size_t CrashDisk::unsynced() const {
  std::size_t count = unsynced_names_.size();
  for (const Inode* inode : Inodes()) count += inode->unsynced.size();
  return count;
}

FolderContents CrashDisk::Cut(const std::function<Fate(std::size_t)>& fate, RandomStream& random) const {
  std::size_t asked = 0;
  Names names = synced_;
  for (const Change& change : unsynced_names_) {
    if (fate(asked++) != Fate::kLost) ChangeNames(names, change);
  }
  std::map<const Inode*, std::string> bytes;
  for (const Inode* inode : Inodes()) {
    std::string& file = bytes[inode] = inode->synced;
    for (const RecordedEvent& change : inode->unsynced) {
      const Fate its = fate(asked++);
      if (its == Fate::kTorn && change.kind == Kind::kWrite) {
        TearInto(file, change, random);
      } else if (its != Fate::kLost) {
        ChangeFile(file, change);
      }
    }
  }
  FolderContents contents;
  for (const auto& [name, inode] : names) contents[name] = bytes.at(inode.get());
  return contents;
}

void ForEachCut(const CrashDisk& disk, std::size_t random_cuts, RandomStream& random,
                const std::function<void(const FolderContents&)>& check) {
  using Fate = CrashDisk::Fate;
  std::set<FolderContents> seen;
  const auto visit = [&](const std::function<Fate(std::size_t)>& fate) {
    const auto [contents, is_new] = seen.insert(disk.Cut(fate, random));
    if (is_new) check(*contents);
  };
  const auto except = [](std::size_t place, Fate its, Fate others) {
    return [=](std::size_t i) { return i == place ? its : others; };
  };
  const std::size_t count = disk.unsynced();
  visit([](std::size_t) { return Fate::kLost; });
  visit([](std::size_t) { return Fate::kKept; });
  for (std::size_t i = 0; i < count; ++i) {
    visit(except(i, Fate::kLost, Fate::kKept));
    visit(except(i, Fate::kKept, Fate::kLost));
    visit(except(i, Fate::kTorn, Fate::kKept));
    visit(except(i, Fate::kTorn, Fate::kLost));
    visit([i](std::size_t k) { return k < i ? Fate::kKept : Fate::kLost; });
  }
  for (std::size_t i = 0; i < random_cuts && count > 0; ++i) {
    visit([&](std::size_t) {
      const std::uint64_t draw = random.Below(5);
      return draw < 2 ? Fate::kLost : draw < 4 ? Fate::kKept : Fate::kTorn;
    });
  }
}

std::string CutVerdicts::Of(const FolderContents& contents, std::uint64_t acknowledged,
                            const std::function<std::string(const FolderContents&, std::uint64_t)>& examine) {
  const auto [known, is_new] = verdicts_.try_emplace({Fingerprint(contents), acknowledged});
  if (is_new) known->second = examine(contents, acknowledged);
  return known->second;
}

void WriteFolder(const fs::path& folder, const FolderContents& contents) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file() && !contents.contains(entry.path().filename().string())) fs::remove(entry.path());
  }
  for (const auto& [name, bytes] : contents) WriteFileBytes(folder / name, bytes);
}

FolderContents ReadFolder(const fs::path& folder) {
  FolderContents contents;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) contents[entry.path().filename().string()] = FileBytes(entry.path());
  }
  return contents;
}

}  // namespace octavo
