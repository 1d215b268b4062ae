#include "serve/http_server.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "serve/http_request.h"

namespace octavo {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace net = boost::asio;
using boost::system::error_code;
using Tcp = net::ip::tcp;
using Clock = std::chrono::steady_clock;

constexpr auto kTick = std::chrono::milliseconds(250);         // looks for signals and events
constexpr auto kHeartbeat = std::chrono::seconds(15);          // on a stream without events, to notice a dead client
constexpr auto kAcceptPause = std::chrono::milliseconds(100);  // when descriptors have run out
constexpr std::uint64_t kBytesPerSecond = 64 << 10;            // a client that reads more slowly is cut off
constexpr int kDrainSeconds = 2;
constexpr std::size_t kDrainPiece = 16 << 10;
constexpr std::uint64_t kMostDrained = 8 << 20;
constexpr std::uint64_t kConnectionBytes = 32 << 10;  // buffers, header, and the objects of both

// Everything comes from the server itself, and nothing in a page can run that is not one of its files.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'";

class Connection;

// What the connections of a server share. Used by the thread of Run alone, except `alive` of a task.
struct Shared {
  const HttpLimits& limits;
  net::io_context& io;
  Service& service;
  RequestQueues& queues;
  std::set<std::shared_ptr<Connection>> connections = {};
  std::uint64_t body_bytes = 0;
  std::size_t streams = 0;
  std::size_t tasks = 0;  // in the queues
  bool ends = false;
  std::atomic<bool>* stop_work = nullptr;
};

// One client. Its handlers run on the thread of Run, one after the other.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Shared& shared, Tcp::socket socket)
      : shared_(shared), stream_(std::move(socket)), buffer_(kMostHeaderBytes + kMostBodyBytes) {}

