#include "train/team.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "base/random.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/checksum.h"
#include "io/file.h"
#include "io/resolved_path.h"
#include "train/lane_exchange.h"

namespace octavo {
namespace {

// The first byte of what rank 0 says in a round.
enum class Word : std::uint8_t { kCommit = 1, kCommitAndStop = 2, kResult = 3 };

// How long a rank looks at one thing before it looks at the others.
constexpr std::chrono::milliseconds kMoment(20);

// The name of a rank's mark beside a folder (FindFolders).
std::string MarkName(std::uint64_t nonce, std::uint64_t rest, std::size_t rank) {
  return fmt::format(".octavo-{:016x}-{:016x}-{}", nonce, rest, rank);
}

bool IsMark(std::string_view name) {
  const std::string like = MarkName(0, 0, 0);
  const std::size_t fixed = like.size() - 1;  // all but the rank
  const auto alike = [](char a, char b) {
    return b == '0' ? absl::ascii_isxdigit(static_cast<unsigned char>(a)) : a == b;
  };
  return name.size() > fixed &&
         std::equal(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(fixed), like.begin(), alike);
}

// Removes the marks that killed jobs have left: empty files, older than any job takes to begin.
void RemoveOldMarks(const std::filesystem::path& parent) {
  namespace fs = std::filesystem;
  constexpr std::chrono::hours kOld(1);
  std::error_code ignored;
  for (fs::directory_iterator entry(parent, ignored), end; entry != end; entry.increment(ignored)) {
    if (ignored) return;
    const std::string name = entry->path().filename().string();
    if (!IsMark(name) || !entry->is_regular_file(ignored) || entry->file_size(ignored) != 0) continue;
    const fs::file_time_type written = entry->last_write_time(ignored);
    if (!ignored && fs::file_time_type::clock::now() - written > kOld) fs::remove(entry->path(), ignored);
  }
}

}  // namespace

Team::Team(Ranks& ranks, std::uint32_t lanes, std::vector<std::uint32_t> folders)
    : ranks_(ranks), lane_count_(lanes), folders_(std::move(folders)) {
  folder_count_ = 1 + *std::ranges::max_element(folders_);
}

LaneRange Team::lanes() const {
  return LanesOfRank(lane_count_, static_cast<std::uint32_t>(ranks_.size()), static_cast<std::uint32_t>(rank()));
}

std::optional<int> Team::RankOf(std::uint32_t lane) const {
  if (lane == kNoLane) return std::nullopt;
  return static_cast<int>(RankOfLane(lane_count_, static_cast<std::uint32_t>(ranks_.size()), lane));
}

int Team::HolderOf(std::uint32_t folder, std::uint32_t lane) const {
  const std::optional<int> user = RankOf(lane);
  return user && folders_[static_cast<std::size_t>(*user)] == folder ? *user : FirstRankOf(folders_, folder);
}

void Team::SetFirstPlan(const EpochPlan& plan, std::size_t partitions) {
  first_lanes_ = LanesOfPartitions(plan, 0, partitions);
}

bool Team::WritesFolder() const { return FirstRankOf(folders_, folder()) == rank(); }

std::uint32_t Team::FirstFolderOf(PartitionId partition) const {
  const std::optional<int> user = RankOf(first_lanes_[Value(partition)]);
  return folders_[static_cast<std::size_t>(user.value_or(0))];
}

void Team::Order(TeamOrder order) {
  const Word word = order == TeamOrder::kCommit ? Word::kCommit : Word::kCommitAndStop;
  for (int to = 1; to < ranks_.size(); ++to) {
    ranks_.messenger().Send(to, MessageKind::kControl, {static_cast<std::byte>(word)});
  }
}

TeamOrder Team::OrderOf(const Message& message) {
  return message.front() == static_cast<std::byte>(Word::kCommit) ? TeamOrder::kCommit : TeamOrder::kCommitAndStop;
}

absl::StatusOr<TeamOrder> Team::NextOrder(bool commit, bool stop) {
  Messenger& messenger = ranks_.messenger();
  if (!first()) {
    if (stop && !stop_told_) {
      stop_told_ = true;
      messenger.Send(0, MessageKind::kStop, {});
    }
    const std::optional<Message> said = messenger.TryReceive(0, MessageKind::kControl);
    return said ? OrderOf(*said) : TeamOrder::kGoOn;
  }
  for (int from = 1; from < ranks_.size(); ++from) {
    if (messenger.TryReceive(from, MessageKind::kStop)) stop = true;
  }
  if (!stop && !commit) return TeamOrder::kGoOn;
  const TeamOrder order = stop ? TeamOrder::kCommitAndStop : TeamOrder::kCommit;
  Order(order);
  return order;
}

absl::StatusOr<std::optional<Team::Said>> Team::WaitForFirst(bool stop) {
  Messenger& messenger = ranks_.messenger();
  if (stop && !stop_told_) {
    stop_told_ = true;
    messenger.Send(0, MessageKind::kStop, {});
  }
  RETURN_IF_ERROR(messenger.WaitFor(0, MessageKind::kControl, kMoment));
  std::optional<Message> said = messenger.TryReceive(0, MessageKind::kControl);
  if (!said) return std::nullopt;
  if (said->front() != static_cast<std::byte>(Word::kResult)) return Said{.order = OrderOf(*said), .result = {}};
  said->erase(said->begin());
  return Said{.order = TeamOrder::kGoOn, .result = std::move(*said)};
}

void Team::TellResult(const Message& result) {
  Message said(1 + result.size());
  said[0] = static_cast<std::byte>(Word::kResult);
  std::ranges::copy(result, said.begin() + 1);
  for (int to = 1; to < ranks_.size(); ++to) ranks_.messenger().Send(to, MessageKind::kControl, said);
}

// The numbers of the folders may have changed since the commit. Every rank says which number its folder had.
absl::Status Team::Adopt(Manifest& manifest) {
  MessageWriter mine;
  mine.Put(manifest.round.folder);
  ASSIGN_OR_RETURN(const std::vector<Message> all, ranks_.Together(mine.Take()));
  std::vector<std::optional<std::uint32_t>> now;  // by the number of then
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::uint32_t then = 0;
    RETURN_IF_ERROR(MessageReader(all[rank]).Get(then));
    if (now.size() <= then) now.resize(then + std::size_t{1});
    if (now[then] && *now[then] != folders_[rank]) {
      return UsageError(fmt::format(
          "ranks {} and {} have different folders, but both have part {} of the run; expected "
          "the folders that the run was stopped with, each once",
          ranks_.NameOf(FirstRankOf(folders_, *now[then])), ranks_.NameOf(static_cast<int>(rank)), then + 1));
    }
    now[then] = folders_[rank];
  }
  std::uint64_t missing = 0;
  std::uint32_t missing_folder = 0;
  for (PartitionRecord& record : manifest.partitions) {
    if (record.folder < now.size() && now[record.folder]) {
      record.folder = *now[record.folder];
    } else {
      ++missing;
      missing_folder = record.folder;
    }
  }
  if (missing > 0) {
    return UsageError(
        fmt::format("{} of {} partitions are in folder {} of the run's {}, which no rank has; expected the "
                    "machine with that folder among the ranks",
                    missing, manifest.partitions.size(), missing_folder + 1, manifest.round.folders));
  }
  manifest.round.folders = folder_count_ > 1 ? folder_count_ : 0;
  manifest.round.folder = folder_count_ > 1 ? folder() : 0;
  return absl::OkStatus();
}

