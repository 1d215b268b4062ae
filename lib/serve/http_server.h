// The sockets of octavo serve: HTTP/1.1 by Boost.Beast.
//
// One thread waits for all connections at once and never blocks; work runs in queues (request_queues.h). So a slow,
// stalled or dead client costs its buffers and nothing else. All of them are bounded: connections (the one that has
// been idle for the longest is closed for a new one), bytes of headers and bodies, bytes of bodies of all connections
// together, times of reading and writing, waiting tasks, and streams of events.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "serve/request_queues.h"
#include "serve/service.h"

namespace octavo {

struct HttpLimits {
  std::size_t connections = 256;
  std::size_t streams = 32;
  std::uint64_t body_bytes = std::uint64_t{4} << 20;  // of all connections
  int read_seconds = 30;   // for a whole header, from when the connection is idle, and for a whole body
  int write_seconds = 30;  // for a response, and more for one of many bytes
  int grace_seconds = 30;  // for what is under way when the server ends
};

// Memory of the connections and their requests.
std::uint64_t HttpBytes(const HttpLimits& limits);

class HttpServer {
 public:
  // Listens at `host` (an address or a name) and `port`; 0 takes a free one. An address that cannot be used is a
  // usage error.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Listen(const std::string& host, std::uint16_t port,
                                                            const HttpLimits& limits);
  ~HttpServer();

  // "127.0.0.1:8321"
  const std::string& address() const;

  // Serves until `signal` is not 0. Then takes no more requests, answers those that are under way, and returns when
  // none of its tasks is in the queues any more. Sets `ending` when work should stop.
  absl::Status Run(Service& service, RequestQueues& queues, const std::atomic<int>& signal, std::atomic<bool>& ending);

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace octavo