  void Read() {
    state_ = State::kReading;
    since_ = Clock::now();
    parser_.emplace();
    LimitParser(*parser_);
    stream_.expires_after(std::chrono::seconds(shared_.limits.read_seconds));
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](error_code error, std::size_t) { self->OnHeader(error); });
  }

  bool idle() const { return state_ == State::kReading; }
  Clock::time_point since() const { return since_; }

  void Close() {
    error_code ignored;
    stream_.socket().shutdown(Tcp::socket::shutdown_both, ignored);
    stream_.close();
    gone_->store(true);
    Release();
    if (std::exchange(streaming_, false)) --shared_.streams;
    shared_.connections.erase(shared_from_this());
  }

  // The server ends: closes what waits for a request or for events.
  void End() {
    if (state_ == State::kReading || state_ == State::kStreaming) Close();
  }

  // Looks for events, if the client listens to some.
  void Tick() {
    if (state_ != State::kStreaming || busy_) return;
    busy_ = true;
    const bool submitted = Submit(RequestQueue::kQuick, [self = shared_from_this()] {
      auto events = std::make_shared<absl::StatusOr<std::string>>(self->more_());
      return [self, events] { self->OnEvents(std::move(*events)); };
    });
    if (!submitted) busy_ = false;
  }

 private:
  enum class State { kReading, kWorking, kWriting, kStreaming };

  // Runs `task` in a queue, and what it returns on the thread of Run.
  template <typename Task>
  bool Submit(RequestQueue queue, Task task) {
    ++shared_.tasks;
    const bool submitted = shared_.queues.Submit(queue, [&shared = shared_, task = std::move(task)] {
      net::post(shared.io, [&shared, then = task()] {
        --shared.tasks;
        then();
      });
    });
    if (!submitted) --shared_.tasks;
    return submitted;
  }

  void OnHeader(error_code error) {
    if (Closed()) return;
    if (error) return OnReadError(error);
    if (std::optional<ServeResponse> refused = RefuseBody(*parser_)) {
      closes_ = drains_ = true;
      return Send(*std::move(refused));
    }
    const std::uint64_t bytes = parser_->content_length().value_or(0);
    if (shared_.body_bytes + bytes > shared_.limits.body_bytes) {
      closes_ = drains_ = true;
      return Send(Busy());
    }
    shared_.body_bytes += bytes;
    reserved_ = bytes;
    stream_.expires_after(std::chrono::seconds(shared_.limits.read_seconds));
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](error_code failed, std::size_t) { self->OnRequest(failed); });
  }

  void OnReadError(error_code error) {
    // The client has gone, or has taken too long: nobody reads an answer.
    if (error.category() != make_error_code(http::error::bad_method).category() ||
        error == http::error::end_of_stream || error == http::error::partial_message) {
      return Close();
    }
    closes_ = drains_ = true;
    is_head_ = false;
    Send(ParserError(error));
  }

  void OnRequest(error_code error) {
    if (Closed()) return;
    if (error) return OnReadError(error);
    closes_ = !parser_->keep_alive();
    is_head_ = parser_->get().method() == http::verb::head;
    Dispatched dispatched = shared_.service.Dispatch(TakeRequest(*parser_));
    if (dispatched.response) return Send(*std::move(dispatched.response));
    more_ = is_head_ ? nullptr : std::move(dispatched.more);
    if (more_ != nullptr && shared_.streams >= shared_.limits.streams) return Send(Busy());
    Work(dispatched);
  }

  void Work(const Dispatched& dispatched) {
    state_ = State::kWorking;
    stream_.expires_never();
    const bool submitted = Submit(
        dispatched.queue, [self = shared_from_this(), work = dispatched.work, gone = gone_, stop = shared_.stop_work] {
          const auto stops = [gone, stop] {
            return gone->load(std::memory_order_relaxed) || stop->load(std::memory_order_relaxed);
          };
          // A client that has gone while it waited needs no work.
          auto response = std::make_shared<ServeResponse>(stops() ? Busy() : work(stops));
          return [self, response] { self->OnWorked(std::move(*response)); };
        });
    if (!submitted) return Send(Busy());
    Watch();
  }

  // Notices a client that closes its connection while it waits for the answer.
  void Watch() {
    stream_.socket().async_wait(Tcp::socket::wait_read, [self = shared_from_this()](error_code error) {
      if (error || self->Closed() || (self->state_ != State::kWorking && self->state_ != State::kStreaming)) return;
      char byte = 0;
      const ssize_t got = ::recv(self->stream_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) self->Close();
      // Bytes are the next request, which is read after the answer.
    });
  }

  void OnWorked(ServeResponse response) {
    if (Closed()) return;
    error_code ignored;
    stream_.socket().cancel(ignored);  // the watch
    if (more_ != nullptr && response.status == 200) return Stream(response);
    Send(std::move(response));
  }

  void Send(ServeResponse response) {
    Release();
    state_ = State::kWriting;
    closes_ = closes_ || shared_.ends;
    response_ = std::move(response);
    message_.emplace();
    FillHeader(*message_, response_);
    message_->keep_alive(!closes_);
    const std::size_t size = response_.body == nullptr ? 0 : response_.body->size();
    message_->content_length(size);
    if (!is_head_ && size > 0) message_->body() = beast::span<const char>(response_.body->data(), size);
    serializer_.emplace(*message_);
    stream_.expires_after(
        std::chrono::seconds(shared_.limits.write_seconds + static_cast<int>(size / kBytesPerSecond)));
    const auto written = [self = shared_from_this()](error_code error, std::size_t) { self->OnWritten(error); };
    if (is_head_) {
      http::async_write_header(stream_, *serializer_, written);
    } else {
      http::async_write(stream_, *serializer_, written);
    }
  }

  template <typename Message>
  void FillHeader(Message& message, const ServeResponse& response) const {
    message.version(11);
    message.result(response.status);
    if (!response.type.empty()) message.set(http::field::content_type, response.type);
    message.set("Content-Security-Policy", kPolicy);
    message.set("X-Content-Type-Options", "nosniff");
    message.set("Referrer-Policy", "no-referrer");
    message.set("Cross-Origin-Resource-Policy", "same-origin");
    message.set("Cross-Origin-Opener-Policy", "same-origin");
    message.set(http::field::cache_control, "no-store");
    for (const auto& [name, value] : response.headers) message.set(name, value);
  }

  void OnWritten(error_code error) {
    if (Closed()) return;
    serializer_.reset();
    message_.reset();
    response_ = {};
    if (!error && drains_) return Drain();
    if (error || closes_ || shared_.ends) return Close();
    Read();
  }

  // A client that still sends the body of a refused request would be reset before it has read why: reads for a while
  // and drops what comes.
  void Drain() {
    state_ = State::kReading;
    since_ = Clock::time_point::min();  // the first to go for a new client
    error_code ignored;
    stream_.socket().shutdown(Tcp::socket::shutdown_send, ignored);
    stream_.expires_after(std::chrono::seconds(kDrainSeconds));
    buffer_.clear();
    DrainMore();
  }

  void DrainMore() {
    stream_.async_read_some(buffer_.prepare(kDrainPiece),
                            [self = shared_from_this()](error_code error, std::size_t size) {
                              if (self->Closed()) return;
                              self->drained_ += size;
                              if (error || self->drained_ > kMostDrained) return self->Close();
                              self->DrainMore();
                            });
  }

  // Sends the head of a stream of events: it has no length and ends with the connection.
  void Stream(const ServeResponse& response) {
    state_ = State::kStreaming;
    busy_ = true;
    streaming_ = true;
    ++shared_.streams;
    head_.emplace();
    FillHeader(*head_, response);
    head_->keep_alive(false);
    text_ = *response.body;
    stream_.expires_after(std::chrono::seconds(shared_.limits.write_seconds));
    http::async_write(stream_, *head_, [self = shared_from_this()](error_code error, std::size_t) {
      if (self->Closed()) return;
      if (error) return self->Close();
      self->Watch();
      self->WriteText();
    });
  }

  void OnEvents(absl::StatusOr<std::string> events) {
    if (Closed()) return;
    if (!events.ok() || shared_.ends) return Close();
    busy_ = false;
    if (events->empty() && Clock::now() - since_ < kHeartbeat) return;
    text_ = events->empty() ? ":\n\n" : *std::move(events);
    busy_ = true;
    WriteText();
  }

  void WriteText() {
    since_ = Clock::now();
    stream_.expires_after(std::chrono::seconds(shared_.limits.write_seconds));
    net::async_write(stream_, net::buffer(text_), [self = shared_from_this()](error_code error, std::size_t) {
      if (self->Closed()) return;
      if (error) return self->Close();
      self->busy_ = false;
      self->stream_.expires_never();
    });
  }

  static ServeResponse Busy() {
    ServeResponse response = ErrorResponse(503, "too many requests wait; try again");
    response.headers.emplace_back("Retry-After", "1");
    return response;
  }

  bool Closed() const { return gone_->load(std::memory_order_relaxed); }
  void Release() { shared_.body_bytes -= std::exchange(reserved_, 0); }

  Shared& shared_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<HttpParser> parser_;
  State state_ = State::kReading;
  Clock::time_point since_ = Clock::now();  // of reading, or of the last write of a stream
  bool closes_ = false;                     // after the response
  bool drains_ = false;                     // what comes after it
  std::uint64_t drained_ = 0;
  bool is_head_ = false;
  std::uint64_t reserved_ = 0;                                                            // of the body
  std::shared_ptr<std::atomic<bool>> gone_ = std::make_shared<std::atomic<bool>>(false);  // shared with its task
  // of a response
  ServeResponse response_;
  std::optional<http::response<http::span_body<const char>>> message_;
  std::optional<http::response_serializer<http::span_body<const char>>> serializer_;
  // of a stream
  std::function<absl::StatusOr<std::string>()> more_;
  std::optional<http::response<http::empty_body>> head_;
  std::string text_;
  bool streaming_ = false;
  bool busy_ = false;
};

}  // namespace

