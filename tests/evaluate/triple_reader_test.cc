#include "evaluate/triple_reader.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/status.h"
#include "tests/evaluate/fixture.h"

namespace octavo {
namespace {

std::vector<Edge> ReadThrough(TripleReader reader, std::uint64_t batch) {
  std::vector<Edge> all;
  while (all.size() < reader.size()) {
    const auto triples = reader.Next(batch);
    if (!triples.ok() || triples->empty() || triples->size() > batch) {
      ADD_FAILURE();
      break;
    }
    all.insert(all.end(), triples->begin(), triples->end());
  }
  EXPECT_TRUE(reader.Next(batch)->empty());
  return all;
}

TEST(TripleReader, AllInFileOrderWhateverTheBatch) {
  EmbeddedFixture fixture({.nodes = 2500, .edges = {500, 0, 0}});
  const CellReader& cells = fixture.opened().Edges(Split::kTrain);
  const std::vector<Edge> all = *cells.ReadAll();
  for (const std::uint64_t batch : {1U, 6U, 100U, 1000U}) EXPECT_EQ(ReadThrough(TripleReader(cells, 0, 1), batch), all);
  EXPECT_EQ(ReadThrough(TripleReader(cells, 10'000, 1), 50), all);
}

TEST(TripleReader, SampleIsASubsetInFileOrder) {
  EmbeddedFixture fixture({.nodes = 2500, .edges = {500, 0, 0}});
  const CellReader& cells = fixture.opened().Edges(Split::kTrain);
  const std::vector<Edge> all = *cells.ReadAll();
  const std::vector<Edge> sample = ReadThrough(TripleReader(cells, 40, 1), 7);
  ASSERT_EQ(sample.size(), 40U);
  auto place = all.begin();
  for (const Edge& edge : sample) {
    place = std::find(place, all.end(), edge);
    ASSERT_NE(place, all.end());
    ++place;
  }
  EXPECT_EQ(ReadThrough(TripleReader(cells, 40, 1), 40), sample);
  EXPECT_NE(ReadThrough(TripleReader(cells, 40, 2), 40), sample);
}

}  // namespace
}  // namespace octavo
