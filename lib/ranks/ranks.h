// The ranks of a job, and the steps that they take together.
//
// A training on several machines is one process a rank. Every rank does the same steps in the same order; what a rank
// tells the others in a step is a message of bytes. Sums are never left to the transport: rank 0 gathers, computes in
// the order of ranks, and tells the result.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ranks/messenger.h"

namespace octavo {

// Together, Gather, Tell, Meet and Part are for one thread, and all ranks call the same ones in the same order.
class Ranks {
 public:
  // Joins the job. Two ranks with different `kind`, such as "octavo 1.2, AVX-512", cannot compute the same bits: a
  // usage error. `host` is this machine's name, for messages.
  static absl::StatusOr<std::unique_ptr<Ranks>> Join(std::unique_ptr<Transport> transport, MessengerSettings settings,
                                                     std::string_view host, std::string_view kind);

  int rank() const { return messenger_->rank(); }
  int size() const { return messenger_->ranks(); }
  bool first() const { return rank() == 0; }
  // "2 on host-b".
  const std::string& NameOf(int rank) const { return names_[static_cast<std::size_t>(rank)]; }
  Messenger& messenger() { return *messenger_; }

  // What every rank gives, in their order, at rank 0; empty elsewhere.
  absl::StatusOr<std::vector<Message>> Gather(Message mine);
  // What rank 0 gives, at every rank.
  absl::StatusOr<Message> Tell(Message of_first);
  // What every rank gives, at every rank.
  absl::StatusOr<std::vector<Message>> Together(Message mine);
  // Returns when all ranks have called it.
  absl::Status Meet();
  // Before the end of the job, when all ranks have met: rank 0 returns as the last one, so that what it told the others
  // has arrived. From now on a rank that cannot be reached has left.
  void Part();

 private:
  explicit Ranks(std::unique_ptr<Messenger> messenger) : messenger_(std::move(messenger)) {}

  std::unique_ptr<Messenger> messenger_;
  std::vector<std::string> names_;
};

// Writes values and arrays into a message, one after another; the reader has the same types in the same order.
class MessageWriter {
 public:
  template <typename T>
  void Put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    Append(std::as_bytes(std::span<const T, 1>(&value, 1)));
  }
  template <typename T>
  void PutAll(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    Put(std::uint64_t{values.size()});
    Append(std::as_bytes(values));
  }
  void PutText(std::string_view text) { PutAll(std::span<const char>(text.data(), text.size())); }
  Message Take() { return std::move(message_); }

 private:
  void Append(std::span<const std::byte> bytes) { message_.insert(message_.end(), bytes.begin(), bytes.end()); }

  Message message_;
};

// Reads what a MessageWriter wrote. A message that is too short is an error of the program: its ranks differ.
class MessageReader {
 public:
  explicit MessageReader(std::span<const std::byte> message) : rest_(message) {}

  template <typename T>
  absl::Status Get(T& value) {
    return GetInto(std::span<T>(&value, 1));
  }
  // Fills `values`, whose number must be that which was written.
  template <typename T>
  absl::Status GetAll(std::span<T> values) {
    std::uint64_t count = 0;
    if (absl::Status status = Get(count); !status.ok()) return status;
    return count == values.size() ? GetInto(values) : Differs();
  }
  template <typename T>
  absl::Status GetAll(std::vector<T>& values) {
    std::uint64_t count = 0;
    if (absl::Status status = Get(count); !status.ok()) return status;
    if (count > rest_.size() / sizeof(T)) return Differs();
    values.resize(count);
    return GetInto(std::span<T>(values));
  }
  absl::Status GetText(std::string& text) {
    std::vector<char> letters;
    if (absl::Status status = GetAll(letters); !status.ok()) return status;
    text.assign(letters.begin(), letters.end());
    return absl::OkStatus();
  }

 private:
  template <typename T>
  absl::Status GetInto(std::span<T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (values.size_bytes() > rest_.size()) return Differs();
    if (!values.empty()) std::memcpy(values.data(), rest_.data(), values.size_bytes());
    rest_ = rest_.subspan(values.size_bytes());
    return absl::OkStatus();
  }
  static absl::Status Differs();

  std::span<const std::byte> rest_;
};

}  // namespace octavo