struct HttpServer::State {
  State() : acceptor(io), pause(io), ticker(io) {}

  HttpLimits limits;
  net::io_context io{1};
  Tcp::acceptor acceptor;
  net::steady_timer pause;
  net::steady_timer ticker;
  std::string address;
  std::optional<Shared> shared;
  Clock::time_point end_of_grace = Clock::time_point::max();

  void Accept() {
    acceptor.async_accept([this](error_code error, Tcp::socket socket) {
      if (error == net::error::operation_aborted || !acceptor.is_open()) return;
      if (error) {
        pause.expires_after(kAcceptPause);
        pause.async_wait([this](error_code) {
          if (acceptor.is_open()) Accept();
        });
        return;
      }
      Admit(std::move(socket));
      Accept();
    });
  }

  // For the newest client the one goes that has been idle for the longest.
  void Admit(Tcp::socket socket) {
    if (shared->connections.size() >= limits.connections) {
      std::shared_ptr<Connection> oldest;
      for (const std::shared_ptr<Connection>& each : shared->connections) {
        if (each->idle() && (oldest == nullptr || each->since() < oldest->since())) oldest = each;
      }
      if (oldest == nullptr) return;  // all have work: closes the new one
      oldest->Close();
    }
    error_code ignored;
    socket.set_option(Tcp::no_delay(true), ignored);
    const auto connection = std::make_shared<Connection>(*shared, std::move(socket));
    shared->connections.insert(connection);
    connection->Read();
  }

