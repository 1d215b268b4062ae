#include "io/file_events.h"

#include <vector>

#include "gtest/gtest.h"
#include "io/file.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

class Counter : public FileListener {
 public:
  void OnFileEvent(const FileEvent& event) override { kinds_.push_back(event.kind); }
  const std::vector<FileEvent::Kind>& kinds() const { return kinds_; }

 private:
  std::vector<FileEvent::Kind> kinds_;
};

// For the contents of the events see tests/support/crash_disk_test.cc.
TEST(FileEventsTest, AreHeardAfterTheyHappenedAndOnlyWhileSomebodyListens) {
  using Kind = FileEvent::Kind;
  const TemporaryFolder folder;
  Counter counter;
  EXPECT_FALSE(HasFileListener());
  ASSERT_OK(WriteWholeFileAtomically(folder / "a", "text"));
  SetFileListener(&counter);
  EXPECT_TRUE(HasFileListener());
  ASSERT_OK(WriteWholeFileAtomically(folder / "a", "text"));
  EXPECT_FALSE(RenameFile(folder / "b", folder / "c").ok());
  SetFileListener(nullptr);
  ASSERT_OK(RemoveFile(folder / "a"));
  EXPECT_EQ(counter.kinds(),
            (std::vector<Kind>{Kind::kCreate, Kind::kWrite, Kind::kSync, Kind::kRename, Kind::kSyncFolder}));
}

}  // namespace
}  // namespace octavo
