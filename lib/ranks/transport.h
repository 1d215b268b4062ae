// Messages between the ranks of a job, as a thread sends and receives them without waiting. The implementation is a
// plugin (plugin.h), or memory in tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace octavo {

// The most bytes of a message.
inline constexpr std::uint64_t kMostMessageBytes = std::uint64_t{64} << 20;

// One thread, from Start to Finish.
class Transport {
 public:
  // A transfer under way.
  using Request = void*;

  struct Arrived {
    int from = 0;
    std::uint64_t bytes = 0;
  };

  virtual ~Transport() = default;

  // Joins the job. Afterwards rank() < ranks().
  virtual absl::Status Start() = 0;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  // Name and version of what carries the messages.
  virtual std::string library() const = 0;

  // Begins to send at most kMostMessageBytes; `data` must outlive the request. Messages of a tag keep their order.
  virtual absl::StatusOr<Request> Send(std::span<const std::byte> data, int to, int tag) = 0;
  // A message with the tag that has arrived and is not being received.
  virtual absl::StatusOr<std::optional<Arrived>> Probe(int tag) = 0;
  // Begins to receive the message that Probe returned last.
  virtual absl::StatusOr<Request> Receive(std::span<std::byte> data, int from, int tag) = 0;
  // Whether the request is done; it then ends.
  virtual absl::StatusOr<bool> Test(Request request) = 0;

  // Leaves the job. REQUIRES: all ranks do, and no request is under way
  virtual void Finish() = 0;
  // Ends the processes of all ranks with this exit code, as far as they can be reached.
  virtual void Abort(int code) = 0;
};

}  // namespace octavo
