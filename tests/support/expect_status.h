// Expectations about absl::Status and absl::StatusOr; Debian's Abseil has no matchers for them.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace octavo {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& value) {
  return value.status();
}

inline ::testing::AssertionResult IsOk(const absl::Status& status) {
  if (status.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << status.ToString();
}

// Whether it is an error of that kind whose message contains `text`.
inline ::testing::AssertionResult IsError(const absl::Status& status, ErrorKind kind, const std::string& text) {
  if (status.ok()) return ::testing::AssertionFailure() << "no error";
  if (KindOf(status) != kind) {
    return ::testing::AssertionFailure() << "kind " << static_cast<int>(KindOf(status)) << ": " << status.ToString();
  }
  if (std::string(MessageOf(status)).find(text) == std::string::npos) {
    return ::testing::AssertionFailure() << "no \"" << text << "\" in: " << status.ToString();
  }
  return ::testing::AssertionSuccess();
}

}  // namespace octavo

#define EXPECT_OK(expression) EXPECT_TRUE(::octavo::IsOk(::octavo::StatusOf(expression)))
#define ASSERT_OK(expression) ASSERT_TRUE(::octavo::IsOk(::octavo::StatusOf(expression)))
#define EXPECT_ERROR(expression, kind, text) \
  EXPECT_TRUE(::octavo::IsError(::octavo::StatusOf(expression), ::octavo::ErrorKind::kind, text))
#define ASSERT_OK_AND_ASSIGN(target, expression) \
  OCTAVO_ASSERT_OK_AND_ASSIGN_(OCTAVO_CONCATENATE_(tested_, __LINE__), target, expression)
#define OCTAVO_ASSERT_OK_AND_ASSIGN_(holder, target, expression) \
  auto holder = (expression);                                    \
  ASSERT_TRUE(::octavo::IsOk(holder.status()));                  \
  target = *std::move(holder)
