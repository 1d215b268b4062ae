#include "base/status.h"

#include <cerrno>
#include <string>
#include <system_error>

#include "absl/strings/cord.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr char kKindPayload[] = "octavo/error-kind";
constexpr char kErrnoPayload[] = "octavo/errno";
constexpr char kDivergedPayload[] = "octavo/diverged";

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
  const bool full = error_number == ENOSPC || error_number == EDQUOT;
  absl::Status status = RuntimeError(fmt::format("{}: {}{}", what, std::generic_category().message(error_number),
                                                 full ? "; make room there, or choose another disk" : ""));
  status.SetPayload(kErrnoPayload, absl::Cord(absl::string_view(std::to_string(error_number))));
  return status;
}

bool IsSystemError(const absl::Status& status) { return status.GetPayload(kErrnoPayload).has_value(); }

absl::Status DivergedError(std::string_view message) {
  absl::Status status = RuntimeError(message);
  status.SetPayload(kDivergedPayload, absl::Cord());
  return status;
}

bool IsDiverged(const absl::Status& status) { return status.GetPayload(kDivergedPayload).has_value(); }

ErrorKind KindOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kKindPayload);
  if (!payload.has_value()) return ErrorKind::kRuntime;
  return static_cast<ErrorKind>(std::string(*payload).front() - '0');
}

}  // namespace octavo
