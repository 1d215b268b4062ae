// Errors: absl::Status everywhere, with a kind that determines the program's exit code.
//
// A message names the file and the line or byte, what was found, what was expected, and the next step where there is
// one. Nothing in lib/ prints or exits.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace octavo {

// The values are the program's exit codes.
enum class ErrorKind {
  kRuntime = 1,  // I/O error, disk full, NaN loss: anything not listed below
  kUsage = 2,    // wrong flags, configuration or paths
  kInput = 3,    // malformed input data
  kCorrupt = 4,  // files of a graph or run that are damaged, foreign or of an unsupported version
  kBusy = 5,     // another process holds the run
};

absl::Status RuntimeError(std::string_view message);
absl::Status UsageError(std::string_view message);
absl::Status InputError(std::string_view message);
absl::Status CorruptError(std::string_view message);
absl::Status BusyError(std::string_view message);

// Returns RuntimeError("`what`: text of `error_number`"), e.g. ErrnoError("write RUN/STATE", ENOSPC). For a full disk
// the message adds what to do about it.
absl::Status ErrnoError(std::string_view what, int error_number);
// Whether ErrnoError made this status: an error of the system, which may be transient, not of the data.
bool IsSystemError(const absl::Status& status);

// A runtime error: a value became infinite or NaN. The computation is at fault, not the system.
absl::Status DivergedError(std::string_view message);
// Whether DivergedError made it.
bool IsDiverged(const absl::Status& status);

// Returns the kind given by one of the functions above; kRuntime for any other error.
// REQUIRES: !status.ok()
ErrorKind KindOf(const absl::Status& status);

// Returns the message as a std::string_view; valid as long as the status.
inline std::string_view MessageOf(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

}  // namespace octavo

// Evaluates an expression of type absl::Status; returns it from the enclosing function unless it is ok.
#define RETURN_IF_ERROR(expression)                                         \
  do {                                                                      \
    if (absl::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)

// ASSIGN_OR_RETURN(auto value, Function()): the value of a StatusOr, or returns its error from the enclosing function.
#define ASSIGN_OR_RETURN(target, expression) \
  OCTAVO_ASSIGN_OR_RETURN_(OCTAVO_CONCATENATE_(status_or_, __LINE__), target, expression)
#define OCTAVO_CONCATENATE_INNER_(a, b) a##b
#define OCTAVO_CONCATENATE_(a, b) OCTAVO_CONCATENATE_INNER_(a, b)
#define OCTAVO_ASSIGN_OR_RETURN_(holder, target, expression) \
  auto holder = (expression);                                \
  if (!holder.ok()) return std::move(holder).status();       \
  target = *std::move(holder)
