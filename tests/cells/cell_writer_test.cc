#include "cells/cell_writer.h"

#include <vector>

#include "graph/cell_reader.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

CellsHeader Layout(bool relations, bool weights) {
  CellsHeader layout;
  layout.has_relations = relations ? 1 : 0;
  layout.has_weights = weights ? 1 : 0;
  layout.partition_count = 2;
  layout.partition_rows = 1024;
  layout.node_count = 2000;
  layout.relation_count = relations ? 5 : 1;
  return layout;
}

TEST(CellWriter, WritesWhatTheReaderReadsForEveryLayoutAndBlockSize) {
  TemporaryFolder folder;
  for (const bool relations : {false, true}) {
    for (const bool weights : {false, true}) {
      for (const std::uint32_t count : {0U, 1U, 4095U, 4096U, 4097U, 10000U}) {
        const CellsHeader layout = Layout(relations, weights);
        std::vector<EdgeRecord> records;
        for (std::uint32_t i = 0; i < count; ++i) {
          records.push_back(
              {.head = 1024 + i % 976, .tail = i % 1024, .weight = weights ? 0.5F + static_cast<float>(i) : 1});
          records.back().set_relation(relations ? i % 5 : 0);
        }
        ASSERT_OK_AND_ASSIGN(CellWriter writer, CellWriter::Create(folder / "cells", layout));
        ASSERT_OK(writer.Append(EncodeCell(records, 1, 0, layout)));
        ASSERT_OK_AND_ASSIGN(const CellsHeader header, writer.Finish());
        EXPECT_EQ(header.edge_count, count);
        EXPECT_EQ(header.block_count, (count + 4095) / 4096);
        ASSERT_OK_AND_ASSIGN(const CellReader reader, CellReader::Open(folder / "cells"));
        ASSERT_OK_AND_ASSIGN(const std::vector<Edge> edges, reader.ReadAll());
        ASSERT_EQ(edges.size(), count);
        for (std::uint32_t i = 0; i < count; ++i) {
          ASSERT_EQ(edges[i], (Edge{NodeId{records[i].head}, NodeId{records[i].tail}, RelationId{records[i].relation()},
                                    records[i].weight}));
        }
      }
    }
  }
}

TEST(CellWriter, WriteErrorsComeBack) {
  TemporaryFolder folder;
  const CellsHeader layout = Layout(false, false);
  const std::vector<EdgeRecord> records = {{.head = 0, .tail = 1}};
  ASSERT_OK_AND_ASSIGN(CellWriter writer, CellWriter::Create(folder / "cells", layout));
  ASSERT_OK(SetFailpoints("file.write=enospc"));
  EXPECT_ERROR(writer.Append(EncodeCell(records, 0, 0, layout)), kRuntime, "No space left");
  ASSERT_OK(SetFailpoints("file.write=enospc"));
  EXPECT_ERROR(writer.Finish(), kRuntime, "No space left");
  ASSERT_OK(SetFailpoints(""));
}

}  // namespace
}  // namespace octavo
