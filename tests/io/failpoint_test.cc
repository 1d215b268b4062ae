#include "io/failpoint.h"

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

class FailpointTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_OK(SetFailpoints("")); }
};

TEST_F(FailpointTest, ActsAtTheNthPassOnly) {
  ASSERT_OK(SetFailpoints("here:3=eio"));
  EXPECT_OK(Failpoint("here"));
  EXPECT_OK(Failpoint("elsewhere"));
  EXPECT_OK(Failpoint("here"));
  EXPECT_ERROR(Failpoint("here"), kRuntime, "Input/output error");
  EXPECT_OK(Failpoint("here"));
}

TEST_F(FailpointTest, KnowsSeveralPointsAndActions) {
  ASSERT_OK(SetFailpoints("a=enospc,b=short,c=sleep"));
  EXPECT_ERROR(Failpoint("a"), kRuntime, "No space left");
  EXPECT_ERROR(Failpoint("b"), kRuntime, "short write");
  EXPECT_OK(Failpoint("c"));
}

TEST_F(FailpointTest, DisarmedDoesNothing) {
  ASSERT_OK(SetFailpoints("a=eio"));
  ASSERT_OK(SetFailpoints(""));
  EXPECT_OK(Failpoint("a"));
}

TEST_F(FailpointTest, RefusesWhatItCannotRead) {
  for (const char* text : {"a", "a=", "a=explode", "a:0=eio", "a:x=eio", "a:-1=eio"}) {
    EXPECT_ERROR(SetFailpoints(text), kUsage, "OCTAVO_FAILPOINT") << text;
  }
}

// The message contained the control bytes of the environment variable.
TEST_F(FailpointTest, MessagesArePrintable) {
  EXPECT_ERROR(SetFailpoints("\x1b"), kUsage, "\\x1B");
  EXPECT_ERROR(SetFailpoints("a=\x1b"), kUsage, "\\x1B");
  EXPECT_ERROR(SetFailpoints("a:\x1b=eio"), kUsage, "\\x1B");
}

TEST(FailpointDeathTest, KillsAndAborts) {
  EXPECT_EXIT(
      {
        (void)SetFailpoints("a=kill");
        (void)Failpoint("a");
      },
      ::testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(
      {
        (void)SetFailpoints("a=abort");
        (void)Failpoint("a");
      },
      ::testing::KilledBySignal(SIGABRT), "");
}

}  // namespace
}  // namespace octavo