absl::Status Team::Gather(const std::vector<bool>& held, Manifest& next, RelationTable& lane_relations,
                          RelationTable& lane_relation_optimizer) {
  MessageWriter mine;
  std::uint64_t count = static_cast<std::uint64_t>(std::ranges::count(held, true));
  mine.Put(count);
  for (std::uint32_t p = 0; p < held.size(); ++p) {
    if (!held[p]) continue;
    PartitionRecord record = next.partitions[p];
    record.folder = folder_count_ > 1 ? folder() : 0;
    mine.Put(p);
    mine.Put(record);
  }
  const bool open = next.round.open == 1;
  for (std::uint32_t lane = lanes().first; lane < lanes().end; ++lane) {
    mine.Put(next.lanes[lane]);
    if (!open) continue;
    mine.PutAll(std::span<const float>(RowsOfLane(lane_relations, lane_count_, lane)));
    mine.PutAll(std::span<const float>(RowsOfLane(lane_relation_optimizer, lane_count_, lane)));
  }
  ASSIGN_OR_RETURN(const std::vector<Message> all, ranks_.Gather(mine.Take()));
  MessageWriter merged;
  if (first()) {
    RETURN_IF_ERROR(Merge(all, next, lane_relations, lane_relation_optimizer));
    merged.Put(next.header.run_id);
    merged.PutAll(std::span<const PartitionRecord>(next.partitions));
    merged.PutAll(std::span<const LaneRecord>(next.lanes));
    if (open) {
      merged.PutAll(std::span<const float>(lane_relations.values()));
      merged.PutAll(std::span<const float>(lane_relation_optimizer.values()));
    }
  }
  ASSIGN_OR_RETURN(const Message told, ranks_.Tell(merged.Take()));
  MessageReader reader(told);
  RETURN_IF_ERROR(reader.Get(next.header.run_id));
  RETURN_IF_ERROR(reader.GetAll(next.partitions));
  RETURN_IF_ERROR(reader.GetAll(next.lanes));
  if (open) {
    RETURN_IF_ERROR(reader.GetAll(lane_relations.values()));
    RETURN_IF_ERROR(reader.GetAll(lane_relation_optimizer.values()));
  }
  next.round.folders = folder_count_ > 1 ? folder_count_ : 0;
  next.round.folder = folder_count_ > 1 ? folder() : 0;
  return absl::OkStatus();
}

