// All that is served, apart from sockets: runs, routes and pages. A request becomes either a response at once or work
// for a queue.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "serve/guard.h"
#include "serve/map_cache.h"
#include "serve/message.h"
#include "serve/request_queues.h"
#include "serve/route.h"
#include "serve/run_events.h"
#include "serve/served_run.h"

namespace octavo {

struct ServiceOptions {
  std::string version = {};  // of the program
  GuardOptions guard = {};
  int threads = 1;                  // for the loops of one request
  MapCache::Start start = nullptr;  // runs the making of a map
  // True: the server ends, so that work that nobody needs stops.
  std::function<bool()> ending = [] { return false; };
  std::function<void(std::string_view)> warn = [](std::string_view) {};
};

// What a request asks for. Exactly one of the first two is set.
struct Dispatched {
  std::optional<ServeResponse> response = std::nullopt;
  // Makes the response. `stop` is called now and then; when it returns true, nobody needs it.
  std::function<ServeResponse(const std::function<bool()>& stop)> work = nullptr;
  RequestQueue queue = RequestQueue::kQuick;
  // For server-sent events: after the response, `more` is called again and again and returns what is new, or an error
  // at the end. Run it in kQuick.
  std::function<absl::StatusOr<std::string>()> more = nullptr;
};

// Any thread.
class Service {
 public:
  // Without runs, everything about a run is a usage error.
  Service(ServiceOptions options, std::vector<std::unique_ptr<ServedRun>> runs);

  Dispatched Dispatch(ServeRequest request);

  const std::vector<Route>& routes() const { return routes_; }

 private:
  struct Served {
    std::unique_ptr<ServedRun> run;
    std::unique_ptr<MapCache> map;
  };
  using Response = absl::StatusOr<ServeResponse>;

  std::vector<Route> MakeRoutes();
  void AddNameRoutes(std::vector<Route>& routes);
  void AddQuestionRoutes(std::vector<Route>& routes);
  void AddTrainingRoutes(std::vector<Route>& routes);  // and of comparisons of two runs
  void AddMapRoutes(std::vector<Route>& routes);
  std::function<Response(const Call&)> By(Response (Service::*method)(const Call&));
  Dispatched DispatchTo(const Target& target, ServeRequest request);
  ServeResponse Answer(const Route& route, const Parameters& parameters, const ServeRequest& request,
                       const std::function<bool()>& stop);
  ServeResponse ErrorOf(const absl::Status& status) const;
  // The run that the request names, or the first one.
  absl::StatusOr<Served*> Find(std::string_view name);
  absl::StatusOr<ServedRun*> RunOf(const Parameters& parameters, std::string_view value = "run");
  absl::StatusOr<RequestQueue> QueueOf(const Question& question, const Parameters& parameters);

  // Answers, by file: questions_api.cc
  Response Neighbors(const Call& call);
  Response Predict(const Call& call);
  Response Analogy(const Call& call);
  Response Batch(const Call& call);
  Response Vectors(const Call& call);
  Response Compare(const Call& call);
  absl::StatusOr<RequestQueue> BatchQueue(const Parameters& parameters, const ServeRequest& request);
  // names_api.cc
  Response Search(const Call& call);
  Response Complete(const Call& call);
  Response Relations(const Call& call);
  Response Node(const Call& call);
  // training_api.cc
  Response Runs(const Call& call);
  Response Training(const Call& call);
  Response TrainingFigures(const Call& call);
  Response CompareFigures(const Call& call);
  Response Events(const Call& call);
  // map_api.cc
  Response Map(const Call& call);
  Response MapBytes(const Call& call);
  Response MapNodes(const Call& call);
  Response MapPlace(const Call& call);

  ServiceOptions options_;
  std::vector<Served> served_;
  std::vector<Route> routes_;
};

// A body of JSON; a usage error for any other text.
absl::StatusOr<nlohmann::ordered_json> ParseBody(const ServeRequest& request);

}  // namespace octavo
