#include "base/status.h"

#include <string>
#include <system_error>

#include "absl/strings/cord.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr char kKindPayload[] = "octavo/error-kind";

absl::Status Make(absl::StatusCode code, ErrorKind kind, std::string_view message) {
  absl::Status status(code, absl::string_view(message.data(), message.size()));
  status.SetPayload(kKindPayload, absl::Cord(absl::string_view(std::to_string(static_cast<int>(kind)))));
  return status;
}

}  // namespace

absl::Status RuntimeError(std::string_view message) {
  return Make(absl::StatusCode::kInternal, ErrorKind::kRuntime, message);
}
absl::Status UsageError(std::string_view message) {
  return Make(absl::StatusCode::kInvalidArgument, ErrorKind::kUsage, message);
}
absl::Status InputError(std::string_view message) {
  return Make(absl::StatusCode::kInvalidArgument, ErrorKind::kInput, message);
}
absl::Status CorruptError(std::string_view message) {
  return Make(absl::StatusCode::kDataLoss, ErrorKind::kCorrupt, message);
}
absl::Status BusyError(std::string_view message) {
  return Make(absl::StatusCode::kUnavailable, ErrorKind::kBusy, message);
}

absl::Status ErrnoError(std::string_view what, int error_number) {
  return RuntimeError(fmt::format("{}: {}", what, std::generic_category().message(error_number)));
}

ErrorKind KindOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kKindPayload);
  if (!payload.has_value()) return ErrorKind::kRuntime;
  return static_cast<ErrorKind>(std::string(*payload).front() - '0');
}

}  // namespace octavo
