// One kind of request: its values, where the work runs, and the function that answers.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "serve/message.h"
#include "serve/parameters.h"
#include "serve/request_queues.h"

namespace octavo {

// A checked request.
struct Call {
  const Parameters& parameters;
  const ServeRequest& request;
  const std::function<bool()>& stop;  // true: nobody waits for the answer any more
};

struct Route {
  std::string_view method = {};  // GET or POST
  std::string_view path = {};
  std::string_view summary = {};
  std::vector<ParameterSpec> parameters = {};
  RequestQueue queue = RequestQueue::kQuick;
  // An error is turned into a response (HttpStatusOf).
  std::function<absl::StatusOr<ServeResponse>(const Call&)> answer = nullptr;
  // Set if the queue depends on the request.
  std::function<absl::StatusOr<RequestQueue>(const Parameters&, const ServeRequest&)> choose_queue = nullptr;
  std::string_view produces = "application/json";
  std::string_view body = "";  // the JSON schema of the body of a POST
  bool streams = false;        // server-sent events: the server calls `answer` for more as long as the client listens
};

}  // namespace octavo