absl::Status Team::Merge(std::span<const Message> all, Manifest& next, RelationTable& lane_relations,
                         RelationTable& lane_relation_optimizer) const {
  std::vector<int> holders(next.partitions.size(), -1);
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    MessageReader reader(all[static_cast<std::size_t>(rank)]);
    std::uint64_t count = 0;
    RETURN_IF_ERROR(reader.Get(count));
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint32_t partition = 0;
      RETURN_IF_ERROR(reader.Get(partition));
      if (partition >= holders.size() || holders[partition] >= 0) {
        return absl::InternalError(absl::string_view(fmt::format("partition {} has two ranks", partition)));
      }
      holders[partition] = rank;
      RETURN_IF_ERROR(reader.Get(next.partitions[partition]));
    }
    const LaneRange lanes =
        LanesOfRank(lane_count_, static_cast<std::uint32_t>(ranks_.size()), static_cast<std::uint32_t>(rank));
    for (std::uint32_t lane = lanes.first; lane < lanes.end; ++lane) {
      RETURN_IF_ERROR(reader.Get(next.lanes[lane]));
      if (next.round.open == 0) continue;
      RETURN_IF_ERROR(reader.GetAll(RowsOfLane(lane_relations, lane_count_, lane)));
      RETURN_IF_ERROR(reader.GetAll(RowsOfLane(lane_relation_optimizer, lane_count_, lane)));
    }
  }
  const auto lost = std::ranges::find(holders, -1);
  if (lost == holders.end()) return absl::OkStatus();
  return absl::InternalError(absl::string_view(fmt::format("partition {} has no rank", lost - holders.begin())));
}

// Each rank writes a file with its own name beside the folder, and looks for those of the others. Names have the
// rest of the path: folders with the same parent are different ones.
absl::StatusOr<std::vector<std::uint32_t>> FindFolders(Ranks& ranks, const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  ASSIGN_OR_RETURN(const fs::path resolved, ResolvedPath(path));
  fs::path parent = resolved.parent_path();
  std::error_code ignored;
  while (!fs::is_directory(parent, ignored) && parent.has_relative_path()) parent = parent.parent_path();
  const std::string rest = resolved.lexically_relative(parent).string();
  const auto nonce = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  MessageWriter mine;
  mine.Put(nonce);
  mine.Put(HashName(rest, 0));
  ASSIGN_OR_RETURN(const std::vector<Message> all, ranks.Together(mine.Take()));
  std::vector<std::pair<std::uint64_t, std::uint64_t>> marks;
  for (const Message& message : all) {
    MessageReader reader(message);
    RETURN_IF_ERROR(reader.Get(marks.emplace_back().first));
    RETURN_IF_ERROR(reader.Get(marks.back().second));
  }
  const auto mark_of = [&](std::size_t rank) { return parent / MarkName(marks[rank].first, marks[rank].second, rank); };
  const auto own = static_cast<std::size_t>(ranks.rank());
  RemoveOldMarks(parent);
  absl::StatusOr<File> mark = File::CreateNew(mark_of(own));
  if (absl::Status met = ranks.Meet(); !met.ok()) {
    static_cast<void>(RemoveFile(mark_of(own)));
    return met;
  }
  MessageWriter seen;
  std::vector<std::uint8_t> sees;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    sees.push_back(rank == own || (marks[rank].second == marks[own].second && fs::exists(mark_of(rank), ignored)));
  }
  seen.PutAll(std::span<const std::uint8_t>(sees));
  const absl::StatusOr<std::vector<Message>> answers = ranks.Together(seen.Take());
  static_cast<void>(RemoveFile(mark_of(own)));
  RETURN_IF_ERROR(mark.status());
  RETURN_IF_ERROR(answers.status());
  std::vector<std::uint32_t> folders;
  std::uint32_t count = 0;
  for (const Message& answer : *answers) {
    std::vector<std::uint8_t> its;
    RETURN_IF_ERROR(MessageReader(answer).GetAll(its));
    const auto first = static_cast<std::size_t>(std::ranges::find(its, 1) - its.begin());
    folders.push_back(first < folders.size() ? folders[first] : count++);
  }
  return folders;
}

int FirstRankOf(std::span<const std::uint32_t> folders, std::uint32_t folder) {
  return static_cast<int>(std::ranges::find(folders, folder) - folders.begin());
}

}  // namespace octavo
