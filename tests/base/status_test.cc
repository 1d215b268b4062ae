#include "base/status.h"

#include <cerrno>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

TEST(Status, KeepsItsKindAndMessage) {
  EXPECT_EQ(KindOf(RuntimeError("a")), ErrorKind::kRuntime);
  EXPECT_EQ(KindOf(UsageError("a")), ErrorKind::kUsage);
  EXPECT_EQ(KindOf(InputError("a")), ErrorKind::kInput);
  EXPECT_EQ(KindOf(CorruptError("a")), ErrorKind::kCorrupt);
  EXPECT_EQ(KindOf(BusyError("a")), ErrorKind::kBusy);
  EXPECT_EQ(KindOf(absl::CancelledError("from elsewhere")), ErrorKind::kRuntime);
  const absl::Status status = InputError("graph.tsv:3: found 2");
  EXPECT_EQ(MessageOf(status), "graph.tsv:3: found 2");
}

TEST(Status, KindsAreTheExitCodes) {
  EXPECT_EQ(static_cast<int>(ErrorKind::kRuntime), 1);
  EXPECT_EQ(static_cast<int>(ErrorKind::kUsage), 2);
  EXPECT_EQ(static_cast<int>(ErrorKind::kInput), 3);
  EXPECT_EQ(static_cast<int>(ErrorKind::kCorrupt), 4);
  EXPECT_EQ(static_cast<int>(ErrorKind::kBusy), 5);
}

TEST(Status, ErrnoErrorHasTheSystemsText) {
  EXPECT_EQ(MessageOf(ErrnoError("read RUN/STATE", EIO)), "read RUN/STATE: Input/output error");
  EXPECT_ERROR(ErrnoError("write RUN/STATE", ENOSPC), kRuntime, "write RUN/STATE: No space left on device; make room");
  EXPECT_TRUE(IsSystemError(ErrnoError("read RUN/STATE", EIO)));
  EXPECT_FALSE(IsSystemError(RuntimeError("the loss is not finite")));
  EXPECT_FALSE(IsSystemError(absl::OkStatus()));
}

TEST(Status, KnowsWhatDiverged) {
  EXPECT_ERROR(DivergedError("the loss is not finite"), kRuntime, "the loss is not finite");
  EXPECT_TRUE(IsDiverged(DivergedError("the loss is not finite")));
  EXPECT_FALSE(IsSystemError(DivergedError("the loss is not finite")));
  EXPECT_FALSE(IsDiverged(RuntimeError("the loss is not finite")));
  EXPECT_FALSE(IsDiverged(ErrnoError("read RUN/STATE", EIO)));
  EXPECT_FALSE(IsDiverged(absl::OkStatus()));
}

absl::StatusOr<int> Half(int value) {
  if (value % 2 != 0) return UsageError("odd");
  return value / 2;
}

absl::Status Check(int value) {
  RETURN_IF_ERROR(Half(value).status());
  return absl::OkStatus();
}

absl::StatusOr<int> Quarter(int value) {
  ASSIGN_OR_RETURN(const int half, Half(value));
  ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

absl::StatusOr<std::unique_ptr<int>> Moved(int value) {
  ASSIGN_OR_RETURN(std::unique_ptr<int> pointer, absl::StatusOr<std::unique_ptr<int>>(std::make_unique<int>(value)));
  return pointer;
}

TEST(Status, MacrosPassErrorsOnAndValuesThrough) {
  EXPECT_OK(Check(2));
  EXPECT_ERROR(Check(1), kUsage, "odd");
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_ERROR(Quarter(6), kUsage, "odd");
  EXPECT_EQ(**Moved(3), 3);
}

}  // namespace
}  // namespace octavo
