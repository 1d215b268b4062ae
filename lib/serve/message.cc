#include "serve/message.h"

#include "base/status.h"
#include "nlohmann/json.hpp"
#include "query/answer_json.h"
#include "query/name_lookup.h"

namespace octavo {

ServeResponse TextResponse(unsigned status, std::string type, std::string body) {
  return {.status = status, .type = std::move(type), .body = std::make_shared<const std::string>(std::move(body))};
}

ServeResponse JsonResponse(unsigned status, const nlohmann::ordered_json& object) {
  return TextResponse(status, "application/json", JsonText(object) + "\n");
}

ServeResponse ErrorResponse(unsigned status, std::string_view message) {
  return JsonResponse(status, {{"error", {{"code", status}, {"message", message}}}});
}

bool IsServerError(unsigned status) { return status >= 500; }

unsigned HttpStatusOf(const absl::Status& status) {
  if (IsUnknownName(status)) return 404;
  if (absl::IsCancelled(status)) return 503;
  return KindOf(status) == ErrorKind::kUsage ? 400 : 500;
}

}  // namespace octavo
