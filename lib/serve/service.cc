#include "serve/service.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <set>
#include <utility>

#include "base/parallel.h"
#include "base/status.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "serve/openapi.h"
#include "serve/pages.h"
#include "serve/target.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// The longest time for one answer, from when its work begins.
constexpr auto kAnswerTime = std::chrono::seconds(120);

Dispatched AtOnce(ServeResponse response) { return {.response = std::move(response)}; }

ServeResponse WrongMethod(std::string_view allowed) {
  ServeResponse response = ErrorResponse(405, fmt::format("expected the method {}", allowed));
  response.headers.emplace_back("Allow", std::string(allowed));
  return response;
}

}  // namespace

absl::StatusOr<Json> ParseBody(const ServeRequest& request) {
  Json body = Json::parse(request.body, nullptr, /*allow_exceptions=*/false);
  if (!body.is_object()) return UsageError("found a body that is not a JSON object; expected one");
  return body;
}

Service::Service(ServiceOptions options, std::vector<std::unique_ptr<ServedRun>> runs) : options_(std::move(options)) {
  for (std::unique_ptr<ServedRun>& run : runs) {
    auto map = std::make_unique<MapCache>(*run);
    served_.push_back({std::move(run), std::move(map)});
  }
  routes_ = MakeRoutes();
}

absl::StatusOr<Service::Served*> Service::Find(std::string_view name) {
  if (name.empty() && !served_.empty()) return &served_[0];
  const auto found =
      std::ranges::find_if(served_, [&](const Served& each) { return each.run->options().name == name; });
  if (found != served_.end()) return &*found;
  std::string names;
  for (const Served& each : served_)
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", each.run->options().name);
  return UsageError(fmt::format("run: found \"{}\"; expected {}", name, names));
}

absl::StatusOr<ServedRun*> Service::RunOf(const Parameters& parameters, std::string_view value) {
  ASSIGN_OR_RETURN(Served* const served, Find(parameters.Text(value)));
  return served->run.get();
}

ServeResponse Service::ErrorOf(const absl::Status& status) const {
  const unsigned code = HttpStatusOf(status);
  std::string message(MessageOf(status));
  if (code == 503) return ErrorResponse(503, "the answer took too long, or the server ends");
  if (IsServerError(code)) {
    options_.warn(message);
    return ErrorResponse(code, "the answer failed; the log of the server has the reason");
  }
  // Messages begin with the path of the graph, which is no concern of the client.
  for (const Served& served : served_) {
    const absl::StatusOr<std::shared_ptr<ServedCommit>> commit = served.run->Current();
    if (!commit.ok()) continue;
    const std::string path = (*commit)->answerer.run().graph->paths().folder().string() + ": ";
    if (message.starts_with(path)) message.erase(0, path.size());
  }
  return ErrorResponse(code, message);
}

ServeResponse Service::Answer(const Route& route, const Parameters& parameters, const ServeRequest& request,
                              const std::function<bool()>& stop) {
  const Clock::time_point begin = Clock::now();
  const std::function<bool()> ends = [&] { return stop() || Clock::now() - begin > kAnswerTime; };
  ServeResponse response;
  try {
    const Call call{parameters, request, ends};
    Response made = absl::CancelledError();
    if (route.queue == RequestQueue::kQuick && route.choose_queue == nullptr) {
      made = route.answer(call);
    } else {
      made = WithThreads(options_.threads, [&] { return route.answer(call); });
    }
    response = made.ok() ? *std::move(made) : ErrorOf(made.status());
  } catch (const std::bad_alloc&) {
    response = ErrorResponse(503, "too little memory for this answer");
  } catch (const std::exception& error) {
    response = ErrorOf(RuntimeError(error.what()));
  }
  const std::chrono::duration<double, std::milli> time = Clock::now() - begin;
  response.headers.emplace_back("Server-Timing", fmt::format("answer;dur={:.3f}", time.count()));
  return response;
}

Dispatched Service::Dispatch(ServeRequest request) {
  const absl::StatusOr<Target> target = ParseTarget(request.target);
  if (!target.ok()) return AtOnce(ErrorResponse(400, MessageOf(target.status())));
  if (!IsAllowedOrigin(request, *target, options_.guard)) return DispatchTo(*target, std::move(request));
  const ServeRequest origin = {.origin = request.origin};
  Dispatched dispatched = DispatchTo(*target, std::move(request));
  if (dispatched.response) AllowOrigin(origin, *dispatched.response);
  if (dispatched.work != nullptr) {
    dispatched.work = [origin, work = std::move(dispatched.work)](const std::function<bool()>& stop) {
      ServeResponse response = work(stop);
      AllowOrigin(origin, response);
      return response;
    };
  }
  return dispatched;
}

Dispatched Service::DispatchTo(const Target& target, ServeRequest request) {
  if (std::optional<ServeResponse> refused = Refuse(request, target, options_.guard)) {
    return AtOnce(*std::move(refused));
  }
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads && request.method != "POST") return AtOnce(WrongMethod("GET, HEAD, POST"));
  if (std::optional<ServeResponse> page = FindPage(target.path)) {
    return AtOnce(reads ? *std::move(page) : WrongMethod("GET, HEAD"));
  }
  const std::string_view method = reads ? "GET" : "POST";
  const Route* route = nullptr;
  for (const Route& each : routes_) {
    if (each.path != target.path) continue;
    route = &each;
    if (each.method == method) break;
  }
  if (route == nullptr) return AtOnce(ErrorResponse(404, "there is nothing here; /api/v1/openapi.json lists the API"));
  if (route->method != method) return AtOnce(WrongMethod(route->method == "GET" ? "GET, HEAD" : "POST"));
  if (!reads && !request.content_type.starts_with("application/json")) {
    return AtOnce(ErrorResponse(415, "expected a body with Content-Type: application/json"));
  }
  absl::StatusOr<Parameters> parameters = Parameters::Check(route->parameters, target);
  if (!parameters.ok()) return AtOnce(ErrorResponse(400, MessageOf(parameters.status())));
  Dispatched dispatched{.queue = route->queue};
  if (route->choose_queue != nullptr) {
    const absl::StatusOr<RequestQueue> queue = route->choose_queue(*parameters, request);
    if (!queue.ok()) return AtOnce(ErrorResponse(400, MessageOf(queue.status())));
    dispatched.queue = *queue;
  }
  if (route->streams) {
    const absl::StatusOr<ServedRun*> run = RunOf(*parameters);
    if (!run.ok()) return AtOnce(ErrorResponse(400, MessageOf(run.status())));
    auto place = std::make_shared<EventPlace>(  // one client's, called by one task at a time
        ParseEventPlace(request.last_event.empty() ? parameters->Text("after") : request.last_event));
    dispatched.more = [folder = (*run)->options().folder, place] { return EventsAfter(folder, *place); };
  }
  dispatched.work = [this, route, parameters = *std::move(parameters), request = std::move(request)](
                        const std::function<bool()>& stop) { return Answer(*route, parameters, request, stop); };
  return dispatched;
}

}  // namespace octavo
