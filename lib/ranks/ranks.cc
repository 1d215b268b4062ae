#include "ranks/ranks.h"

#include <utility>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {

absl::StatusOr<std::unique_ptr<Ranks>> Ranks::Join(std::unique_ptr<Transport> transport, MessengerSettings settings,
                                                   std::string_view host, std::string_view kind) {
  ASSIGN_OR_RETURN(std::unique_ptr<Messenger> messenger, Messenger::Start(std::move(transport), std::move(settings)));
  std::unique_ptr<Ranks> ranks(new Ranks(std::move(messenger)));
  MessageWriter mine;
  mine.PutText(host);
  mine.PutText(kind);
  ASSIGN_OR_RETURN(const std::vector<Message> all, ranks->Together(mine.Take()));
  std::string first_kind;
  for (int rank = 0; rank < ranks->size(); ++rank) {
    MessageReader reader(all[static_cast<std::size_t>(rank)]);
    std::string its_host;
    std::string its_kind;
    RETURN_IF_ERROR(reader.GetText(its_host));
    RETURN_IF_ERROR(reader.GetText(its_kind));
    ranks->names_.push_back(fmt::format("{} on {}", rank, its_host));
    if (rank == 0) first_kind = its_kind;
    if (its_kind != first_kind) {
      ranks->Part();  // all ranks find this
      return UsageError(
          fmt::format("rank {} has {}, rank {} has {}: their bits differ; expected the same program and "
                      "processors that compute alike",
                      ranks->NameOf(0), first_kind, ranks->NameOf(rank), its_kind));
    }
  }
  ranks->messenger_->SetNames(ranks->names_);
  return ranks;
}

absl::StatusOr<std::vector<Message>> Ranks::Gather(Message mine) {
  std::vector<Message> all;
  if (!first()) {
    messenger_->Send(0, MessageKind::kTogether, std::move(mine));
    return all;
  }
  all.push_back(std::move(mine));
  for (int from = 1; from < size(); ++from) {
    ASSIGN_OR_RETURN(Message its, messenger_->Receive(from, MessageKind::kTogether));
    all.push_back(std::move(its));
  }
  return all;
}

absl::StatusOr<Message> Ranks::Tell(Message of_first) {
  if (!first()) return messenger_->Receive(0, MessageKind::kTogether);
  for (int to = 1; to < size(); ++to) messenger_->Send(to, MessageKind::kTogether, of_first);
  return of_first;
}

absl::StatusOr<std::vector<Message>> Ranks::Together(Message mine) {
  ASSIGN_OR_RETURN(std::vector<Message> all, Gather(std::move(mine)));
  MessageWriter writer;
  for (const Message& each : all) writer.PutAll(std::span<const std::byte>(each));
  ASSIGN_OR_RETURN(const Message told, Tell(writer.Take()));
  MessageReader reader(told);
  all.assign(static_cast<std::size_t>(size()), {});
  for (Message& each : all) RETURN_IF_ERROR(reader.GetAll(each));
  return all;
}

absl::Status Ranks::Meet() {
  RETURN_IF_ERROR(Gather({}).status());
  return Tell({}).status();
}

void Ranks::Part() {
  messenger_->Finish();
  if (!first()) messenger_->Send(0, MessageKind::kTogether, {});
  for (int from = 1; first() && from < size(); ++from) {
    if (!messenger_->Receive(from, MessageKind::kTogether).ok()) return;
  }
}

absl::Status MessageReader::Differs() {
  return absl::InternalError("a message of another rank is not what this rank expects");
}

}  // namespace octavo
