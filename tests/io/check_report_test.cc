#include "io/check_report.h"

#include "base/parallel.h"
#include "base/status.h"
#include "fmt/format.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(CheckReport, TakesTheMessageOfAReaderApart) {
  CheckReport report;
  report.Fault("g/a.cells", "header", CorruptError("g/a.cells: 3 bytes; expected at least the 4096 of a header"));
  report.Fault("g/a.cells", "", RuntimeError("g/a.cells: read: Input/output error"));
  report.Fault("g/b", "", UsageError("g/b: no such file"));
  const std::vector<Finding> findings = report.findings();
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].found, "3 bytes");
  EXPECT_EQ(findings[0].expected, "at least the 4096 of a header");
  EXPECT_FALSE(findings[0].unread);
  EXPECT_EQ(DescribeFinding(findings[0]), "g/a.cells: header: 3 bytes; expected at least the 4096 of a header");
  EXPECT_TRUE(findings[1].unread);
  EXPECT_EQ(DescribeFinding(findings[1]), "g/a.cells: read: Input/output error");
  EXPECT_EQ(findings[2].found, "no such file");
  EXPECT_FALSE(findings[2].unread);
  EXPECT_EQ(report.damage_count(), 2U);
  EXPECT_EQ(report.unread_count(), 1U);
}

TEST(CheckReport, TakesOverAnotherReport) {
  CheckReport whole;
  whole.Damage("a", "", "x", "y");
  CheckReport part;
  for (int i = 0; i < 30; ++i) part.Damage("b", "", "x", "y");
  part.Fault("c", "", RuntimeError("c: read: Input/output error"));
  part.Checked("b", 7, "rows");
  part.Note("n");
  whole.Add(part);
  EXPECT_EQ(whole.damage_count(), 31U);
  EXPECT_EQ(whole.unread_count(), 1U);
  EXPECT_EQ(whole.FindingsOf("b"), 30U);
  EXPECT_EQ(whole.findings().size(), CheckReport::kListedOfAFile + 2);
  EXPECT_EQ(whole.bytes(), 7U);
  EXPECT_EQ(whole.notes(), std::vector<std::string>{"n"});
}

TEST(CheckReport, KeepsTheFirstOfEachFileAndCountsTheRest) {
  CheckReport report;
  for (int i = 0; i < 100; ++i) report.Damage("a", fmt::format("block {}", i), "x", "y");
  report.Damage("b", "", "x", "y");
  EXPECT_EQ(report.findings().size(), CheckReport::kListedOfAFile + 1);
  EXPECT_EQ(report.damage_count(), 101U);
  EXPECT_EQ(report.FindingsOf("a"), 100U);
  EXPECT_TRUE(report.HasFindings("b"));
  EXPECT_FALSE(report.HasFindings("c"));
}

TEST(CheckReport, ManyThreadsAtOnce) {
  CheckReport report;
  ParallelEach(0, 1000, [&](std::size_t i) {
    report.Damage(i % 2 == 0 ? "a" : "b", "", "x", "y");
    report.Checked("a", i, "");
  });
  EXPECT_EQ(report.damage_count(), 1000U);
  EXPECT_EQ(report.FindingsOf("a"), 500U);
  EXPECT_EQ(report.bytes(), 499500U);
  EXPECT_EQ(report.files().size(), 1000U);
}

}  // namespace
}  // namespace octavo