  void Tick(const std::atomic<int>& signal) {
    ticker.expires_after(kTick);
    ticker.async_wait([this, &signal](error_code) {
      if (signal.load(std::memory_order_relaxed) != 0 && !shared->ends) End();
      // A copy: both may close a connection.
      for (const auto& connection : std::set(shared->connections)) connection->Tick();
      if (Clock::now() > end_of_grace) shared->stop_work->store(true);
      if (shared->ends && shared->tasks == 0 && (shared->connections.empty() || Clock::now() > end_of_grace)) {
        io.stop();
        return;
      }
      Tick(signal);
    });
  }

  void End() {
    shared->ends = true;
    end_of_grace = Clock::now() + std::chrono::seconds(limits.grace_seconds);
    error_code ignored;
    acceptor.close(ignored);
    for (const auto& connection : std::set(shared->connections)) connection->End();
  }
};

std::uint64_t HttpBytes(const HttpLimits& limits) { return limits.connections * kConnectionBytes + limits.body_bytes; }

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::~HttpServer() = default;

const std::string& HttpServer::address() const { return state_->address; }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Listen(const std::string& host, std::uint16_t port,
                                                               const HttpLimits& limits) {
  auto state = std::make_unique<State>();
  state->limits = limits;
  error_code error;
  Tcp::resolver resolver(state->io);
  const auto found = resolver.resolve(host, std::to_string(port), Tcp::resolver::passive, error);
  if (error || found.empty()) {
    return UsageError(fmt::format("--host {}: {}; expected an address of this machine", host, error.message()));
  }
  const Tcp::endpoint endpoint = found.begin()->endpoint();
  state->acceptor.open(endpoint.protocol(), error);
  if (!error) state->acceptor.set_option(net::socket_base::reuse_address(true), error);
  if (!error) state->acceptor.bind(endpoint, error);
  if (!error) state->acceptor.listen(net::socket_base::max_listen_connections, error);
  if (error) {
    return UsageError(
        fmt::format("--host {} --port {}: {}; expected an address of this machine and a free port, such "
                    "as --port 0 finds",
                    host, port, error.message()));
  }
  const Tcp::endpoint local = state->acceptor.local_endpoint();
  const std::string text = local.address().to_string();
  state->address =
      local.address().is_v6() ? fmt::format("[{}]:{}", text, local.port()) : fmt::format("{}:{}", text, local.port());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

absl::Status HttpServer::Run(Service& service, RequestQueues& queues, const std::atomic<int>& signal,
                             std::atomic<bool>& ending) {
  State& state = *state_;
  state.shared.emplace(
      Shared{.limits = state.limits, .io = state.io, .service = service, .queues = queues, .stop_work = &ending});
  state.Accept();
  state.Tick(signal);
  state.io.run();
  ending.store(true);
  for (const auto& connection : std::set(state.shared->connections)) connection->Close();
  // Handlers of closed connections still refer to what they share.
  state.io.restart();
  state.io.poll();
  return absl::OkStatus();
}

}  // namespace octavo
