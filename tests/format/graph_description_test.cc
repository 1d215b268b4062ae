#include "format/graph_description.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

GraphDescription SampleGraph() {
  return {.node_count = 14541,
          .relation_count = 237,
          .partition_rows = 1024,
          .partition_count = 15,
          .has_relations = true,
          .has_weights = false,
          .train_edges = 272115,
          .valid_edges = 17535,
          .test_edges = 20466,
          .fingerprint = 0xFEDCBA9876543210};
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(GraphDescription, ReadsBackWhatItWrote) {
  const std::string text = EncodeGraphDescription(SampleGraph(), R"({"lines": 5})");
  ASSERT_OK_AND_ASSIGN(const GraphDescription description, DecodeGraphDescription(text, "graph.json"));
  EXPECT_EQ(description, SampleGraph());
  EXPECT_EQ(description.Edges(Split::kTrain), 272115U);
  EXPECT_EQ(description.Edges(Split::kValid), 17535U);
  EXPECT_EQ(description.Edges(Split::kTest), 20466U);
}

TEST(GraphDescription, KnowsHowLinesBecameEdges) {
  EXPECT_EQ(EncodeGraphDescription(SampleGraph(), "{}").find("undirected"), std::string::npos) << "as in older graphs";
  for (const bool undirected : {false, true}) {
    GraphDescription sample = SampleGraph();
    sample.undirected = undirected;
    sample.keeps_duplicates = !undirected;
    ASSERT_OK_AND_ASSIGN(const GraphDescription description,
                         DecodeGraphDescription(EncodeGraphDescription(sample, "{}"), "graph.json"));
    EXPECT_EQ(description, sample);
  }
}

TEST(GraphDescription, NamesTheKeyThatIsWrong) {
  GraphDescription sample = SampleGraph();
  sample.undirected = true;
  const std::string text = EncodeGraphDescription(sample, "{}");
  const std::pair<std::string, std::string> kCases[] = {
      {"\"nodes\": 14541", "\"nodes\": -1"},
      {"\"nodes\": 14541", "\"nodes\": 0"},
      {"\"nodes\": 14541", "\"nodes\": 1.5"},
      {"\"nodes\": 14541", "\"nodes\": \"many\""},
      {"\"relations\": 237", "\"relations\": 4294967296"},
      {"\"train_edges\": 272115", "\"train_edges\": null"},
      {"\"has_weights\": false", "\"has_weights\": 0"},
      {"\"undirected\": true", "\"undirected\": \"yes\""},
      {"\"fingerprint\": \"fedc", "\"fingerprint\": \"xedc"},
      {"\"fingerprint\": \"fedc", "\"fingerprint\": \""},
      {"\"format\": \"octavo graph\"", "\"format\": \"octavo run\""},
      {"\"version\": 1", "\"version\": 2"},
  };
  for (const auto& [from, to] : kCases) {
    const std::string key = from.substr(0, from.find(':'));
    EXPECT_ERROR(DecodeGraphDescription(Replaced(text, from, to), "graph.json"), kCorrupt, "graph.json: " + key) << to;
  }
  EXPECT_ERROR(DecodeGraphDescription(Replaced(text, "\"partitions\"", "\"parts\""), "g"), kCorrupt,
               "\"partitions\" is nothing");
}

// "undirected" with a flipped byte changed what import --base did, and nothing noticed it.
TEST(GraphDescription, NoticesEveryChangedByte) {
  GraphDescription sample = SampleGraph();
  sample.undirected = true;
  const std::string text = EncodeGraphDescription(sample, R"({"lines": 5, "inputs": ["a.tsv"]})");
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const int bit : {1, 4, 32}) {
      std::string damaged = text;
      damaged[at] = static_cast<char>(damaged[at] ^ bit);
      EXPECT_FALSE(DecodeGraphDescription(damaged, "g").ok()) << at << " of " << text;
    }
  }
  // Without the checksum it is as before there was one.
  const std::size_t key = text.rfind(",\n  \"checksum\"");
  ASSERT_NE(key, std::string::npos);
  EXPECT_OK(DecodeGraphDescription(text.substr(0, key) + "\n}\n", "g"));
  EXPECT_ERROR(DecodeGraphDescription("{\"chequesum\": 1, " + text.substr(1), "g"), kCorrupt,
               "\"chequesum\" is unknown");
}

// The message printed the value, with stack for each level: a damaged file crashed the program.
TEST(GraphDescription, RefusesDeepNesting) {
  const std::string nested = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  const std::string text = EncodeGraphDescription(SampleGraph(), "{}");
  EXPECT_ERROR(DecodeGraphDescription(Replaced(text, "14541", nested), "graph.json"), kCorrupt,
               "\"nodes\" is an array; expected a whole number");
  EXPECT_ERROR(DecodeGraphDescription(Replaced(text, "\"octavo graph\"", "{}"), "graph.json"), kCorrupt,
               "\"format\" is an object");
}

TEST(GraphDescription, RefusesWhatIsNoJsonObject) {
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{\"nodes\": "), std::string(4, '\0')}) {
    EXPECT_ERROR(DecodeGraphDescription(text, "g"), kCorrupt, "not a JSON object");
  }
}

TEST(GraphFingerprint, DependsOnEveryPart) {
  std::array<CellsHeader, 3> cells;
  ArrayHeader hashes;
  ArrayHeader offsets;
  const std::uint64_t plain = GraphFingerprint(cells, hashes, offsets, "edge\t1\n");
  EXPECT_EQ(GraphFingerprint(cells, hashes, offsets, "edge\t1\n"), plain);
  EXPECT_NE(GraphFingerprint(cells, hashes, offsets, "edge\t2\n"), plain);
  for (CellsHeader& header : cells) {
    header.index_checksum = 1;
    EXPECT_NE(GraphFingerprint(cells, hashes, offsets, "edge\t1\n"), plain);
    header.index_checksum = 0;
    header.node_count = 1;
    EXPECT_NE(GraphFingerprint(cells, hashes, offsets, "edge\t1\n"), plain);
    header.node_count = 0;
  }
  hashes.data_checksum = 1;
  EXPECT_NE(GraphFingerprint(cells, hashes, offsets, "edge\t1\n"), plain);
  hashes.data_checksum = 0;
  offsets.data_checksum = 1;
  EXPECT_NE(GraphFingerprint(cells, hashes, offsets, "edge\t1\n"), plain);
}

}  // namespace
}  // namespace octavo
